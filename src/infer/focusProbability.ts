import type { FocalStack } from "../stack.ts";
import type { Image } from "../image.ts";
import { cropFrom, padInto, paddedSize, type Size } from "./pad.ts";
import { planeWindows, windowWeights, type PlaneWindow } from "./planeWindows.ts";
import type { Session } from "./session.ts";

/** p of every plane and pixel, [planes, height, width]. */
export interface FocusProbability extends Size {
  readonly planes: number;
  readonly values: Float32Array;
}

export interface ProbabilityOptions {
  readonly session: Session;
  /** Planes the network was trained on, at most. */
  readonly mostPlanes?: number;
  readonly signal?: AbortSignal | undefined;
  /** Called after each run of the network. */
  readonly onProgress?: ((done: number, of: number) => void) | undefined;
}

const MOST_PLANES = 10;

/** Runs the network over the whole picture; a stack with more planes than it knows goes through in overlapping windows. */
export async function focusProbability(stack: FocalStack, options: ProbabilityOptions): Promise<FocusProbability> {
  const { session, mostPlanes = MOST_PLANES, signal, onProgress } = options;
  const [{ width, height }] = stack.images as [Image];
  const planes = stack.images.length;
  const { sparse, dense } = planeWindows(planes, mostPlanes);
  const runs = dense.length + (sparse ? 1 : 0);
  let done = 0;
  const run = async (window: PlaneWindow): Promise<Float32Array> => {
    signal?.throwIfAborted();
    const values = await runWindow(session, stack, window);
    onProgress?.((done += 1), runs);
    return values;
  };
  if (!sparse) return { planes, width, height, values: await run(dense[0] as PlaneWindow) };
  const rough = meanPlane(await run(sparse), sparse, width * height);
  const values = new Float32Array(planes * width * height);
  for (const [i, window] of dense.entries()) addWindow(values, await run(window), { window, i, dense, rough });
  return { planes, width, height, values };
}

async function runWindow(session: Session, stack: FocalStack, window: PlaneWindow): Promise<Float32Array> {
  const [size] = stack.images as [Image];
  const padded = paddedSize(size);
  const shape = [1, window.length, 3, padded.height, padded.width];
  const data = new Float32Array(window.length * 3 * padded.width * padded.height);
  window.forEach((plane, n) => {
    const channels = planar(stack.images[plane] as Image);
    channels.forEach((channel, c) => {
      const at = (n * 3 + c) * padded.width * padded.height;
      padInto(data.subarray(at, at + padded.width * padded.height), channel, { from: size, to: padded });
    });
  });
  const distances = Float32Array.from(window, (_, n) => n); // p does not depend on them
  const { probability } = await session.run({ images: { data, shape }, focusDistances: { data: distances, shape: [1, window.length] } });
  const pixels = size.width * size.height;
  const values = new Float32Array(window.length * pixels);
  window.forEach((_, n) => {
    const map = (probability?.data as Float32Array).subarray(n * padded.width * padded.height, (n + 1) * padded.width * padded.height);
    values.set(cropFrom(map, { from: padded, to: size }), n * pixels);
  });
  return values;
}

/** Red, green and blue maps; a grey picture three times. */
function planar({ width, height, channels, data }: Image): Float32Array[] {
  if (channels === 1) return [data, data, data];
  const maps = [0, 1, 2].map(() => new Float32Array(width * height));
  for (let i = 0; i < width * height; i++) maps.forEach((map, c) => (map[i] = data[3 * i + c] as number));
  return maps;
}

/** Σ p_n n at each pixel, in planes of the whole stack. */
function meanPlane(values: Float32Array, window: PlaneWindow, pixels: number): Float32Array {
  const mean = new Float32Array(pixels);
  window.forEach((plane, n) => {
    for (let i = 0; i < pixels; i++) mean[i] = (mean[i] as number) + plane * (values[n * pixels + i] as number);
  });
  return mean;
}

function addWindow(
  total: Float32Array,
  values: Float32Array,
  { window, i, dense, rough }: { window: PlaneWindow; i: number; dense: readonly PlaneWindow[]; rough: Float32Array },
): void {
  const pixels = rough.length;
  const weight = rough.map((at) => windowWeights(dense, at)[i] as number);
  window.forEach((plane, n) => {
    for (let k = 0; k < pixels; k++) {
      const at = plane * pixels + k;
      total[at] = (total[at] as number) + (weight[k] as number) * (values[n * pixels + k] as number);
    }
  });
}
