import { spawn, type ChildProcessByStdio } from "node:child_process";
import { readdir, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { DualFocusError } from "../../errors.ts";
import { FormatError } from "../../io/formatError.ts";
import { childEnvironment } from "../../system/childEnvironment.ts";
import { removeAbandoned, withTemporaryFolder } from "../../system/temporaryFolder.ts";
import type { Listing } from "../listing.ts";
import { naturalOrder } from "../stackFormat.ts";
import { frameName, SWEEP_SIDE, sweepOf, type SweepFrame } from "../sweep.ts";
import { complaintOf, describeFrames, frameCountOf } from "./ffmpegOutput.ts";

export interface VideoOptions {
  /** Frames to choose; by default as many as the sweep needs. */
  readonly count?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of frames looked at, and of all where the file states it. */
  readonly onProgress?: ((done: number, of: number) => void) | undefined;
  /** The programs; for tests. */
  readonly programs?: { readonly ffmpeg: string; readonly ffprobe: string };
}

const PROGRAMS = { ffmpeg: "ffmpeg", ffprobe: "ffprobe" };

/**
 * Gives `use` the frames that ffmpeg takes from a focus-sweep video, as images in a temporary folder that is removed when it ends. All frames
 * are looked at in a small size, those of one sweep are chosen by their sharpness, and these are written in full size without loss.
 */
export async function withVideoFrames<T>(file: string, options: VideoOptions, use: (listing: Listing) => Promise<T>): Promise<T> {
  const { count, signal, onProgress = () => undefined, programs = PROGRAMS } = options;
  const running = { file, signal, programs };
  const of = await frameCount(running);
  const described: SweepFrame[] = [];
  await lookAt(running, (frame) => {
    described.push(frame);
    if (of > 0) onProgress(Math.min(described.length, of - 1), of);
  });
  onProgress(Math.max(of, 1), Math.max(of, 1));
  const { frames, note } = sweepOf(file, described, { count });
  const parent = join(tmpdir(), "dualfocus-frames");
  await removeAbandoned(parent);
  return withTemporaryFolder(parent, async (folder) => {
    await extract(running, { frames, folder });
    const names = naturalOrder(await readdir(folder));
    return use({ name: file, files: names.map((name) => join(folder, name)), notes: [note] });
  });
}

interface Running {
  readonly file: string;
  readonly signal: AbortSignal | undefined;
  readonly programs: { readonly ffmpeg: string; readonly ffprobe: string };
}

/** Containers that hold what they show. Others (playlists, lists of files) are descriptions of what else to open. */
const CONTAINERS = "mov,matroska,avi,mpegts";

/** Only this file is opened: a video may name others, or addresses. */
const input = (file: string): string[] => [
  ...["-protocol_whitelist", "file", "-format_whitelist", CONTAINERS],
  ...["-i", `file:${resolve(file)}`],
];

async function frameCount(running: Running): Promise<number> {
  const entries = "stream=nb_frames,avg_frame_rate:format=duration";
  const args = ["-v", "error", "-select_streams", "v:0", "-show_entries", entries, "-of", "json", ...input(running.file)];
  const text: Buffer[] = [];
  await run(running, "ffprobe", args, async (stdout) => {
    for await (const chunk of stdout) text.push(chunk as Buffer);
  });
  return frameCountOf(Buffer.concat(text).toString(), running.file);
}

/** Frames get even times, or ffmpeg would repeat and drop some to fill the gaps. */
const EVEN_TIMES = "setpts=N/(25*TB)";

/** Small grey frames, one PGM after the other, in the order of the video. */
async function lookAt(running: Running, onFrame: (frame: SweepFrame) => void): Promise<void> {
  const side = (length: string): string => `'min(${SWEEP_SIDE},${length})'`;
  const scale = `scale=w=${side("iw")}:h=${side("ih")}:force_original_aspect_ratio=decrease:flags=area`;
  const args = ["-map", "0:v:0", "-vf", `${EVEN_TIMES},${scale},format=gray`, "-r", "25", "-c:v", "pgm", "-f", "image2pipe", "pipe:1"];
  await run(running, "ffmpeg", ["-v", "error", "-nostdin", ...input(running.file), ...args], (stdout) =>
    describeFrames(stdout as AsyncIterable<Buffer>, { file: running.file, onFrame }),
  );
}

async function extract(running: Running, { frames, folder }: { frames: readonly number[]; folder: string }): Promise<void> {
  const wanted = frames.map((frame) => `eq(n,${frame})`).join("+");
  const args = ["-map", "0:v:0", "-vf", `select='${wanted}',${EVEN_TIMES},format=rgb24`, "-r", "25", join(folder, "%03d.png")];
  await run(running, "ffmpeg", ["-v", "error", "-nostdin", ...input(running.file), ...args]);
  const names = naturalOrder(await readdir(folder));
  if (names.length !== frames.length) throw new FormatError(`${running.file}: ffmpeg gave ${names.length} of ${frames.length} frames`);
  for (const [n, name] of names.entries()) await rename(join(folder, name), join(folder, frameName(frames[n] as number)));
}

/** Letters that are kept of what a program complains about: a damaged video may give it a reason in every frame. */
const COMPLAINTS = 4096;

type Program = ChildProcessByStdio<null, Readable, Readable>;

/** Runs a program to its end, and reads what it prints; the last line of its complaints is the reason of a failure. */
async function run(
  { file, signal, programs }: Running,
  program: "ffmpeg" | "ffprobe",
  args: readonly string[],
  read: (stdout: Readable) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  signal?.throwIfAborted();
  const child: Program = spawn(programs[program], args, { stdio: ["ignore", "pipe", "pipe"], env: childEnvironment(["system"]) });
  const stop = (): void => void child.kill();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    let complaints = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints = (complaints + text).slice(-COMPLAINTS)));
    const ended = new Promise<number | null>((done, fail) => child.once("error", fail).once("close", done));
    ended.catch(() => undefined);
    await Promise.all([read(child.stdout).finally(() => child.stdout.resume()), ended]);
    signal?.throwIfAborted();
    if ((await ended) !== 0) throw new FormatError(`${file}: not a readable video: ${complaintOf(complaints)}`);
  } catch (cause) {
    child.kill();
    signal?.throwIfAborted();
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    throw new DualFocusError("ffmpeg-missing", `${file}: videos are read by ${program}, which is not installed`, {
      facts: { file },
      cause,
    });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}
