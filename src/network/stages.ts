import { sizeOf, type Image, type Size } from "../image/image.ts";
import { SIZE_MULTIPLE } from "../model/encoder.ts";
import { recordStages, STAGE_NAMES, type StageName, type StagesRequest } from "../model/stages.ts";
import type { GraphRuntime } from "./graphs.ts";
import { createMerge } from "./merge.ts";
import { crop, cropImage, packImages, paddedSize } from "./pad.ts";
import type { PlaneWindow } from "./planeWindows.ts";
import type { Decode, Session, Value } from "./session.ts";
import { pixelsOf, tilesOf, tileWeights, TRUNK_SEAM, type Tile } from "./tiles.ts";
import { enlarge } from "../image/upsample.ts";

/** The network in stages, for images and stacks that do not fit one run; `recordStages` makes the graphs. */
export type StageSessions = Readonly<Record<StageName, Session>>;

/** The stages of a network, loaded on first use. */
export interface Stages {
  /** For runs of this many planes in these tiles. */
  readonly open: (planes: number, tiles: readonly Tile[]) => Promise<StageSessions>;
  readonly dispose: () => Promise<void>;
}

/** How many sets of stages stay loaded. */
const MOST_STAGES = 2;

/**
 * On the CPU the graphs are recorded again for each number of planes and size of the tiles; the last two sets stay loaded, since large stacks are seen in
 * two sizes. A set that is dropped must not be running: a network takes one large stack at a time (depthNetwork.ts).
 */
export function createStages(
  { forCpu, ...model }: Omit<StagesRequest, "planes" | "tile"> & { readonly forCpu: boolean },
  load: GraphRuntime["load"],
): Stages {
  const loaded = new Map<string, Promise<StageSessions>>(); // the least recently used first
  const drop = async (key: string): Promise<void> => {
    const stages = loaded.get(key);
    loaded.delete(key);
    const sessions = await stages?.catch(() => undefined); // its failure has been reported
    if (sessions) await disposeStages(sessions);
  };
  const loadGraph = (graph: Uint8Array): Promise<Session> => load(graph, { keepMemory: false }); // full-size images follow
  return {
    async dispose() {
      await Promise.all([...loaded.keys()].map(drop));
    },
    open(planes, tiles) {
      const size = forCpu ? { planes, tile: commonSize(tiles) } : {};
      const key = JSON.stringify(size);
      const known = loaded.get(key);
      loaded.delete(key); // to the end of the queue
      const [oldest] = loaded.keys();
      const room = !known && oldest !== undefined && loaded.size >= MOST_STAGES ? drop(oldest) : Promise.resolve();
      const stages = known ?? room.then(() => loadStages(recordStages({ ...model, forCpu, ...size }), loadGraph));
      loaded.set(key, stages);
      stages.catch(() => {
        if (loaded.get(key) === stages) loaded.delete(key);
      });
      return stages;
    },
  };
}

/** The padded size of all tiles; undefined if they differ. */
function commonSize(tiles: readonly Tile[]): Size | undefined {
  const [first, ...others] = tiles.map((tile) => paddedSize(tile)) as [Size, ...Size[]];
  return others.every(({ width, height }) => width === first.width && height === first.height) ? first : undefined;
}

/** Loads the graphs one after the other. */
export async function loadStages(
  graphs: Readonly<Record<StageName, Uint8Array>>,
  load: (graph: Uint8Array) => Promise<Session>,
): Promise<StageSessions> {
  const sessions: Partial<Record<StageName, Session>> = {};
  try {
    for (const name of STAGE_NAMES) sessions[name] = await load(graphs[name]);
  } catch (error) {
    await Promise.all(Object.values(sessions).map((session) => session.dispose()));
    throw error;
  }
  return sessions as StageSessions;
}

export async function disposeStages(stages: StageSessions): Promise<void> {
  await Promise.all(STAGE_NAMES.map((name) => stages[name].dispose()));
}

