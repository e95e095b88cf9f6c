import type { Painting } from "../paint.ts";

/** Browsers save the target of a link with a file name. */
export function offer(blob: Blob, file: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = file;
  link.click();
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 60_000);
}

/** The result's name as the beginning of a file name. */
export const fileStem = (name: string): string => name.replace(/[^\p{L}\p{N}_-]+/gu, "-");

/** A canvas as the bytes of a file. */
export function canvasBlob(canvas: HTMLCanvasElement, type: "image/png" | "image/jpeg" = "image/png"): Promise<Blob> {
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => {
        if (blob) resolve(blob);
        else reject(new Error("This image is too large for the browser to save."));
      },
      type,
      0.92,
    );
  });
}

/** Pixels as the bytes of a file. */
export function imageBlob({ width, height, data }: Painting, type?: "image/png" | "image/jpeg"): Promise<Blob> {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  canvas.getContext("2d")?.putImageData(new ImageData(data, width, height), 0, 0);
  return canvasBlob(canvas, type);
}

/** Puts a PNG on the clipboard. It may still be in the making: browsers allow copying only right after a click. */
export async function copyImage(png: Promise<Blob>): Promise<void> {
  if (!("clipboard" in navigator) || typeof ClipboardItem === "undefined")
    throw new Error("This browser cannot copy images here. Save the image instead.");
  await navigator.clipboard.write([new ClipboardItem({ "image/png": png })]);
}
