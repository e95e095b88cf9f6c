import { DualFocusError, type ErrorCode } from "../errors.ts";
import { isBmp } from "../io/bmp.ts";
import { isHeif } from "../io/heif.ts";
import { isCanonMovie, isFuji, isRaw, largestRawSize } from "../io/raw.ts";
import { typedDistances } from "../stack/distanceList.ts";
import { isLength, unify } from "../stack/quantity.ts";
import { orderPlanes } from "../stack/stackFormat.ts";
import type { DepthSettings } from "../depth/settings.ts";
import { diskFiles, readBytes } from "../stack/node/diskFiles.ts";
import type { ImageInfo } from "../stack/stackFiles.ts";
import type { Limits } from "./limits.ts";
import { invalid, Problem, tooLarge } from "./problem.ts";
import { checkTiff } from "./tiffCheck.ts";

/** An image whose header has been checked against the limits. */
export interface CheckedFrame {
  readonly file: string;
  /** By what its first bytes say, whatever the client called it. */
  readonly ending: string;
  readonly width: number;
  readonly height: number;
  /** Planes it may hold: pages of a TIFF, 1 for everything else. */
  readonly pages: number;
}

const HEAD_BYTES = 64;

/**
 * The accepted formats, by their first bytes. Nothing else reaches a decoder: no SVG, no PDF, no GIF. Raw files come first, as where they are
 * decoded: an ISO file may say that it is several formats.
 */
const KINDS: readonly { readonly ending: string; readonly matches: (head: Buffer) => boolean }[] = [
  { ending: "cr3", matches: isCanonMovie },
  { ending: "raf", matches: isFuji },
  { ending: "jpg", matches: (head) => head.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])) },
  { ending: "png", matches: (head) => head.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1")) },
  { ending: "tif", matches: (head) => ["II*\0", "MM\0*", "II+\0", "MM\0+"].includes(head.toString("latin1", 0, 4)) },
  { ending: "webp", matches: (head) => head.toString("latin1", 0, 4) === "RIFF" && head.toString("latin1", 8, 12) === "WEBP" },
  { ending: "avif", matches: (head) => head.toString("latin1", 4, 8) === "ftyp" && head.toString("latin1", 8).includes("avif") },
  { ending: "heic", matches: isHeif },
  { ending: "bmp", matches: isBmp },
  { ending: "dng", matches: (head) => ["IIRO", "IIRS", "MMOR", "IIU\0"].includes(head.toString("latin1", 0, 4)) }, // Olympus, Panasonic
];

const RAW_ENDINGS = ["cr3", "raf", "dng"];

/** As many as tell a raw file from a TIFF where it is decoded. */
const RAW_HEAD_BYTES = 1 << 20;

/** Reads the header only: format, size and number of pages, before a pixel is decoded. `name` is for people. */
export async function checkFrame(file: string, { name, limits }: { name: string; limits: Limits }): Promise<CheckedFrame> {
  const head = Buffer.from(await diskFiles.readHead(file, HEAD_BYTES));
  if (head.length === 0) throw refused("bad-file", `${name} is empty`);
  const kind = KINDS.find(({ matches }) => matches(head));
  if (!kind)
    throw new Problem("unsupported-type", {
      detail: `${name} is not JPEG, HEIC, PNG, TIFF, WebP, AVIF, BMP or the raw file of a camera`,
      remedy: "convert it to one of these",
    });
  const raw = [...RAW_ENDINGS, "tif"].includes(kind.ending) ? await rawSize(file, name) : undefined;
  if (kind.ending === "tif" && !raw) await checkTiff(file, { name, limits });
  const info: Shape = raw ?? (await readHeader(file, name));
  const { width, height } = info;
  if (width * height > limits.pixels)
    throw tooLarge(`${name} has ${width}×${height} pixels; at most ${limits.pixels / 1e6} megapixels are accepted`);
  return { file, ending: raw && kind.ending === "tif" ? "dng" : kind.ending, width, height, pages: info.tiff?.pages.length ?? 1 };
}

type Shape = Pick<ImageInfo, "width" | "height" | "tiff">;

/** Of a raw file, as it states it: only a job, in a process of its own, runs the decoder. */
async function rawSize(file: string, name: string): Promise<Shape | undefined> {
  const head = await diskFiles.readHead(file, RAW_HEAD_BYTES);
  if (!isRaw(head)) return undefined;
  const size = largestRawSize(await readBytes(file)); // RAF has its directory behind the preview, of any length
  if (!size) throw refused("bad-file", `${name} is a raw file that does not state its size`);
  return size;
}

async function readHeader(file: string, name: string): Promise<ImageInfo> {
  try {
    return await diskFiles.probe(file);
  } catch (cause) {
    if (!(cause instanceof DualFocusError)) throw cause;
    // the decoder's own limit is far above ours
    if (/pixel limit/i.test(cause.message)) throw tooLarge(`${name} has more pixels than are accepted`);
    throw refused(cause.code, cause.message.replaceAll(file, name), cause);
  }
}

const refused = (code: ErrorCode, message: string, cause?: unknown): Problem => invalid(new DualFocusError(code, message, { cause }));

const MIN_SIDE = 16;

/** Refuses at once what the job could only fail on: too few images, of different sizes, distances that do not fit them. */
export function checkFrameSet(frames: readonly CheckedFrame[], { distances, unit = "m" }: DepthSettings): void {
  const [first] = frames;
  const planes = frames.length === 1 ? (first?.pages ?? 0) : frames.length;
  if (!first || planes < 2) throw refused("single-image", `a stack has at least two images, got ${planes}`);
  if (Math.min(first.width, first.height) < MIN_SIDE)
    throw refused("image-too-small", `the images are only ${first.width}×${first.height} pixels; ${MIN_SIDE} a side are needed`);
  const area = ({ width, height }: CheckedFrame): string => [width, height].sort((a, b) => a - b).join("×"); // the camera may have been turned
  const odd = frames.findIndex((frame) => area(frame) !== area(first));
  if (odd >= 0)
    throw refused(
      "sizes-differ",
      `image 1 has ${first.width}×${first.height} pixels, image ${odd + 1} ${frames[odd]?.width}×${frames[odd]?.height}`,
    );
  if (!distances) return;
  const quantities = typeof distances === "string" ? typedDistances(distances, planes) : distances.map((value) => ({ value }));
  if (frames.length > 1 && quantities.length !== frames.length)
    throw refused("distance-count", `there are ${frames.length} images but ${quantities.length} distances`);
  const unified = unify(quantities, unit);
  if (!unified) throw refused("units-mixed", "the distances mix units that cannot be compared");
  // A microscope's TIFF may hold positions, which may be negative; the job reads its description and refuses them if they are distances.
  const arbitraryZero = isLength(unified.unit) && frames.every(({ ending }) => ending === "tif");
  try {
    orderPlanes(
      unified.values.map((value, n) => ({ file: `image ${n + 1}`, value, source: "argument" as const })),
      unified.unit,
      { arbitraryZero },
    );
  } catch (cause) {
    throw refused("distances-invalid", cause instanceof Error ? cause.message : String(cause), cause);
  }
}
