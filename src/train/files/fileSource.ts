import { augment as augmentSample, type AugmentOptions } from "./augment.ts";
import { openBatches, type Batches } from "./batches.ts";
import { collate } from "./collate.ts";
import type { Sample } from "../../data/dataset.ts";
import { openDataset, type DatasetSource } from "../../data/open.ts";
import { scope } from "../../engine/scope.ts";
import type { TorchEngine } from "../../engine/torch/torchEngine.ts";
import { createRandom } from "../../random.ts";
import { ConfigError, type TrainConfig } from "../config.ts";
import { evaluate } from "../evaluate.ts";
import { exampleMaps } from "../examples.ts";
import { changeImages, dealStacks, joinStacks, toDevice, type Deal } from "./fileBatches.ts";
import { describeSets, findSets, fitBatch, type FileData } from "./fileSets.ts";
import type { BatchSource } from "../loop.ts";
import type { Example } from "../report.ts";
import type { Share, SourceOptions, TrainSource } from "../source.ts";
import type { TrainBatch } from "../trainer.ts";

const EXAMPLES = 8;

/**
 * Stacks on disk, of a published set or a plain folder: read, cropped and flipped in threads ahead of the step that needs them. How many
 * `workers` there are changes only the speed; without any, it happens here.
 */
export async function fileSource(
  { engine, config, data: dir, share, progress }: SourceOptions,
  { workers = 2 }: { readonly workers?: number } = {},
): Promise<TrainSource> {
  const { data, seed } = config;
  if (data.kind === "render") throw new TypeError("fileSource: the data is rendered");
  if (dir === undefined) throw new ConfigError(`the ${data.kind} data is read from disk: give its folder with --data DIR`);
  if (config.augment.dioptres > 0)
    throw new ConfigError("augment.dioptres is for rendered data only, for depth from files keeps its unit: set it to 0");
  const sets = await findSets(data.kind, dir);
  const batch = fitBatch(config, sets, progress);
  const deal = dealStacks(batch, seed);
  const stepsPerEpoch = sets.stacks.train / (share.of * deal.meanSize);
  checkBudget(config, stepsPerEpoch);
  for (const line of describeSets(sets, batch)) progress(line);
  const withPlanes = (sources: readonly DatasetSource[], planes: number): DatasetSource[] =>
    sources.map(({ options, ...source }) => ({ ...source, options: { ...options, planes, depthScale: data.depthScale } }));
  const stacks = await openBatches(withPlanes(sets.train, Math.max(...batch.planes)), {
    batchSize: 1, // joined by step, whose batches differ in size
    seed,
    shard: { rank: share.rank, worldSize: share.of },
    augment: hostAugment(config),
    workers,
    prefetch: 2 * deal.largest,
  });
  const validation = { engine, config, data, sources: withPlanes(sets.validation, batch.planes[0] as number) };
  return {
    batches: batchSource({ engine, config, data, share, stacks, deal }),
    prepare: () => Promise.resolve(),
    stepsPerEpoch,
    evaluate: async (evaluation) => ({ ...(await evaluate(evaluation, validationBatches(validation))) }),
    async examples(evaluation) {
      const made: Example[] = [];
      for await (const { name, ...batch } of validationBatches(validation, EXAMPLES)) {
        made.push(...(await exampleMaps(evaluation, batch, [name])));
        for (const tensor of Object.values(batch)) tensor.dispose();
        if (evaluation.stop?.aborted) break; // one shows enough of a run that is to end now
      }
      return made;
    },
    close: () => stacks.close(),
  };
}

function checkBudget({ budget, batch }: TrainConfig, stepsPerEpoch: number): void {
  if ("epochs" in budget && Math.round(budget.epochs * stepsPerEpoch) === 0)
    throw new ConfigError(
      `budget.epochs=${budget.epochs} is less than one batch of ${batch.size}: raise it, give budget.steps, or lower batch.size`,
    );
}

/** DFV's and the paper's crops and flips (§4.1), and DFV's mask. */
const hostAugment = ({ batch, data }: TrainConfig): AugmentOptions => ({
  crop: batch.crop,
  flip: true,
  focusRangeOnly: true,
  ...(data.kind === "ddff12" && { validShare: 0.8 }), // DFV's loader
});

/** Depth and focus distances of these stacks are still to be multiplied by this. */
const unitOf = ({ kind, depthScale }: FileData): number => (kind === "fod500" ? 1 : depthScale); // fod500's loader scales by itself

interface FileBatches {
  readonly engine: TorchEngine;
  readonly config: TrainConfig;
  readonly data: FileData;
  readonly share: Share;
  readonly stacks: Batches;
  readonly deal: Deal;
}

function batchSource({ engine, config: { augment, seed }, data, share, stacks, deal }: FileBatches): BatchSource {
  const random = createRandom(seed).split(`augment ${share.rank}`);
  return {
    async batch(step) {
      const { from, size, planes } = deal.at(step);
      const read = await Promise.all(Array.from({ length: size }, (_, i) => stacks.batch(from + i)));
      const own = random.split(step);
      const reversed = read.map(() => own.uniform() < augment.reverse);
      const joined = joinStacks(read, { planes, reversed });
      return engine.noGradient(() =>
        scope(() => {
          const { images, ...rest } = toDevice(engine, joined, unitOf(data));
          return { images: changeImages(engine, images, { augment, random: own }), ...rest };
        }),
      );
    },
  };
}

interface Validation {
  readonly engine: TorchEngine;
  readonly config: TrainConfig;
  readonly data: FileData;
  readonly sources: readonly DatasetSource[];
}

async function* validationBatches(
  { engine, config, data, sources }: Validation,
  most = Infinity,
): AsyncGenerator<TrainBatch & { readonly name: string }> {
  const crop = data.kind === "folder" ? config.batch.crop : undefined;
  for await (const sample of validationSamples(sources, { count: Math.min(most, data.validation.count), crop }))
    yield { name: sample.name, ...toDevice(engine, collate([sample]), unitOf(data)) };
}

/** Whole pictures one at a time, as the sets are tested; crops of a plain folder, whose pictures may have any size. */
async function* validationSamples(
  sources: readonly DatasetSource[],
  { count, crop }: { readonly count: number; readonly crop: number | undefined },
): AsyncGenerator<Sample> {
  const random = createRandom(1);
  let made = 0;
  for (const { name, dir, options } of sources) {
    if (made === count) return;
    const dataset = await openDataset(name, dir, options);
    try {
      for (let i = 0; i < dataset.size && made < count; i++, made++) {
        const sample = await dataset.sample(i);
        yield crop === undefined ? sample : augmentSample(sample, { crop }, random.split(made));
      }
    } finally {
      dataset.close();
    }
  }
}
