import { ICC_MARK } from "./iccProfile.ts";
import { EXIF_MARK } from "./photoExif.ts";

/** Most bytes of one segment, with its length. */
const MOST = 65535;
const APP1 = 0xe1;
const APP2 = 0xe2;

/** A JPEG file with this EXIF block and ICC profile instead of its own. A block that is too long for a JPEG is left out. */
export function withJpegMetadata(
  jpeg: Uint8Array,
  { exif, profile }: { readonly exif?: Uint8Array | undefined; readonly profile?: Uint8Array | undefined },
): Uint8Array {
  const added = [...(exif ? exifSegment(exif) : []), ...(profile ? profileSegments(profile) : [])];
  const kept = splitSegments(jpeg);
  // A JFIF segment has to be the first one.
  const isJfif = kept.segments[0]?.[1] === 0xe0;
  const segments = isJfif ? [kept.segments[0] as Uint8Array, ...added, ...kept.segments.slice(1)] : [...added, ...kept.segments];
  const parts = [jpeg.subarray(0, 2), ...segments, kept.rest];
  const file = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  parts.reduce((at, part) => (file.set(part, at), at + part.length), 0);
  return file;
}

/** The segments before the frame, without EXIF and profile, and all that follows. */
function splitSegments(jpeg: Uint8Array): { segments: Uint8Array[]; rest: Uint8Array } {
  const segments: Uint8Array[] = [];
  let at = 2;
  while (at + 4 <= jpeg.length && jpeg[at] === 0xff && ((jpeg[at + 1] as number) & 0xf0) === 0xe0) {
    const segment = jpeg.subarray(at, at + 2 + ((jpeg[at + 2] as number) << 8) + (jpeg[at + 3] as number));
    if (!isMarked(segment, APP1, EXIF_MARK) && !isMarked(segment, APP2, ICC_MARK)) segments.push(segment);
    at += segment.length;
  }
  return { segments, rest: jpeg.subarray(at) };
}

const isMarked = (segment: Uint8Array, type: number, mark: string): boolean =>
  segment[1] === type && Array.from(mark).every((letter, i) => segment[4 + i] === letter.charCodeAt(0));

function exifSegment(exif: Uint8Array): Uint8Array[] {
  return 2 + EXIF_MARK.length + exif.length > MOST ? [] : [segmentOf(APP1, EXIF_MARK, exif)];
}

/** A profile of more than 64 kB is spread over several segments, each with its number and how many there are. */
function profileSegments(profile: Uint8Array): Uint8Array[] {
  const room = MOST - 2 - ICC_MARK.length - 2;
  const count = Math.ceil(profile.length / room);
  if (count > 255) return [];
  return Array.from({ length: count }, (_, i) =>
    segmentOf(APP2, `${ICC_MARK}${String.fromCharCode(i + 1, count)}`, profile.subarray(i * room, (i + 1) * room)),
  );
}

function segmentOf(type: number, mark: string, content: Uint8Array): Uint8Array {
  const length = 2 + mark.length + content.length;
  const segment = new Uint8Array(2 + length);
  segment.set([0xff, type, length >> 8, length & 255, ...Array.from(mark, (letter) => letter.charCodeAt(0))]);
  segment.set(content, 4 + mark.length);
  return segment;
}
