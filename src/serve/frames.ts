import { DualFocusError, type ErrorCode } from "../errors.ts";
import { isBmp } from "../io/bmp.ts";
import { isHeif } from "../io/heif.ts";
import { isCanonMovie, isFuji, isRaw, largestRawSize } from "../io/raw.ts";
import { givenFocus, type Frame } from "../stack/focus.ts";
import { MIN_SIDE, planesOf } from "../stack/frames.ts";
import type { DepthSettings } from "../depth/settings.ts";
import { diskFiles, readBytes } from "../stack/node/diskFiles.ts";
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
  /** Pages of a TIFF, 1 for everything else. */
  readonly pages: number;
  /** The pages that are planes of a stack, and their positions where a microscope states them. */
  readonly planes: readonly Omit<Frame, "file">[];
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
  const { width, height, pages, planes } = raw ? { ...raw, pages: 1, planes: [{ page: 0 }] } : await readHeader(file, name);
  if (width * height > limits.pixels)
    throw tooLarge(`${name} has ${width}×${height} pixels; at most ${limits.pixels / 1e6} megapixels are accepted`);
  return { file, ending: raw && kind.ending === "tif" ? "dng" : kind.ending, width, height, pages, planes };
}

/** Of a raw file, as it states it: only a job, in a process of its own, runs the decoder. */
async function rawSize(file: string, name: string): Promise<Pick<CheckedFrame, "width" | "height"> | undefined> {
  const head = await diskFiles.readHead(file, RAW_HEAD_BYTES);
  if (!isRaw(head)) return undefined;
  const size = largestRawSize(await readBytes(file)); // RAF has its directory behind the preview, of any length
  if (!size) throw refused("bad-file", `${name} is a raw file that does not state its size`);
  return size;
}

async function readHeader(file: string, name: string): Promise<Omit<CheckedFrame, "file" | "ending">> {
  try {
    const info = await diskFiles.probe(file);
    const planes = planesOf(file, info).map(({ page, position }) => ({ page, ...(position === undefined ? {} : { position }) }));
    return { width: info.width, height: info.height, pages: info.tiff?.pages.length ?? 1, planes };
  } catch (cause) {
    if (!(cause instanceof DualFocusError)) throw cause;
    // the decoder's own limit is far above ours
    if (/pixel limit/i.test(cause.message)) throw tooLarge(`${name} has more pixels than are accepted`);
    throw refused(cause.code, cause.message.replaceAll(file, name), cause);
  }
}

const refused = (code: ErrorCode, message: string, cause?: unknown): Problem => invalid(new DualFocusError(code, message, { cause }));

/** Refuses at once what the job could only fail on: too few images, of different sizes, distances that do not fit them. */
export function checkFrameSet(frames: readonly CheckedFrame[], { distances, unit }: DepthSettings): void {
  const [first] = frames;
  const planes = first && frames.length === 1 ? first.planes : frames.map(singlePlane);
  if (!first || planes.length < 2) throw refused("single-image", `a stack has at least two images, got ${planes.length}`);
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
  try {
    givenFocus(distances, { frames: planes.map((plane, n) => ({ ...plane, file: `image ${n + 1}` })), unit, name: "the stack" });
  } catch (cause) {
    throw cause instanceof DualFocusError ? invalid(cause) : cause;
  }
}

/** Of several files each is one image; only a file with one plane knows its position. */
const singlePlane = ({ planes: [plane, second] }: CheckedFrame): CheckedFrame["planes"][number] => (plane && !second ? plane : { page: 0 });
