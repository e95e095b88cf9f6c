import type { VideoSample, VideoSampleSink } from "mediabunny";

import { FormatError } from "../../../src/io/formatError.ts";
import {
  checkFrameCount,
  checkFrameSize,
  describeFrame,
  frameName,
  SWEEP_SIDE,
  sweepOf,
  type SweepFrame,
} from "../../../src/stack/sweep.ts";
import { sizeWithin } from "../../../src/image/shrink.ts";
import type { UserFile } from "./protocol.ts";

export interface VideoListener {
  readonly signal: AbortSignal;
  /** Seconds of the video that have been looked at. */
  readonly onProgress: (seconds: number, of: number) => void;
}

export interface VideoFrames {
  /** Images without loss, in the order of the video. */
  readonly files: readonly UserFile[];
  /** How many were used of how many. */
  readonly note: string;
}

/**
 * The frames of one sweep of the focus, as the command takes them from a video: all are looked at in a small size, and those chosen are
 * decoded again. The browser decodes; mediabunny, which reads the container, is loaded by the first video.
 */
export async function videoFrames({ path, file }: UserFile, listener: VideoListener): Promise<VideoFrames> {
  const { BlobSource, Input, MATROSKA, MP4, MPEG_TS, QTFF, VideoSampleSink, WEBM } = await import("mediabunny");
  const input = new Input({ source: new BlobSource(file), formats: [MP4, QTFF, WEBM, MATROSKA, MPEG_TS] });
  try {
    if (!(await input.canRead())) throw new FormatError(`${path}: not a readable video`);
    const track = await input.getPrimaryVideoTrack();
    if (!track) throw new FormatError(`${path}: there is no video in it`);
    if (!(await track.canDecode()))
      throw new FormatError(`${path}: this browser cannot decode ${(await track.getCodec()) ?? "this kind of"} video; try another browser`);
    const sink = new VideoSampleSink(track);
    return await chosenFrames(path, sink, { ...listener, length: await track.computeDuration(), draw: createPainter() });
  } finally {
    input.dispose();
  }
}

interface Choosing extends VideoListener {
  readonly length: number;
  readonly draw: (sample: VideoSample) => Painted;
}

export async function chosenFrames(
  path: string,
  sink: Pick<VideoSampleSink, "samples" | "samplesAtTimestamps">,
  { signal, onProgress, length, draw }: Choosing,
): Promise<VideoFrames> {
  const [described, times]: [SweepFrame[], number[]] = [[], []];
  for await (const sample of sink.samples()) {
    try {
      checkFrameCount(path, described.length + 1);
      const grey = smallGrey(draw(sample).pixels());
      checkFrameSize(path, grey);
      described.push(describeFrame(grey));
      times.push(sample.timestamp);
      onProgress(Math.min(sample.timestamp, length), length);
    } finally {
      sample.close();
    }
    signal.throwIfAborted();
  }
  const { frames, note } = sweepOf(path, described);
  const files: UserFile[] = [];
  for await (const sample of sink.samplesAtTimestamps(frames.map((frame) => times[frame] as number))) {
    const name = frameName(frames[files.length] as number);
    if (!sample) throw new FormatError(`${path}: the browser cannot decode ${name} a second time`);
    try {
      files.push({ path: name, file: new File([await draw(sample).png()], name) });
    } finally {
      sample.close();
    }
    signal.throwIfAborted();
  }
  return { files, note };
}

interface Painted {
  pixels(): Pick<ImageData, "width" | "height" | "data">;
  png(): Promise<Blob>;
}

/** Draws upright frames, one after the other, on one canvas. */
function createPainter(): (sample: VideoSample) => Painted {
  const canvas = new OffscreenCanvas(1, 1);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("this browser cannot draw in the background");
  return (sample) => {
    const { displayWidth: width, displayHeight: height } = sample;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    sample.draw(context, 0, 0);
    return {
      pixels: () => context.getImageData(0, 0, width, height),
      png: () => canvas.convertToBlob({ type: "image/png" }),
    };
  };
}

/** Luma (BT.601), each new pixel the mean of those it covers. */
function smallGrey({ width, height, data }: ReturnType<Painted["pixels"]>): { width: number; height: number; values: Uint8Array } {
  const size = sizeWithin({ width, height }, SWEEP_SIDE);
  const [sums, counts] = [new Float64Array(size.width * size.height), new Uint32Array(size.width * size.height)];
  const columns = Uint16Array.from({ length: width }, (_, x) => Math.floor((x * size.width) / width));
  for (let y = 0, i = 0; y < height; y++) {
    const row = Math.floor((y * size.height) / height) * size.width;
    for (let x = 0; x < width; x++, i += 4) {
      const at = row + (columns[x] as number);
      sums[at] = (sums[at] as number) + 0.299 * (data[i] as number) + 0.587 * (data[i + 1] as number) + 0.114 * (data[i + 2] as number);
      counts[at] = (counts[at] as number) + 1;
    }
  }
  return { ...size, values: Uint8Array.from(sums, (sum, at) => Math.round(sum / (counts[at] as number))) };
}
