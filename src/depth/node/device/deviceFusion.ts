import { hasMoved } from "../../../align/alignedRows.ts";
import { linearOf, type Similarity } from "../../../align/similarity.ts";
import { DeviceLimitError } from "../../../engine/errors.ts";
import { keep, scope } from "../../../engine/scope.ts";
import type { TorchEngine, TorchTensor } from "../../../engine/torch/torchEngine.ts";
import type { Plane } from "../../../image/boxFilter.ts";
import type { Image, Size } from "../../../image/image.ts";
import { LEAST_ENERGY, levelSizes, RESERVE, type Shape } from "../../allInFocus/fusion.ts";
import { planePrior, type PlaneMaps } from "../../allInFocus/prior.ts";
import type { CreateStackFusion, Frame } from "../../allInFocus/stackFusion.ts";
import { expanded, reduced } from "./pyramid.ts";
import { alignedOn } from "./warp.ts";

/** A level of the result on the device: the strongest detail so far [C, h, w] and its score [1, h, w]; see `Level`. */
interface DeviceLevel extends Size {
  readonly data: TorchTensor;
  readonly score: TorchTensor;
}

/** What a frame that has moved takes at its peak, positions in double precision included: 204 were measured. */
const BYTES_PER_PIXEL = 256;

/**
 * The all-in-focus image on the engine's device: the same steps as `addPlane`, each over the whole image, warp included. The result is that
 * of the CPU up to rounding: where two planes show a detail equally strongly, the other one may win. If the device has too little memory
 * free, it is computed by `otherwise`, and if the device reaches a limit later, the caller repeats it so.
 */
export const deviceFusion = (engine: TorchEngine, otherwise: CreateStackFusion): CreateStackFusion => {
  const create: CreateStackFusion = (shape, probability, options) => {
    if (available(engine) < BYTES_PER_PIXEL * shape.width * shape.height) return otherwise(shape, probability, options);
    const prior = planePrior(probability, options);
    const levels = createLevels(engine, shape);
    if (!levels) return otherwise(shape, probability, options);
    const add = (frame: Frame, plane: number): void => {
      scope(() => {
        addFrame(levels, frame, prior.maps(plane));
      });
    };
    return {
      add: (frame, plane) => Promise.resolve().then(() => { add(frame, plane); }), // prettier-ignore
      finish: () => Promise.resolve().then(() => scope(() => collapsed(levels))),
      close() {
        for (const tensor of tensorsOf(levels)) tensor.dispose();
        return Promise.resolve();
      },
    };
  };
  return Object.assign(create, { otherwise });
};

/** Bytes that tensors can take: what nobody has, and on CUDA what libtorch keeps for the next tensors. */
function available(engine: TorchEngine): number {
  const { free, reserved, allocated } = engine.memory();
  return engine.device === "cpu" ? free : free + reserved - allocated;
}

/** Undefined if the device's memory does not suffice; nothing is left of them then. */
function createLevels(engine: TorchEngine, shape: Shape): readonly DeviceLevel[] | undefined {
  try {
    return scope(() => {
      const levels = levelSizes(shape).map(({ width, height }): DeviceLevel => {
        const zeros = (channels: number): TorchTensor => engine.full([channels, height, width], 0);
        return { width, height, data: zeros(shape.channels), score: zeros(1) };
      });
      for (const tensor of tensorsOf(levels)) keep(tensor); // not before all are made
      return levels;
    });
  } catch (error) {
    if (error instanceof DeviceLimitError) return undefined;
    throw error;
  }
}

const tensorsOf = (levels: readonly DeviceLevel[]): TorchTensor[] => levels.flatMap(({ data, score }) => [data, score]);

