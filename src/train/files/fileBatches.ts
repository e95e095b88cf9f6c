import type { Batch } from "./collate.ts";
import type { TorchEngine, TorchTensor } from "../../engine/torch/torchEngine.ts";
import { createRandom, type Random } from "../../random.ts";
import { choosePlanes } from "../../stack/focalStack.ts";
import type { AugmentConfig, BatchConfig } from "../config.ts";
import { exposed, misaligned, randomTensors, sampled, stacksFor, wholeFrames } from "../deviceAugment.ts";
import type { TrainBatch } from "../trainer.ts";

/** How the stacks of a set, one after another without end, are dealt out to steps. */
export interface Deal {
  /** The stacks of a step, by their place in the stream, and the planes each is to have. */
  at(step: number): { readonly from: number; readonly size: number; readonly planes: number };
  readonly largest: number;
  readonly meanSize: number;
}

/** Each batch draws one of the plane counts; with more planes it has fewer stacks. The same for every process. */
export function dealStacks(batch: BatchConfig, seed: number): Deal {
  const { planes: counts, size } = batch;
  const random = createRandom(seed).split("planes");
  const planesAt = (step: number): number => counts[random.split(step).integer(counts.length)] as number;
  const sizeFor = (planes: number): number => (planes === counts[0] ? size : stacksFor(batch, planes));
  const sizes = counts.map(sizeFor);
  const starts = [0]; // of every step up to the last one asked for
  return {
    at(step) {
      for (let next = starts.length; next <= step; next++) starts.push((starts[next - 1] as number) + sizeFor(planesAt(next - 1)));
      const planes = planesAt(step);
      return { from: starts[step] as number, size: sizeFor(planes), planes };
    },
    largest: Math.max(...sizes),
    meanSize: sizes.reduce((sum, each) => sum + each, 0) / sizes.length,
  };
}

/** Single stacks side by side: evenly spread `planes` of each, both ends among them; where `reversed`, near and far change places. */
export function joinStacks(stacks: readonly Batch[], { planes, reversed }: { planes: number; reversed: readonly boolean[] }): Batch {
  const { height = 0, width = 0, planes: all = 0 } = stacks[0] ?? {};
  const [pixels, chosen] = [height * width, choosePlanes(all, planes)];
  const images = new Float32Array(stacks.length * planes * 3 * pixels);
  const focusDistances = new Float32Array(stacks.length * planes);
  const trueDepth = new Float32Array(stacks.length * pixels);
  const valid = new Float32Array(stacks.length * pixels);
  for (const [b, stack] of stacks.entries()) {
    const turned = reversed[b] === true;
    const ends = (stack.focusDistances[0] as number) + (stack.focusDistances[all - 1] as number);
    for (const [n, plane] of (turned ? chosen.toReversed() : chosen).entries()) {
      const distance = stack.focusDistances[plane] as number;
      focusDistances[b * planes + n] = turned ? ends - distance : distance;
      images.set(stack.images.subarray(plane * 3 * pixels, (plane + 1) * 3 * pixels), (b * planes + n) * 3 * pixels);
    }
    trueDepth.set(turned ? stack.trueDepth.map((depth, i) => (stack.valid[i] ? ends - depth : 0)) : stack.trueDepth, b * pixels);
    valid.set(stack.valid, b * pixels);
  }
  const [spaces, names] = [stacks.flatMap((stack) => stack.spaces), stacks.flatMap((stack) => stack.names)];
  return { batch: stacks.length, planes, height, width, images, focusDistances, trueDepth, valid, spaces, names };
}

/** `unit` multiplies depth and focus distances. */
export function toDevice(
  engine: TorchEngine,
  { batch: B, planes: N, height: H, width: W, ...values }: Batch,
  unit: number,
): TrainBatch & { readonly images: TorchTensor } {
  const scaled = (lengths: Float32Array): Float32Array => (unit === 1 ? lengths : lengths.map((length) => length * unit));
  return {
    images: engine.constant(values.images, { shape: [B, N, 3, H, W] }),
    focusDistances: engine.constant(scaled(values.focusDistances), { shape: [B, N] }),
    trueDepth: engine.constant(scaled(values.trueDepth), { shape: [B, 1, H, W] }),
    valid: engine.constant(values.valid, { shape: [B, 1, H, W] }),
  };
}

interface Change {
  readonly augment: AugmentConfig;
  readonly random: Random;
}

/** The pictures moved, toned and grained as rendered stacks are, each plane a shot of its own. Settings that are off cost nothing. */
export function changeImages(engine: TorchEngine, images: TorchTensor, { augment, random }: Change): TorchTensor {
  const { misalign, gamma, colour, exposure, noise } = augment;
  const isMoved = misalign > 0;
  const isToned = noise > 0 || [gamma, colour, exposure].some(([low, high]) => low !== 1 || high !== 1);
  if (!isMoved && !isToned) return images;
  const [B, N, C, H, W] = images.shape as [number, number, number, number, number];
  const severalShots = engine.full([B, 1], 1);
  engine.seed(random.integer(0x80000000));
  const draw = randomTensors(engine);
  const move = (): TorchTensor => {
    const frames = misaligned(draw, wholeFrames(engine, { B, H, W }), { N, augment, size: W, severalShots }); // crops are square
    return sampled(engine, images.reshape([B * N, C, H, W]), frames, "bilinear").reshape(images.shape);
  };
  const moved = isMoved ? move() : images;
  return isToned ? exposed(draw, moved, { augment, severalShots }) : moved;
}
