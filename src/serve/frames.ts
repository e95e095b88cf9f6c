import { FormatError } from "../io/formatError.ts";
import { orderPlanes } from "../stack/stackFormat.ts";
import type { DepthSettings } from "../depth/settings.ts";
import { diskFiles } from "../stack/node/diskFiles.ts";
import type { PictureInfo } from "../stack/stackFiles.ts";
import type { Limits } from "./limits.ts";
import { Problem, tooLarge } from "./problem.ts";
import { checkTiff } from "./tiffCheck.ts";

/** A picture that has been found to be one, within the limits. */
export interface CheckedFrame {
  readonly file: string;
  /** Of its kind's names: what its first bytes say, whatever the client called it. */
  readonly ending: string;
  readonly width: number;
  readonly height: number;
  /** Planes it may hold: pages of a TIFF, 1 for everything else. */
  readonly pages: number;
}

const HEAD_BYTES = 64;

/** The kinds that are taken, by their first bytes. Nothing else reaches a decoder: no SVG, no PDF, no GIF. */
const KINDS: readonly { readonly ending: string; readonly matches: (head: Buffer) => boolean }[] = [
  { ending: "jpg", matches: (head) => head.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])) },
  { ending: "png", matches: (head) => head.subarray(0, 8).equals(Buffer.from("\x89PNG\r\n\x1a\n", "latin1")) },
  { ending: "tif", matches: (head) => ["II*\0", "MM\0*", "II+\0", "MM\0+"].includes(head.toString("latin1", 0, 4)) },
  { ending: "webp", matches: (head) => head.toString("latin1", 0, 4) === "RIFF" && head.toString("latin1", 8, 12) === "WEBP" },
  { ending: "avif", matches: (head) => head.toString("latin1", 4, 8) === "ftyp" && head.toString("latin1", 8).includes("avif") },
];

/** Looks at headers alone: kind, size and number of the pictures, before one pixel is decoded. */
export async function checkFrames(files: readonly string[], limits: Limits): Promise<CheckedFrame[]> {
  const frames: CheckedFrame[] = [];
  for (const [n, file] of files.entries()) frames.push(await checkFrame(file, { name: `picture ${n + 1}`, limits }));
  const planes = frames.reduce((sum, { pages }) => sum + pages, 0);
  if (planes > limits.frames) throw tooLarge(`the pictures hold ${planes} pages; at most ${limits.frames} are taken`);
  return frames;
}

async function checkFrame(file: string, { name, limits }: { name: string; limits: Limits }): Promise<CheckedFrame> {
  const head = Buffer.from(await diskFiles.readHead(file, HEAD_BYTES));
  if (head.length === 0) throw invalid(`${name} is empty`, "send the whole file");
  const kind = KINDS.find(({ matches }) => matches(head));
  if (!kind)
    throw new Problem("unsupported-type", {
      detail: `${name} is neither JPEG, PNG, TIFF, WebP nor AVIF`,
      remedy: "convert it to one of these",
    });
  if (kind.ending === "tif") await checkTiff(file, { name, limits });
  const info = await readHeader(file, name);
  const { width, height } = info;
  if (width * height > limits.pixels)
    throw tooLarge(`${name} has ${width}×${height} pixels; at most ${limits.pixels / 1e6} megapixels are taken`);
  return { file, ending: kind.ending, width, height, pages: info.tiff?.pages.length ?? 1 };
}

async function readHeader(file: string, name: string): Promise<PictureInfo> {
  try {
    return await diskFiles.probePicture(file);
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    // the decoder's own limit stands far above ours
    if (/pixel limit/i.test(cause.message)) throw tooLarge(`${name} has more pixels than are taken`);
    throw invalid(`${name} cannot be read: ${cause.message.replaceAll(file, name)}`, "replace it", cause);
  }
}

const invalid = (detail: string, remedy: string, cause?: unknown): Problem => new Problem("invalid", { detail, remedy, cause });

const MIN_SIDE = 16;

/** Refuses at once what the job could only fail on: too few pictures, of different sizes, distances that do not fit them. */
export function checkStack(frames: readonly CheckedFrame[], { distances, unit = "m" }: DepthSettings): void {
  const [first] = frames;
  const planes = frames.length === 1 ? (first?.pages ?? 0) : frames.length;
  if (!first || planes < 2)
    throw invalid(`a stack has at least two pictures, got ${planes}`, "send all pictures of the stack, each as a part “frames”");
  if (Math.min(first.width, first.height) < MIN_SIDE)
    throw invalid(`the pictures are only ${first.width}×${first.height} pixels`, `send pictures of at least ${MIN_SIDE} pixels a side`);
  const area = ({ width, height }: CheckedFrame): string => [width, height].sort((a, b) => a - b).join("×"); // cameras may have been turned
  const odd = frames.findIndex((frame) => area(frame) !== area(first));
  if (odd >= 0)
    throw invalid(
      `picture 1 has ${first.width}×${first.height} pixels, picture ${odd + 1} ${frames[odd]?.width}×${frames[odd]?.height}`,
      "send pictures of one size",
    );
  if (!distances) return;
  if (frames.length > 1 && distances.length !== frames.length)
    throw invalid(
      `there are ${frames.length} pictures but ${distances.length} distances`,
      "give one distance for each picture, in their order",
    );
  try {
    orderPlanes(
      distances.map((value, n) => ({ file: `picture ${n + 1}`, value, source: "argument" as const })),
      unit,
    );
  } catch (cause) {
    throw invalid(cause instanceof Error ? cause.message : String(cause), "correct the distances or their unit", cause);
  }
}
