import { planBatches, shuffledOrder, type BatchPlan, type StackOrder } from "./batchPlan.ts";
import { drawFlips, drawWindow } from "./crops.ts";
import { centralWindow } from "../../image/crop.ts";
import { scope } from "../../engine/scope.ts";
import { DualFocusError } from "../../errors.ts";
import type { TorchEngine, TorchTensor } from "../../engine/torch/torchEngine.ts";
import { SIZE_MULTIPLE } from "../../model/encoder.ts";
import { spaced } from "../../optics/synthesize/focus.ts";
import { createRandom, type Random } from "../../random.ts";
import { choosePlanes } from "../../stack/focalStack.ts";
import { disposeBatch, type TrainBatch } from "../batch.ts";
import { ConfigError, type TrainConfig } from "../config.ts";
import { changeImages } from "../deviceAugment.ts";
import { evaluate, type Metrics } from "../evaluate.ts";
import { exampleMaps } from "../examples.ts";
import { cutBatch, type Choice, type Cut } from "./heldBatches.ts";
import { checkCrop, describeSets, openHeldSets, type FileData, type HeldSets } from "./heldSets.ts";
import { holdStacks, type HeldStack, type HeldStacks } from "./heldStacks.ts";
import type { BatchSource } from "../loop.ts";
import type { Example } from "../report.ts";
import type { Share, SourceOptions, TrainSource } from "../source.ts";

const EXAMPLES = 8;
const MEMORY_SHARE = 0.5; // of what is free; the rest is for the step

/**
 * Stacks from files, of a published set or a plain folder: decoded once and held on the device, where batches are cut out of them and
 * RGB-D pairs are blurred: what the loaders give, cropped and flipped, to rounding.
 */
export async function fileSource({ engine, config, data: dir, share, progress }: SourceOptions): Promise<TrainSource> {
  const { data, seed } = config;
  if (data.kind === "render") throw new TypeError("fileSource: the data is rendered");
  if (dir === undefined) throw new DualFocusError("no-dataset-folder", `${data.kind}: the folder of the dataset is missing`);
  if (config.augment.dioptres > 0)
    throw new ConfigError("augment.dioptres is for rendered data only, for depth from files keeps its unit: set it to 0");
  if ((config.augment.beyond ?? 0) > 0)
    throw new ConfigError("augment.beyond is for rendered data only, for sets have masks of their own: set it to 0");
  const sets = await openHeldSets({ batch: config.batch, data, dir, progress });
  try {
    const plan = planBatches(sets.batch, seed);
    const stepsPerEpoch = sets.train.count / (share.of * plan.meanSize);
    checkBudget(config, stepsPerEpoch);
    for (const line of describeSets(sets)) progress(line);
    const order = shuffledOrder(sets.train.count, { seed, share });
    const { held, validation } = await holdSets(engine, sets, { data, plan, order, progress });
    const options = { engine, config: { ...config, batch: sets.batch }, data, sets };
    const prepare = async (step: number, stop?: AbortSignal): Promise<void> => {
      await held.advance(step, stop);
      await validation.advance(0, stop);
    };
    return {
      batches: batchSource({ ...options, share, held, plan, order }),
      prepare,
      stepsPerEpoch,
      async evaluate(evaluation) {
        await validation.advance(0, evaluation.stop);
        const found: Record<string, number> = {};
        for (const planes of new Set([sets.batch.planes[0] as number, Math.max(...sets.batch.planes)])) {
          const metrics = await evaluate(evaluation, validationBatches({ ...options, held: validation }, planes));
          for (const [name, value] of Object.entries(metrics) as [keyof Metrics, number][]) found[`${name}@${planes}`] = value;
        }
        return found;
      },
      async examples(evaluation) {
        await validation.advance(0, evaluation.stop);
        const made: Example[] = [];
        let slot = 0;
        for (const batch of validationBatches({ ...options, held: validation }, sets.batch.planes[0] as number)) {
          made.push(...(await exampleMaps(evaluation, batch, [validation.at(slot++).name])));
          disposeBatch(batch);
          if (slot === EXAMPLES || evaluation.stop?.aborted) break; // one shows enough of a run that is to end now
        }
        return made;
      },
      close: () => {
        sets.close();
        held.dispose();
        validation.dispose();
        return Promise.resolve();
      },
    };
  } catch (error) {
    sets.close();
    throw error;
  }
}

interface Holding {
  readonly data: FileData;
  readonly plan: BatchPlan;
  readonly order: StackOrder;
  readonly progress: (line: string) => void;
}

/** The stacks to train on, some at a time where memory is short, and all of those to validate on. */
async function holdSets(
  engine: TorchEngine,
  sets: HeldSets,
  { data, plan, order, progress }: Holding,
): Promise<{ readonly held: HeldStacks; readonly validation: HeldStacks }> {
  const budget = data.memory === undefined ? MEMORY_SHARE * engine.memory().free : 1e9 * data.memory;
  const count = Math.min(data.validation.count, sets.validation.count);
  const validation = await holdStacks(engine, {
    ...sets.validation,
    count,
    order: (place) => place,
    check: () => undefined,
    budget: budget / 2,
    least: count,
    remedy: "lower data.validation.count, or raise data.memory (GB)",
    progress,
  });
  const held = await holdStacks(engine, {
    ...sets.train,
    order: (place) => order(place).index,
    check: (stack) => {
      checkCrop(stack, { batch: sets.batch, data });
    },
    budget: budget - validation.bytes,
    least: plan.largest,
    remedy: "lower batch.size, or raise data.memory (GB)",
    progress,
  });
  return { held, validation };
}

