import type { TorchEngine } from "../engine/torch/torchEngine.ts";
import { disposeBatch } from "./batch.ts";
import type { TextureSet } from "../optics/texture/texture.ts";
import type { RenderData, TrainConfig } from "./config.ts";
import { createPoolBatches } from "./deviceAugment.ts";
import { evaluate, poolBatches, type Evaluation, type Metrics } from "./evaluate.ts";
import { exampleMaps } from "./examples.ts";
import type { BatchSource } from "./loop.ts";
import { createRenderPool, type StackPool } from "./renderPool.ts";
import type { Example } from "./report.ts";
import { loadTextures } from "./textures.ts";

/** The data a run trains on and is measured on. */
export interface TrainSource {
  readonly batches: BatchSource;
  /** Makes everything ready for the batch of `step`; rejects with the reason of `stop` when that fires first. */
  prepare(step: number, stop?: AbortSignal): Promise<void>;
  /** Number of textures of rendered scenes, generated ones included. */
  readonly textures?: number;
  /** Undefined for endless data. */
  readonly stepsPerEpoch: number | undefined;
  evaluate(evaluation: Evaluation): Promise<Readonly<Record<string, number>>>;
  /** A few stacks of the validation set, with the depth found in them. */
  examples(evaluation: Evaluation): Promise<readonly Example[]>;
  close(): Promise<void>;
}

/** Which part of the work this process does. */
export interface Share {
  readonly rank: number;
  readonly of: number;
}

export interface SourceOptions {
  readonly engine: TorchEngine;
  readonly config: TrainConfig;
  /** Folder of images, or a `.bin` file, for the surfaces of rendered scenes. */
  readonly textures?: string | undefined;
  /** Folder of a published set. */
  readonly data?: string | undefined;
  readonly share: Share;
  readonly progress: (line: string) => void;
}

export async function openSource(options: SourceOptions): Promise<TrainSource> {
  if (options.config.data.kind === "render") return renderSource(options);
  const { fileSource } = await import("./files/fileSource.ts"); // brings the image decoders, which rendering does without
  return fileSource(options);
}

const VALIDATION_SEED = 777;
const VALIDATION_BATCH = 16;
const EXAMPLES = 8;

/** Each process renders a pool of its own; together they hold `pool` stacks. */
async function renderSource({ engine, config, textures: path, share, progress }: SourceOptions): Promise<TrainSource> {
  const { data } = config;
  if (data.kind !== "render") throw new TypeError("renderSource: the data is not rendered");
  const textures = await loadTextures(path);
  progress(`${textures.count} textures`);
  const count = Math.ceil(data.pool / share.of);
  const seed = config.seed * 1000 + share.rank;
  let reported = 0;
  const onProgress = (done: number): void => {
    if (done < count && done - reported < count / 10) return;
    reported = done;
    progress(`rendered ${done} of ${count} stacks`);
  };
  const pool = createRenderPool(engine, { data, count, textures, split: "train", seed, onProgress });
  const held = heldPools(engine, data, textures);
  const counts = [...new Set([config.batch.planes[0] as number, data.planes])];
  return {
    batches: createPoolBatches(engine, pool, { ...config, share: share.rank }),
    prepare: (step, stop) => pool.advance(step, { stop }),
    textures: textures.count,
    stepsPerEpoch: undefined,
    async evaluate(evaluation) {
      const found: Record<string, number> = {};
      for (const [kind, pool] of held)
        for (const planes of counts) {
          const batches = poolBatches(engine, pool, { planes, crop: config.batch.crop, size: VALIDATION_BATCH, stop: evaluation.stop });
          for (const [name, value] of Object.entries(await evaluate(evaluation, batches)) as [keyof Metrics, number][])
            found[`${kind}${name}@${planes}`] = value;
        }
      return found;
    },
    async examples(evaluation) {
      const planes = config.batch.planes[0] as number;
      const options = { planes, crop: config.batch.crop, size: EXAMPLES, stop: evaluation.stop };
      for await (const batch of poolBatches(engine, [...held.values()].at(-1) as StackPool, options)) {
        const made = await exampleMaps(evaluation, batch);
        disposeBatch(batch);
        return made;
      }
      return [];
    },
    close: () => Promise.resolve(),
  };
}

/**
 * Stacks held out of training, by what precedes the names of their metrics. The first are the same for every recipe, so that runs compare;
 * where a recipe has phones, sweeps or light fields there are as many of these, every scene one of them; light fields are of the first's scenes.
 */
export function heldPools(
  engine: TorchEngine,
  { themes, phone, lightField, sweep, ...data }: RenderData,
  textures: TextureSet,
): ReadonlyMap<string, StackPool> {
  const { count, samples, size = data.size } = data.validation;
  const still = { ...data, samples, size, gather: { ...data.gather, gaussian: 0, powerExponential: 0 }, refresh: { every: 1, count: 0 } };
  const pool = (own: Pick<RenderData, "themes" | "phone" | "lightField" | "sweep">): StackPool =>
    createRenderPool(engine, { data: { ...still, ...own }, count, textures, split: "test", seed: VALIDATION_SEED });
  return new Map([
    ["", pool({})],
    ...(phone ? [["phone-", pool({ ...(themes && { themes }), phone: { ...phone, share: 1 } })] as const] : []),
    ...(sweep ? [["sweep-", pool({ ...(themes && { themes }), sweep: { ...sweep, share: 1 } })] as const] : []),
    ...(lightField ? [["light-field-", pool({ lightField: { ...lightField, share: 1 } })] as const] : []),
  ]);
}
