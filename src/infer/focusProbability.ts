import type { FocalStack } from "../stack.ts";
import type { Image } from "../image.ts";
import { crop, packPictures, paddedSize, type Size } from "./pad.ts";
import { planeWindows, windowWeights, type PlaneWindow } from "./planeWindows.ts";
import type { Session } from "./session.ts";
import { tilesOf, tileWeights, type Tile } from "./tiles.ts";
import { meanOfViews, mirrorImage, type Quality } from "./views.ts";

/** p of every plane and pixel, [planes, height, width]. */
export interface FocusProbability extends Size {
  readonly planes: number;
  readonly values: Float32Array;
}

export interface ProbabilityOptions {
  readonly session: Session;
  /** Planes the network was trained on, at most. */
  readonly mostPlanes?: number;
  /** Pixels of one run of the network, at most; larger pictures go through in overlapping tiles. */
  readonly maxPixels?: number;
  /** `best` averages two views of the stack in twice the time. */
  readonly quality?: Quality;
  readonly signal?: AbortSignal | undefined;
  /** Called after each run of the network. */
  readonly onProgress?: ((done: number, of: number) => void) | undefined;
}

const MOST_PLANES = 10;
const MAX_PIXELS = 1_500_000;

/** Runs the network over a picture; larger ones go through in overlapping tiles, more planes than it knows in overlapping windows. */
export async function focusProbability(stack: FocalStack, options: ProbabilityOptions): Promise<FocusProbability> {
  const { session, mostPlanes = MOST_PLANES, maxPixels = MAX_PIXELS, quality = "fast", signal, onProgress } = options;
  const [{ width, height }] = stack.images as [Image];
  const planes = stack.images.length;
  const tiles = tilesOf({ width, height }, maxPixels);
  const { sparse, dense } = planeWindows(planes, mostPlanes);
  const runs = tiles.length * (quality === "best" ? 2 : 1) * (dense.length + (sparse ? 1 : 0));
  let done = 0;
  const run: Run = async (images) => {
    signal?.throwIfAborted();
    const values = await runNetwork(session, images);
    onProgress?.((done += 1), runs);
    return values;
  };
  const inTile = async (images: readonly Image[]): Promise<Float32Array> => {
    const values = await overPlanes(run, images, mostPlanes);
    if (quality === "fast") return values;
    return meanOfViews({ width: (images[0] as Image).width, values }, await overPlanes(run, images.map(mirrorImage), mostPlanes));
  };
  if (tiles.length === 1) return { planes, width, height, values: await inTile(stack.images) };
  const merge = createTileMerge({ planes, width, height });
  for (const tile of tiles) merge.add(tile, await inTile(stack.images.map((image) => cropImage(image, tile))));
  return merge.finish();
}

/** One run of the network: p of these pictures, [planes, height, width]. */
type Run = (images: readonly Image[]) => Promise<Float32Array>;

/** p of all planes; where they are too many for one run, a sparse run tells which dense windows count at a pixel. */
async function overPlanes(run: Run, images: readonly Image[], mostPlanes: number): Promise<Float32Array> {
  const { sparse, dense } = planeWindows(images.length, mostPlanes);
  const of = (window: PlaneWindow): Image[] => window.map((plane) => images[plane] as Image);
  if (!sparse) return run(images);
  const [{ width, height }] = images as [Image];
  const rough = meanPlane(await run(of(sparse)), sparse, width * height);
  const values = new Float32Array(images.length * width * height);
  for (const [i, window] of dense.entries()) addWindow(values, await run(of(window)), { window, i, dense, rough });
  return values;
}

async function runNetwork(session: Session, images: readonly Image[]): Promise<Float32Array> {
  const [size] = images as [Image];
  const padded = paddedSize(size);
  const planes = images.length;
  const { probability } = await session.run({
    images: { data: packPictures(images, padded), shape: [1, planes, 3, padded.height, padded.width] },
    focusDistances: { data: Float32Array.from(images, (_, n) => n), shape: [1, planes] }, // p does not depend on them
  });
  return crop(probability?.data as Float32Array, { from: padded, to: size, maps: planes });
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

function cropImage({ width, channels, data }: Image, tile: Tile): Image {
  const out = new Float32Array(tile.width * tile.height * channels);
  for (let y = 0; y < tile.height; y++) {
    const from = ((tile.top + y) * width + tile.left) * channels;
    out.set(data.subarray(from, from + tile.width * channels), y * tile.width * channels);
  }
  return { width: tile.width, height: tile.height, channels, data: out };
}

/** The weighted mean of p of overlapping tiles. */
function createTileMerge({ planes, width, height }: Size & { readonly planes: number }): {
  add(tile: Tile, values: Float32Array): void;
  finish(): FocusProbability;
} {
  const sum = new Float32Array(planes * width * height);
  const total = new Float32Array(width * height);
  return {
    add(tile, values) {
      const weights = tileWeights(tile, { width, height });
      const area = tile.width * tile.height;
      weights.forEach((weight, i) => {
        const to = (tile.top + Math.floor(i / tile.width)) * width + tile.left + (i % tile.width);
        total[to] = (total[to] as number) + weight;
        for (let n = 0; n < planes; n++) {
          const at = n * width * height + to;
          sum[at] = (sum[at] as number) + weight * (values[n * area + i] as number);
        }
      });
    },
    finish: () => ({ planes, width, height, values: sum.map((value, i) => value / (total[i % total.length] as number)) }),
  };
}