function addFrame(levels: readonly DeviceLevel[], { image, alignment, isReference }: Frame, maps: PlaneMaps): void {
  const [{ data }] = levels as readonly [DeviceLevel];
  const transform = alignment && hasMoved(alignment.transform) ? alignment.transform : undefined;
  const least = alignment && isReference ? RESERVE : 0;
  const [choice, share] = [fitted(data.engine, maps.choice), fitted(data.engine, maps.share)];
  let samples = alignedOn(data.engine, image, alignment);
  levels.forEach((level, n) => {
    const scale = 2 ** n;
    const within = (weight: TorchTensor, margin: number): TorchTensor =>
      transform ? weight.mul(covered(transform, level, { of: image, scale, margin: margin * scale })) : weight;
    if (n === levels.length - 1) addShare(level, samples, within(share(level), 2));
    else {
      const smaller = reduced(samples);
      chooseStrongest(level, samples.sub(expanded(smaller, level)), within(choice(level).clamp({ min: least }), 3));
      samples = smaller;
    }
  });
}

/** The map in the size of each level in turn, [1, h, w]: halved until it is no larger than the level, then interpolated. */
function fitted(engine: TorchEngine, { width, height, values }: Plane): (level: Size) => TorchTensor {
  let map = engine.constant(values, { shape: [1, height, width] });
  return (level) => {
    const isLarger = ([, rows = 0, columns = 0]: readonly number[]): boolean => columns >= 1.5 * level.width && rows >= 1.5 * level.height;
    while (isLarger(map.shape)) map = reduced(map);
    return engine.compute("aten::upsample_bilinear2d", map.unsqueeze(0), [level.height, level.width], false).squeeze(0);
  };
}

/** 1 where the frame covers a pixel of the level and all within `margin` pixels of the image, else 0; [1, h, w]. */
function covered(transform: Similarity, level: DeviceLevel, place: { of: Size; scale: number; margin: number }): TorchTensor {
  const { of, scale, margin } = place;
  const { engine } = level.data;
  const t = linearOf(transform);
  const fromCentre = (count: number, length: number): TorchTensor =>
    engine.range(count, { dtype: "f64" }).mul(scale).sub((length - 1) / 2); // prettier-ignore
  const x = fromCentre(level.width, of.width).reshape([1, 1, level.width]);
  const y = fromCentre(level.height, of.height).reshape([1, level.height, 1]);
  const inside = (position: TorchTensor, length: number): TorchTensor =>
    engine.compute("aten::le.Scalar", position.abs(), length / 2 - margin).cast("f32");
  const across = inside(x.mul(t.a).sub(y.mul(t.b)).add(t.x), of.width); // prettier-ignore
  return across.mul(inside(x.mul(t.b).add(y.mul(t.a)).add(t.y), of.height)); // prettier-ignore
}

/** Takes the detail wherever its energy, weighted, is above the score so far. */
function chooseStrongest({ data, score }: DeviceLevel, detail: TorchTensor, weight: TorchTensor): void {
  const { compute } = data.engine;
  scope(() => {
    const squares = detail.square().sum([0], { keepAxes: true });
    const energy = compute("aten::avg_pool2d", squares, [3, 3], [1, 1], [1, 1], false, false); // without what is outside the image
    const own = energy.add(LEAST_ENERGY).mul(weight);
    compute("aten::copy_", data, own.greater(score).where(detail, data));
    compute("aten::copy_", score, own.maximum(score));
  });
}

function addShare({ data, score }: DeviceLevel, samples: TorchTensor, share: TorchTensor): void {
  data.engine.compute("aten::add_.Tensor", data, samples.mul(share));
  data.engine.compute("aten::add_.Tensor", score, share);
}

function collapsed(levels: readonly DeviceLevel[]): Image {
  const coarsest = levels.at(-1) as DeviceLevel;
  const { engine } = coarsest.data;
  const image = levels
    .slice(0, -1)
    .reduceRight((smaller, level) => level.data.add(expanded(smaller, level)), coarsest.data.div(coarsest.score))
    .clamp({ min: 0, max: 1 });
  const [channels, height, width] = image.shape as readonly [Image["channels"], number, number];
  const pixels = engine.compute("aten::contiguous", image.permute([1, 2, 0]));
  return { width, height, channels, data: engine.read(pixels) as Float32Array };
}