/** Computes p tile by tile. */
export interface TileRunner {
  /** The work of all steps, with this many planes in all windows together. */
  work(planes: number): number;
  /** Encodes a tile; returns a function that computes p of a window of planes there, [planes, height, width]. */
  encode(tile: Tile): Promise<Decode>;
}

export interface RunnerOptions {
  readonly images: readonly Image[];
  readonly tiles: readonly Tile[];
  /** Runs one part of the work: counted as this much, and not started after a stop. */
  readonly step: <T>(work: number, body: () => Promise<T>) => Promise<T>;
}

/** The trunk processes one plane at a time, the decoder up to ten, so the trunk's tiles may be larger by this factor. */
export const TRUNK_SHARE = 5;

/** Work of decoding a plane, relative to encoding it: measured 0.95 (`small`) and 2.5 (`fine`, whose runs are long enough to wait for) times as long on two cores. */
const DECODE_WORK = 2;

type Maps = Readonly<Record<string, Value>>;

/** Tiles with the context of the whole image: its context and surface are computed first, from its coarsest features. */
export function stagedTiles(
  stages: StageSessions,
  { images, tiles, step, maxPixels }: RunnerOptions & { readonly maxPixels: number },
): TileRunner {
  const [size] = images as [Image];
  const whole = cellsOf(paddedSize(size));
  const trunkTiles = tilesOf(size, maxPixels * TRUNK_SHARE, TRUNK_SEAM);
  const seesImages = stages.decode.inputNames.includes("images");
  const once = tiles.length === 1 && trunkTiles.length === 1;
  const trunk = (image: Image, tile: Tile): Promise<Maps> =>
    step(pixelsOf(tile), () => stages.trunk.run({ images: inputOf(cropImage(image, tile)) }));

  const contexts: Maps[] = [];
  const encodePlane = async (plane: number, tile: Tile): Promise<Maps> => {
    const image = images[plane] as Image;
    const seen = contexts[plane] ? undefined : await coarsest(size, trunkTiles, (part) => trunk(image, part));
    const context = (contexts[plane] ??= await stages.context.run({ features: (seen as Coarsest).features }));
    const { quarter, eighth, sixteenth } = (once && seen ? seen.last : await trunk(image, tile)) as Record<string, Value>;
    const pooled = windowOf(context["pooled"] as Value, cellTile(tile));
    return stages.pyramid.run({ pooled, sixteenth, eighth, quarter } as Maps);
  };

  const surfaces = new Map<PlaneWindow, Value>();
  const surfaceOf = async (planes: PlaneWindow): Promise<Value> => {
    const known = surfaces.get(planes);
    if (known) return known;
    const volume = concatenated(planes.map((plane) => (contexts[plane] as Maps)["volume"] as Value));
    const { coarse } = (await stages.surface.run({ volume })) as { coarse: Value };
    surfaces.set(planes, coarse);
    return coarse;
  };

  return {
    work: (planes) => images.length * pixelsOf(...trunkTiles, ...(once ? [] : tiles)) + DECODE_WORK * planes * pixelsOf(...tiles),
    async encode(tile) {
      const encoded: Maps[] = [];
      for (const plane of images.keys()) encoded.push(await encodePlane(plane, tile));
      return async (planes) => {
        const coarse = enlargedWindow(await surfaceOf(planes), { of: doubled(whole), window: doubled(cellTile(tile)) });
        const volume = (name: string): Value => concatenated(planes.map((plane) => encoded[plane]?.[name] as Value));
        const inputs = {
          ...{ volume16: volume("volume16"), volume8: volume("volume8"), volume4: volume("volume4"), coarse },
          ...(seesImages && { images: concatenated(planes.map((plane) => inputOf(cropImage(images[plane] as Image, tile)))) }),
        };
        const { probability } = await step(DECODE_WORK * planes.length * pixelsOf(tile), () => stages.decode.run(inputs));
        return crop(probability?.data as Float32Array, { from: paddedSize(tile), to: sizeOf(tile), maps: planes.length });
      };
    },
  };
}

