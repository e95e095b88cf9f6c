import type { Dataset, Sample } from "../../data/dataset.ts";
import { openDataset, type DatasetSource } from "../../data/open.ts";
import { compactPixels } from "../../data/pairSet.ts";
import { findSets, fitBatch } from "./fileSets.ts";
import type { HeldSets, SetReader, SetRequest, StackKind } from "./heldSets.ts";
import type { HostStack } from "./heldStacks.ts";

/** Sets of focal stacks, as readers of single stacks with as many planes as the largest batch has. */
export async function openStackSets(kind: StackKind, { batch: wanted, data, dir, progress }: SetRequest): Promise<HeldSets> {
  const sets = await findSets(kind, dir);
  const batch = fitBatch({ batch: wanted, data }, sets, progress);
  const options = { planes: Math.max(...batch.planes), depthScale: data.depthScale };
  const open = (sources: readonly DatasetSource[]): Promise<Dataset[]> =>
    Promise.all(sources.map((source) => openDataset(source.name, source.dir, { ...source.options, ...options })));
  const [train, validation] = [await open(sets.train), await open(sets.validation)];
  return {
    batch,
    train: stackReader(train),
    validation: stackReader(validation),
    unit: kind === "fod500" ? 1 : data.depthScale, // fod500's loader scales by itself
    isShared: sets.train.some((source) => sets.validation.includes(source)),
    close: () => {
      for (const dataset of [...train, ...validation]) dataset.close();
    },
  };
}

/** Sets one after another, as one. */
function stackReader(datasets: readonly Dataset[]): SetReader {
  const places = datasets.flatMap((dataset) => Array.from({ length: dataset.size }, (_, index) => ({ dataset, index })));
  return {
    count: places.length,
    read: async (place) => {
      const { dataset, index } = places[place] as (typeof places)[number];
      return fromSample(await dataset.sample(index));
    },
  };
}

function fromSample({ name, stack, trueDepth }: Sample): HostStack {
  const { width, height, values, valid } = trueDepth;
  const pictures = stack.images.map(compactPixels);
  return { name, width, height, pictures, depth: values, valid, focus: stack.focusDistances };
}