function checkBudget({ budget, batch }: TrainConfig, stepsPerEpoch: number): void {
  if ("epochs" in budget && Math.round(budget.epochs * stepsPerEpoch) === 0)
    throw new ConfigError(
      `budget.epochs=${budget.epochs} is less than one batch of ${batch.size}: raise it, give budget.steps, or lower batch.size`,
    );
}

interface Options {
  readonly engine: TorchEngine;
  readonly config: TrainConfig;
  readonly data: FileData;
  readonly sets: HeldSets;
  readonly held: HeldStacks;
}

interface BatchOptions extends Options {
  readonly share: Share;
  readonly plan: BatchPlan;
  readonly order: StackOrder;
}

/** DFV's and the paper's crops and flips (§4.1), and DFV's mask; of the pictures of RGB-D sets also their tone and whose depth they get. */
function batchSource({ engine, config, data, sets, held, share, plan, order }: BatchOptions): BatchSource {
  const { augment, seed } = config;
  const [root, random] = [createRandom(seed), createRandom(seed).split(`augment ${share.rank}`)];
  const crop = { crop: config.batch.crop, ...(data.kind === "ddff12" && { validShare: 0.8 }) }; // DFV's loader
  const cut = (slot: number, own: Random): Cut => ({
    slot,
    window: drawWindow(truthOf(held.at(slot)), crop, own),
    mirrored: drawFlips(own),
  });
  const choose = (place: number, { planes, reversed }: { planes: number; reversed: boolean }): Choice => {
    const { index, position } = order(place);
    const own = root.split(`sample ${position}`);
    const slot = held.rolling ? own.split("slot").integer(held.size) : index;
    const chosen = { ...cut(slot, own), reversed, ...focusOf(held.at(slot), planes, sets) };
    if (!sets.camera) return chosen;
    const depthFactor = factorOf(data.depthFactor, own.split("depth"));
    const foreign = own.split("foreign");
    const isForeign = foreign.uniform() < (data.foreignDepth ?? 0);
    const scaled = depthFactor !== undefined && {
      depthFactor,
      focusDistances: chosen.focusDistances.map((distance) => distance * depthFactor),
    };
    return {
      ...chosen,
      ...scaled,
      ...toneOf(augment, own.split("tone")),
      ...(isForeign && { picture: cut(foreign.integer(held.size), foreign) }),
    };
  };
  const later = sets.camera ? { ...augment, gamma: UNCHANGED, colour: UNCHANGED } : augment;
  return {
    async batch(step) {
      await held.advance(step);
      const { from, size, planes } = plan.at(step);
      const own = random.split(step);
      const choices = Array.from({ length: size }, (_, i) => choose(from + i, { planes, reversed: own.uniform() < augment.reverse }));
      const batch = cutBatch(engine, held, choices, { unit: sets.unit, camera: sets.camera, focusRangeOnly: true });
      return engine.noGradient(() =>
        scope(() => {
          const images = changeImages(engine, batch.images as TorchTensor, { augment: later, random: own });
          if (images !== batch.images) batch.images.dispose();
          return { ...batch, images };
        }),
      );
    },
  };
}

const UNCHANGED = [1, 1] as const;

const truthOf = ({ width, height, valid }: HeldStack) => ({ width, height, valid: valid ?? new Uint8Array(0) });

/** Focus distances evenly over the depth of a sharp picture, or of evenly spread planes of a stack. */
function focusOf({ focus }: HeldStack, planes: number, { camera }: Pick<HeldSets, "camera">): Pick<Choice, "focusDistances" | "planes"> {
  if (camera) return { focusDistances: spaced({ from: focus[0] as number, to: focus[1] as number, planes }) };
  const chosen = choosePlanes(focus.length, planes);
  return { planes: chosen, focusDistances: chosen.map((plane) => focus[plane] as number) };
}

/** Evenly in the logarithm. */
const factorOf = (range: FileData["depthFactor"], random: Random): number | undefined =>
  range && range[0] * (range[1] / range[0]) ** random.uniform();

function toneOf({ gamma, colour }: TrainConfig["augment"], random: Random): Pick<Choice, "tone"> {
  if ([...gamma, ...colour].every((end) => end === 1)) return {};
  const between = ([low, high]: readonly [number, number]): number => low + (high - low) * random.uniform();
  return { tone: { gamma: between(gamma), gains: [between(colour), between(colour), between(colour)] } };
}

/** Whole pictures one at a time, as the sets are tested; cut to what the network can take. */
function* validationBatches({ engine, sets, held }: Options, planes: number): Generator<TrainBatch> {
  for (let slot = 0; slot < held.size; slot++) {
    const stack = held.at(slot);
    const fitting = (size: number): number => size - (size % SIZE_MULTIPLE);
    const window = centralWindow(stack, { width: fitting(stack.width), height: fitting(stack.height) });
    const choice = { slot, window, mirrored: { columns: false, rows: false }, reversed: false, ...focusOf(stack, planes, sets) };
    yield cutBatch(engine, held, [choice], { unit: sets.unit, camera: sets.camera, focusRangeOnly: false });
  }
}