interface Coarsest {
  /** Of the whole image, at 1/32. */
  readonly features: Value;
  /** The trunk's output for the last tile. */
  readonly last: Maps;
}

/** The trunk's features of a whole image at 1/32, tile by tile. */
async function coarsest(image: Size, tiles: readonly Tile[], trunk: (tile: Tile) => Promise<Maps>): Promise<Coarsest> {
  const whole = cellsOf(paddedSize(image));
  let last: Maps = {};
  let merge: ReturnType<typeof createMerge> | undefined;
  let channels = 0;
  for (const tile of tiles) {
    last = await trunk(tile);
    const { data, shape } = last["thirtySecond"] as Value;
    channels = shape[1] as number;
    merge ??= createMerge({ maps: channels, ...whole });
    merge.add(cellTile(tile), data as Float32Array, cellWeights(tile, image));
  }
  return { features: { data: merge?.finish() as Float32Array, shape: [1, channels, whole.height, whole.width] }, last };
}

function inputOf(image: Image): Value {
  const padded = paddedSize(image);
  return { data: packImages([image], padded), shape: [1, 3, padded.height, padded.width] };
}

const cellsOf = ({ width, height }: Size): Size => ({ width: width / SIZE_MULTIPLE, height: height / SIZE_MULTIPLE });

const doubled = <T extends Size | Tile>(area: T): T =>
  Object.fromEntries(Object.entries(area).map(([name, length]: [string, number]) => [name, 2 * length])) as unknown as T;

/** The tile in cells of the coarsest features; tiles begin where cells do. */
const cellTile = (tile: Tile): Tile => ({
  left: tile.left / SIZE_MULTIPLE,
  top: tile.top / SIZE_MULTIPLE,
  ...cellsOf(paddedSize(tile)),
});

/** The weight of each cell of a tile: that of the pixel in its middle. */
function cellWeights(tile: Tile, image: Size): Float32Array {
  const weights = tileWeights(tile, image, TRUNK_SEAM);
  const { width, height } = cellTile(tile);
  const middle = (cell: number, side: number): number => Math.min(SIZE_MULTIPLE * cell + SIZE_MULTIPLE / 2, side - 1);
  return Float32Array.from(
    { length: width * height },
    (_, i) => weights[middle(Math.floor(i / width), tile.height) * tile.width + middle(i % width, tile.width)] as number,
  );
}

/** Concatenates the values of planes: [1, …] each → [planes, …]. */
function concatenated(values: readonly Value[]): Value {
  const [first] = values as readonly [Value];
  const data = new Float32Array(values.length * first.data.length);
  values.forEach((value, n) => {
    data.set(value.data as Float32Array, n * first.data.length);
  });
  return { data, shape: [values.length, ...first.shape.slice(1)] };
}

/** A part of each map, [planes, channels, height, width]. */
function windowOf({ data, shape }: Value, tile: Tile): Value {
  const [planes, channels, height, width] = shape as [number, number, number, number];
  const cut = crop(data as Float32Array, { from: { width, height }, to: tile, maps: planes * channels });
  return { data: cut, shape: [planes, channels, tile.height, tile.width] };
}

/** A part of each map, upsampled bilinearly as in the network. */
function enlargedWindow({ data, shape }: Value, { of, window }: { readonly of: Size; readonly window: Tile }): Value {
  const [planes, channels, height, width] = shape as [number, number, number, number];
  const [area, cut] = [width * height, window.width * window.height];
  const out = new Float32Array(planes * channels * cut);
  for (let map = 0; map < planes * channels; map++) {
    const values = (data as Float32Array).subarray(map * area, (map + 1) * area);
    out.set(enlarge({ width, height, values }, of, window), map * cut);
  }
  return { data: out, shape: [planes, channels, window.height, window.width] };
}
