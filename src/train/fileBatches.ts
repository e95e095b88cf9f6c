import type { Batch } from "../data/collate.ts";
import type { Tensor } from "../engine/engine.ts";
import type { TorchEngine, TorchTensor } from "../engine/torch.ts";
import { createRandom, type Random } from "../random.ts";
import { choosePlanes } from "../stack.ts";
import type { AugmentConfig, BatchConfig } from "./config.ts";
import { stacksFor } from "./deviceAugment.ts";
import type { TrainBatch } from "./trainer.ts";

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
export function toDevice(engine: TorchEngine, { batch: B, planes: N, height: H, width: W, ...values }: Batch, unit: number): TrainBatch {
  const scaled = (lengths: Float32Array): Float32Array => (unit === 1 ? lengths : lengths.map((length) => length * unit));
  return {
    images: engine.constant(values.images, { shape: [B, N, 3, H, W] }),
    focusDistances: engine.constant(scaled(values.focusDistances), { shape: [B, N] }),
    trueDepth: engine.constant(scaled(values.trueDepth), { shape: [B, 1, H, W] }),
    valid: engine.constant(values.valid, { shape: [B, 1, H, W] }),
  };
}

/** The pictures moved, toned and grained as the settings say, with the meaning they have for rendered stacks. Settings that are off cost nothing. */
export function changeImages(engine: TorchEngine, images: Tensor, { augment, random }: { augment: AugmentConfig; random: Random }): Tensor {
  return exposed(engine, misaligned(engine, images, { augment, random: random.split("misalign") }), {
    augment,
    random: random.split("expose"),
  });
}

interface Change {
  readonly augment: AugmentConfig;
  readonly random: Random;
}

const repeat = (count: number, draw: () => number): number[] => Array.from({ length: count }, draw);

/** What an alignment leaves over: for some of the stacks, a shift and a scale of each plane, around the picture's middle. */
function misaligned(engine: TorchEngine, images: Tensor, { augment: { misalign, shift, scale }, random }: Change): Tensor {
  if (misalign === 0) return images;
  const [B, N, C, H, W] = images.shape as [number, number, number, number, number];
  const matrices = repeat(B, () => (random.uniform() < misalign ? 1 : 0)).flatMap((moved) => {
    const away = (deviation: number): number => moved * deviation * random.normal();
    const matrix = (size: number): number[] => [size, 0, away((shift * 2) / W), 0, size, away((shift * 2) / H)];
    return Array.from({ length: N }, () => matrix(1 + away(scale))).flat();
  });
  const shape = [B * N, C, H, W];
  const grid = engine.compute("aten::affine_grid_generator", engine.constant(matrices, { shape: [B * N, 2, 3] }), shape, false);
  const [bilinear, reflection] = [0, 2];
  return engine.compute("aten::grid_sampler", images.reshape(shape), grid, bilinear, reflection, false).reshape(images.shape);
}

/** Gamma, colour and the greatest noise of the whole stack, brightness of each plane; then what a sensor clips. */
function exposed(engine: TorchEngine, images: Tensor, { augment, random }: Change): Tensor {
  const { gamma, colour, exposure, noise } = augment;
  if (noise === 0 && [gamma, colour, exposure].every(([low, high]) => low === 1 && high === 1)) return images;
  const [B, N] = images.shape as [number, number];
  const between =
    ([low, high]: readonly [number, number]) =>
    (): number =>
      low + (high - low) * random.uniform();
  const drawn = (draw: () => number, shape: readonly number[]): TorchTensor =>
    engine.constant(
      repeat(
        shape.reduce((a, b) => a * b, 1),
        draw,
      ),
      { shape },
    );
  const exponent = drawn(between(gamma), [B, 1, 1, 1, 1]);
  const gain = drawn(between(colour), [B, 1, 3, 1, 1]).mul(drawn(between(exposure), [B, N, 1, 1, 1]));
  const light = engine.compute("aten::pow.Tensor_Tensor", images.maximum(1e-4), exponent).mul(gain);
  if (noise === 0) return light.clamp({ min: 0, max: 1 });
  engine.seed(random.integer(0x80000000));
  const grain = engine.compute("aten::randn", images.shape, "f32", null, engine.device);
  return light.add(grain.mul(drawn(() => noise * random.uniform() ** 2, [B, 1, 1, 1, 1]))).clamp({ min: 0, max: 1 });
}
