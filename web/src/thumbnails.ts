/** The content of every object URL: the page's policy forbids fetching it back. */
const blobs = new Map<string, Blob>();

/** An address for a small image in memory. */
export function thumbnailUrl(blob: Blob): string {
  const url = URL.createObjectURL(blob);
  blobs.set(url, blob);
  return url;
}

export const thumbnailBlob = (url: string): Blob | undefined => blobs.get(url);

export function freeThumbnail(url: string): void {
  URL.revokeObjectURL(url);
  blobs.delete(url);
}
