import type { Size } from "../../image/image.ts";
import { FormatError } from "../../io/formatError.ts";
import { checkFrameCount, checkFrameSize, describeFrame, SWEEP_SIDE, type SweepFrame } from "../sweep.ts";

// What ffmpeg and ffprobe print about a stranger's video is as much the stranger's as the video: nothing of it is believed.

/** The number of frames from ffprobe's JSON: as the file states it, or from its length; 0 if it states neither. */
export function frameCountOf(text: string, file: string): number {
  const { streams, format } = parsed(text, file) as { streams?: unknown; format?: unknown };
  const [stream] = Array.isArray(streams) ? (streams as unknown[]) : [];
  if (!stream) throw new FormatError(`${file}: there is no video in it`);
  const { nb_frames: stated, avg_frame_rate: rate } = stream as Record<string, unknown>;
  const [above = 0, below = 1] = (typeof rate === "string" ? rate : "").split("/").map(Number);
  const { duration } = (format ?? {}) as Record<string, unknown>;
  return positive(Number(stated)) || positive(Math.round((Number(duration) * above) / below));
}

function parsed(text: string, file: string): object {
  try {
    const value: unknown = JSON.parse(text || "{}");
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // said below
  }
  throw new FormatError(`${file}: not a readable video: what ffprobe says about it is not JSON`);
}

const positive = (count: number): number => (Number.isSafeInteger(count) && count > 0 ? count : 0);

/** Describes the small grey frames that ffmpeg prints, one PGM after the other. */
export async function describeFrames(
  output: AsyncIterable<Uint8Array>,
  { file, onFrame }: { readonly file: string; readonly onFrame: (frame: SweepFrame) => void },
): Promise<void> {
  let [held, count] = [Buffer.alloc(0), 0];
  for await (const chunk of output) {
    held = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
    for (let image = pgmAt(held, file); image; image = pgmAt(held, file)) {
      checkFrameCount(file, (count += 1));
      onFrame(describeFrame(image));
      held = held.subarray(image.end);
    }
  }
  if (held.length > 0) throw new FormatError(`${file}: not a readable video: ffmpeg broke off within a frame`);
}

const LONGEST_HEADER = 40;

/** The image at the head of the bytes; undefined if it is not there as a whole yet. */
function pgmAt(bytes: Buffer, file: string): (Size & { values: Uint8Array; end: number }) | undefined {
  const header = /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(bytes.toString("latin1", 0, LONGEST_HEADER));
  if (!header) {
    if (bytes.length < LONGEST_HEADER) return undefined;
    throw new FormatError(`${file}: not a readable video: ffmpeg gave something else than frames`);
  }
  const [width, height] = [Number(header[1]), Number(header[2])];
  if (Math.max(width, height) > SWEEP_SIDE)
    throw new FormatError(`${file}: not a readable video: ffmpeg gave a frame of ${width}×${height} pixels, not ${SWEEP_SIDE} at most`);
  checkFrameSize(file, { width, height });
  const end = header[0].length + width * height;
  return bytes.length < end ? undefined : { width, height, values: bytes.subarray(header[0].length, end), end };
}

/** The last complaint of ffmpeg, without where in it the complaint arose and without the path. */
export function complaintOf(text: string): string {
  const [line = ""] = text.trim().split("\n").slice(-1);
  return line.replace(/^\[[^\]]*\] */, "").replace(/^.*: (?=[A-Z])/, "") || "ffmpeg cannot decode it";
}
