import { sizeOf, type Image, type Size } from "../image/image.ts";
import { SIZE_MULTIPLE } from "../model/encoder.ts";
import { FIELD_NAMES } from "../model/graph.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import { overPlanes } from "./coarseToFine.ts";
import { createMerge } from "./merge.ts";
import { crop, cropImage, packImages, paddedSize } from "./pad.ts";
import { planeWindows, type PlaneWindows } from "./planeWindows.ts";
import type { Session, Value } from "./session.ts";
import { stagedTiles, type RunnerOptions, type StageSessions, type TileRunner } from "./stages.ts";
import { pixelsOf, tilesOf, tileWeights, type Tile } from "./tiles.ts";

/** p of every plane and pixel, [planes, height, width]. */
export interface FocusProbability extends Size {
  readonly planes: number;
  readonly values: Float32Array;
  /** Γ, z* and θ_grad(z*), if requested when the network was opened and if the stack fitted one run. */
  readonly fields?: Fields;
}

export type Fields = Readonly<Record<(typeof FIELD_NAMES)[number], Value>>;

export interface PredictOptions {
  /** Stops before the next run of the network. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each run of the network with the share of the work that is done, in percent: `done` never falls, and is `of`, 100, only at the end. */
  readonly onProgress?: ((done: number, of: number) => void) | undefined;
}

export interface ProbabilityOptions extends PredictOptions {
  readonly session: Session;
  /** Smallest image side the network accepts. */
  readonly least?: number;
  /**
   * The same network in stages (see `recordStages`) for runs of this many planes in these tiles, opened if the stack does not fit one run: each plane is then
   * encoded once, and tiles have the context of the whole image. Without stages, tiles differ from the whole by a few hundredths of a plane.
   */
  readonly stages?: ((planes: number, tiles: readonly Tile[]) => Promise<StageSessions>) | undefined;
  /** Most planes per run. */
  readonly mostPlanes?: number;
  /** Most pixels per plane and run; larger images are split into overlapping tiles. Default: depends on the number of planes. */
  readonly maxPixels?: number;
}

/** Planes that every network accepts in one run. */
export const MOST_PLANES = 10;
/** Pixels of all planes in one run: about 0.5 GB for small and 1.7 GB for base. Tiles without the context of the whole image are larger. */
const MAX_SAMPLES = { staged: 6e6, whole: 15e6 } as const;

/** Runs the network over a stack: large images in overlapping tiles, more planes than one run accepts in overlapping windows. */
export async function focusProbability(stack: FocalStack, options: ProbabilityOptions): Promise<FocusProbability> {
  const { session, least = SIZE_MULTIPLE, mostPlanes = MOST_PLANES } = options;
  const planes = stack.images.length;
  const budget = MAX_SAMPLES[options.stages ? "staged" : "whole"];
  const { maxPixels = Math.floor(budget / Math.min(planes, mostPlanes)) } = options;
  const [{ width, height }] = stack.images as [Image];
  const tiles = tilesOf({ width, height }, maxPixels);
  const windows = planeWindows(planes, mostPlanes);
  const staged = tiles.length > 1 || windows.sparse ? await options.stages?.(Math.min(planes, mostPlanes), tiles) : undefined;
  let [done, all] = [0, 1];
  const step: RunnerOptions["step"] = async (work, body) => {
    options.signal?.throwIfAborted();
    const result = await body();
    done += work;
    options.onProgress?.(percent(done, all), 100);
    return result;
  };
  if (tiles.length === 1 && !windows.sparse) return step(1, () => runNetwork(session, stack.images, least));
  const given = { images: stack.images, tiles, step, least };
  const runner = staged
    ? stagedTiles(staged, { ...given, maxPixels })
    : windows.sparse && session.encode
      ? encodedTiles(session.encode, given)
      : wholeTiles(session, given);
  all = runner.work([windows.sparse ?? [], ...windows.dense].flat().length);
  return { planes, width, height, values: await overTiles(runner, { tiles, windows, planes, width, height }) };
}

/** Of work that has begun: never 0, and 100 only at the end. */
export const percent = (done: number, of: number): number => Math.max(Math.floor((100 * done) / of), 1);

interface TileOptions extends RunnerOptions {
  readonly least: number;
}

/** Every tile through the whole network, independently: its global parts see the tile instead of the image. */
function wholeTiles(session: Session, { images, tiles, step, least }: TileOptions): TileRunner {
  return {
    work: (planes) => planes * pixelsOf(...tiles),
    encode: (tile) =>
      Promise.resolve((window) =>
        step(window.length * pixelsOf(tile), async () => {
          const cut = window.map((plane) => cropImage(images[plane] as Image, tile));
          return (await runNetwork(session, cut, least)).values;
        }),
      ),
  };
}

/** Like `wholeTiles`, but each plane of a tile is encoded once for all windows. */
function encodedTiles(encode: NonNullable<Session["encode"]>, { images, tiles, step, least }: TileOptions): TileRunner {
  return {
    work: (planes) => (images.length + planes) * pixelsOf(...tiles),
    async encode(tile) {
      const cut = images.map((image) => cropImage(image, tile));
      const padded = paddedSize(tile, { least });
      const shape = [1, cut.length, 3, padded.height, padded.width];
      const decode = await step(cut.length * pixelsOf(tile), () => encode({ data: packImages(cut, padded), shape }));
      return (window) =>
        step(window.length * pixelsOf(tile), async () =>
          crop(await decode(window), { from: padded, to: sizeOf(tile), maps: window.length }),
        );
    },
  };
}

interface Area extends Size {
  readonly tiles: readonly Tile[];
  readonly windows: PlaneWindows;
  readonly planes: number;
}

async function overTiles(runner: TileRunner, { tiles, windows, planes, width, height }: Area): Promise<Float32Array> {
  const merge = tiles.length > 1 ? createMerge({ maps: planes, width, height }) : undefined;
  for (const tile of tiles) {
    const values = await overPlanes(await runner.encode(tile), { windows, planes, pixels: tile.width * tile.height });
    if (!merge) return values;
    merge.add(tile, values, tileWeights(tile, { width, height }));
  }
  return merge?.finish() as Float32Array;
}

async function runNetwork(session: Session, images: readonly Image[], least: number): Promise<FocusProbability> {
  const [{ width, height }] = images as [Image];
  const padded = paddedSize({ width, height }, { least });
  const planes = images.length;
  const outputs = await session.run({
    images: { data: packImages(images, padded), shape: [1, planes, 3, padded.height, padded.width] },
    focusDistances: { data: Float32Array.from(images, (_, n) => n), shape: [1, planes] }, // p does not depend on them
  });
  const values = crop(outputs["probability"]?.data as Float32Array, { from: padded, to: { width, height }, maps: planes });
  return { planes, width, height, values, ...("surface" in outputs ? { fields: fieldsOf(outputs) } : {}) };
}

const fieldsOf = (outputs: Readonly<Record<string, Value>>): Fields =>
  Object.fromEntries(FIELD_NAMES.map((name) => [name, outputs[name]])) as Fields;
