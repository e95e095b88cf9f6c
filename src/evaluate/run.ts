import type { Sample } from "../data/dataset.ts";
import { meanMetrics } from "../metrics/meter.ts";
import { type ImageMetrics, measureImage } from "./imageMetrics.ts";
import type { Estimate, Predictor } from "./predictor.ts";
import type { EvaluationSet } from "./protocol.ts";
import { type ImageResult, memoryStore, type ResultStore } from "./results.ts";

/** One row of a table: one model on one set. */
export interface Evaluation {
  readonly dataset: string;
  readonly split: string;
  readonly protocol: string;
  readonly model: string;
  readonly images: number;
  readonly planes: number;
  readonly metrics: ImageMetrics;
  readonly secondsPerImage: number;
  readonly perImage: readonly ImageResult[];
}

/** An image with the prediction of every model. */
export interface Shown {
  readonly sample: Sample;
  readonly estimates: readonly { readonly model: string; readonly estimate: Estimate }[];
}

export interface RunOptions {
  /** Number of images, spread evenly over the set; default: all. */
  readonly limit?: number | undefined;
  /** Where results are stored, and which are there already. */
  readonly storeFor?: (predictor: Predictor) => Promise<ResultStore>;
  readonly onImage?: (progress: Progress) => void;
  /** Called with the first `show` images and their predictions, for the contact sheet. These are predicted even if their results are stored. */
  readonly show?: number;
  readonly onShown?: (shown: Shown) => Promise<void> | void;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly name: string;
  /** For the images whose results were not stored yet. */
  readonly secondsLeft: number;
}

/** Runs every predictor over every image of the set; an image is read once for all of them. */
export async function evaluate(set: EvaluationSet, predictors: readonly Predictor[], options: RunOptions = {}): Promise<Evaluation[]> {
  const { limit, storeFor = () => Promise.resolve(memoryStore()), onImage, show = 0, onShown } = options;
  const images = await listImages(set, { limit, show });
  const stores: ResultStore[] = [];
  for (const predictor of predictors) stores.push(await storeFor(predictor));
  const open = images.filter(({ mark, isShown }) => isShown || stores.some(({ done }) => !done.has(mark)));
  const started = performance.now();
  for (const [before, { index, mark, isShown }] of open.entries()) {
    const sample = await set.sample(index);
    const estimates: { model: string; estimate: Estimate }[] = [];
    for (const [i, predictor] of predictors.entries()) {
      const store = stores[i] as ResultStore;
      if (!isShown && store.done.has(mark)) continue;
      const { estimate, seconds } = await predictTimed(predictor, sample);
      if (isShown) estimates.push({ model: predictor.name, estimate });
      if (!store.done.has(mark)) await store.add(mark, { ...scored(set, { predictor, sample, estimate }), index, seconds });
    }
    if (isShown) await onShown?.({ sample, estimates });
    const worked = before + 1;
    const secondsLeft = (((performance.now() - started) / 1000) * (open.length - worked)) / worked;
    onImage?.({ done: images.length - open.length + worked, total: images.length, name: sample.name, secondsLeft });
  }
  return predictors.map((predictor, i) => summary(set, predictor, pickResults(stores[i] as ResultStore, images)));
}

/** An image that is to be measured. */
interface Listed {
  readonly index: number;
  readonly mark: string;
  readonly isShown: boolean;
}

async function listImages(set: EvaluationSet, { limit, show }: { limit: number | undefined; show: number }): Promise<Listed[]> {
  const images: Listed[] = [];
  for (const index of spreadIndices(set.size, limit)) images.push({ index, mark: await set.mark(index), isShown: images.length < show });
  return images;
}

/** `limit` of `size` indices, evenly, the first included. */
export function spreadIndices(size: number, limit = size): number[] {
  const count = Math.min(limit, size);
  return Array.from({ length: count }, (_, i) => Math.floor((i * size) / count));
}

async function predictTimed(predictor: Predictor, sample: Sample): Promise<{ estimate: Estimate; seconds: number }> {
  const started = performance.now();
  const estimate = await predictor.predict(sample.stack);
  return { estimate, seconds: (performance.now() - started) / 1000 };
}

/** Errors name the image and the model. */
function scored(
  { name, scoring }: EvaluationSet,
  { predictor, sample, estimate }: { predictor: Predictor; sample: Sample; estimate: Estimate },
): Pick<ImageResult, "name" | "planes" | "metrics"> {
  try {
    return { name: sample.name, planes: sample.stack.images.length, metrics: measureImage(sample, estimate, scoring) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RangeError(`${name}, image ${sample.name}, model ${predictor.name}: ${reason}`, { cause });
  }
}

/** The index of an image may have changed since an earlier run stored its result. */
const pickResults = ({ done }: ResultStore, images: readonly Listed[]): ImageResult[] =>
  images.flatMap(({ index, mark }) => {
    const result = done.get(mark);
    return result ? [{ ...result, index }] : [];
  });

function summary({ name, split, protocol }: EvaluationSet, predictor: Predictor, perImage: readonly ImageResult[]): Evaluation {
  const mean = (value: (result: ImageResult) => number): number => perImage.reduce((sum, each) => sum + value(each), 0) / perImage.length;
  return {
    dataset: name,
    split,
    protocol,
    model: predictor.name,
    images: perImage.length,
    planes: mean(({ planes }) => planes),
    metrics: meanMetrics(perImage.map(({ metrics }) => metrics)),
    secondsPerImage: mean(({ seconds }) => seconds),
    perImage,
  };
}
