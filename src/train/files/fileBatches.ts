import type { TorchEngine, TorchTensor } from "../../engine/torch/torchEngine.ts";
import { createRandom, type Random } from "../../random.ts";
import type { AugmentConfig, BatchConfig } from "../config.ts";
import { exposed, misaligned, randomTensors, sampled, stacksFor, wholeFrames } from "../deviceAugment.ts";

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
