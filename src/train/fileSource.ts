import { augment as augmentSample, type AugmentOptions } from "../data/augment.ts";
import { openBatches } from "../data/batches.ts";
import { collate, type Batch } from "../data/collate.ts";
import type { DatasetOptions } from "../data/dataset.ts";
import { openDataset } from "../data/open.ts";
import { createRandom } from "../random.ts";
import type { TorchEngine } from "../engine/torch.ts";
import { ConfigError, type TrainConfig } from "./config.ts";
import { evaluate } from "./evaluate.ts";
import type { SourceOptions, TrainSource } from "./source.ts";
import type { TrainBatch } from "./trainer.ts";

type FileData = Exclude<TrainConfig["data"], { kind: "render" }>;

const WORKERS = 2;

/** A published set on disk, read and augmented on the host ahead of the step that needs it. */
export async function fileSource({ engine, config, data: dir, share }: SourceOptions): Promise<TrainSource> {
  const { data, batch } = config;
  if (data.kind === "render") throw new TypeError("fileSource: the data is rendered");
  if (dir === undefined) throw new ConfigError(`the ${data.kind} data is read from disk: give its folder with --data DIR`);
  const [planes = 5] = batch.planes;
  const options: DatasetOptions = { planes, depthScale: data.depthScale };
  const batches = await openBatches([{ name: data.kind, dir, options: { ...options, split: data.kind === "folder" ? "all" : "train" } }], {
    batchSize: batch.size,
    seed: config.seed,
    shard: { rank: share.rank, worldSize: share.of },
    augment: hostAugment(config),
    workers: WORKERS,
  });
  return {
    batches: { batch: async (step) => toDevice(engine, await batches.batch(step)) },
    prepare: () => Promise.resolve(),
    stepsPerEpoch: batches.stepsPerEpoch,
    evaluate: async (evaluation) => ({ ...(await evaluate(evaluation, validation(engine, { dir, data, options, crop: batch.crop }))) }),
    examples: () => Promise.resolve([]),
    close: () => batches.close(),
  };
}

/** DFV's and the paper's crops and flips (§4.1), and whatever else the configuration turns on. */
function hostAugment({ batch, augment, data }: TrainConfig): AugmentOptions {
  return {
    crop: batch.crop,
    flip: true,
    focusRangeOnly: true,
    ...(data.kind === "ddff12" && { validShare: 0.8 }), // DFV's loader
    ...(augment.misalign > 0 && { misalignment: { shift: augment.shift, scale: augment.scale, turn: 0 } }),
    ...(augment.gamma[1] > 1 && { gamma: augment.gamma[1] }),
    ...(augment.colour[1] > 1 && { colour: augment.colour[1] - 1 }),
    ...(augment.exposure[1] > 1 && { exposure: augment.exposure[1] - 1 }),
    ...(augment.noise > 0 && { noise: augment.noise }),
    ...(augment.reverse > 0 && { mirrorPlanes: true }),
  };
}

function toDevice(engine: TorchEngine, { batch: B, planes: N, height: H, width: W, ...values }: Batch): TrainBatch {
  return {
    images: engine.constant(values.images, { shape: [B, N, 3, H, W] }),
    focusDistances: engine.constant(values.focusDistances, { shape: [B, N] }),
    trueDepth: engine.constant(values.trueDepth, { shape: [B, 1, H, W] }),
    valid: engine.constant(values.valid, { shape: [B, 1, H, W] }),
  };
}

interface Validation {
  readonly dir: string;
  readonly data: FileData;
  readonly options: DatasetOptions;
  readonly crop: number;
}

/** Whole pictures one at a time, as the sets are tested; crops of a plain folder, whose pictures may have any size. */
async function* validation(engine: TorchEngine, { dir, data, options, crop }: Validation): AsyncGenerator<TrainBatch> {
  const split = { nyu: "test", fod500: "test", ddff12: "val", folder: "all" } as const;
  const dataset = await openDataset(data.kind, dir, { ...options, pad: true, split: split[data.kind] });
  const random = createRandom(1);
  try {
    for (let i = 0; i < Math.min(dataset.size, data.validation.count); i++) {
      const sample = await dataset.sample(i);
      yield toDevice(engine, collate([data.kind === "folder" ? augmentSample(sample, { crop }, random.split(i)) : sample]));
    }
  } finally {
    dataset.close();
  }
}
