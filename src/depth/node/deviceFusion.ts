import { hasGain, hasMoved } from "../../align/alignedRows.ts";
import type { FrameAlignment } from "../../align/alignment.ts";
import { LANCZOS, linearOfWarp, rowPath } from "../../align/apply.ts";
import { gainTables, TABLE } from "../../align/exposure.ts";
import { linearOf, type Similarity } from "../../align/similarity.ts";
import { keep, scope } from "../../engine/scope.ts";
import type { TorchEngine, TorchTensor } from "../../engine/torch/torchEngine.ts";
import type { Plane } from "../../image/boxFilter.ts";
import type { Image, Size, StoredImage } from "../../image/image.ts";
import { LEAST_ENERGY, levelSizes, RESERVE } from "../allInFocus/fusion.ts";
import { planePrior } from "../allInFocus/prior.ts";
import type { CreateStackFusion, Frame } from "../allInFocus/stackFusion.ts";

/** A level of the result on the device: the strongest detail so far [C, h, w] and its score [1, h, w]; see `Level`. */
interface DeviceLevel extends Size {
  readonly data: TorchTensor;
  readonly score: TorchTensor;
}

/** What a warp takes at its peak, positions in double precision included. */
const BYTES_PER_PIXEL = 200;

/**
 * The all-in-focus image on the engine's device: the same steps as `addPlane`, each over the whole image, warp included. Frames are uploaded as
 * their files store them. The result is that of the CPU up to rounding: where two planes show a detail equally strongly, the other one may
 * win. If the device has too little memory free, it is computed by `otherwise`.
 */
export const deviceFusion =
  (engine: TorchEngine, otherwise: CreateStackFusion): CreateStackFusion =>
  (shape, probability, options) => {
    if (engine.memory().free < BYTES_PER_PIXEL * shape.width * shape.height) return otherwise(shape, probability, options);
    const prior = planePrior(probability, options);
    const steps = createSteps(engine);
    const levels = levelSizes(shape).map(({ width, height }): DeviceLevel => {
      const zeros = (channels: number): TorchTensor => keep(engine.full([channels, height, width], 0) as TorchTensor);
      return { width, height, data: zeros(shape.channels), score: zeros(1) };
    });
    const add = ({ image, alignment, isReference }: Frame, plane: number): void => {
      const { choice, share } = prior.maps(plane);
      const transform = alignment && hasMoved(alignment.transform) ? alignment.transform : undefined;
      const least = alignment && isReference ? RESERVE : 0;
      const fit = { choice: steps.fitted(choice), share: steps.fitted(share) };
      let samples = steps.aligned(image, alignment);
      levels.forEach((level, n) => {
        const covered = (pixels: number): TorchTensor | undefined =>
          transform && steps.covered(transform, { level, of: image, scale: 2 ** n, margin: pixels * 2 ** n });
        if (n === levels.length - 1) return steps.addShare(level, samples, masked(fit.share(level), covered(2)));
        const smaller = steps.reduced(samples);
        const weight = fit.choice(level).clamp({ min: least });
        steps.chooseStrongest(level, samples.sub(steps.expanded(smaller, level)), masked(weight, covered(3)));
        samples = smaller;
      });
    };
    return {
      add: (frame, plane) => Promise.resolve().then(() => { scope(() => { add(frame, plane); }); }), // prettier-ignore
      finish: () => Promise.resolve().then(() => steps.collapsed(levels)),
      close() {
        for (const { data, score } of levels) [data, score].forEach((tensor) => { tensor.dispose(); }); // prettier-ignore
        return Promise.resolve();
      },
    };
  };

const masked = (weight: TorchTensor, mask: TorchTensor | undefined): TorchTensor => (mask ? weight.mul(mask) : weight);

function createSteps(engine: TorchEngine) {
  const { compute } = engine;
  const [rowAxis, columnAxis] = [1, 2];

  /** As the files store it → [C, H, W] in [0, 1]. */
  const upload = ({ width, height, channels, data }: Image | StoredImage): TorchTensor => {
    const isBytes = data instanceof Uint8Array;
    const values = data instanceof Uint16Array ? Float32Array.from(data) : data; // no kernel takes integers of 16 bits
    const pixels = engine.constant(values, { shape: [height, width, channels], dtype: isBytes ? "u8" : "f32" });
    const planar = compute("aten::contiguous", pixels.permute([2, 0, 1])).cast("f32");
    return data instanceof Float32Array ? planar : planar.div(isBytes ? 255 : 65535);
  };

  const count = (length: number): TorchTensor => engine.range(length, { dtype: "f64" }) as TorchTensor;

  /** Values at fractional positions [H, W] along one axis of [C, H, W], Lanczos; beyond the ends the outermost pixel is repeated. */
  const resampled = (image: TorchTensor, axis: number, positions: TorchTensor): TorchTensor => {
    const { taps, phases, weights } = LANCZOS;
    const table = engine.constant(weights, { shape: [phases + 1, taps] });
    const below = compute("aten::floor", positions);
    const phase = compute("aten::floor", positions.sub(below).mul(phases).add(0.5)).cast("i64").reshape([-1]);
    const first = below.cast("i64");
    const shape = image.shape as readonly number[];
    let sum: TorchTensor | undefined;
    for (let k = 0; k < taps; k++)
      sum = scope(() => {
        const place = first.add(k - (taps / 2 - 1)).clamp({ min: 0, max: (shape[axis] as number) - 1 });
        const values = compute("aten::gather", image, axis, compute("aten::expand", place.unsqueeze(0), shape));
        const weight = compute("aten::index_select", table.slice(1, { start: k, end: k + 1 }).reshape([-1]), 0, phase);
        const part = values.mul(weight.reshape([1, ...shape.slice(1)]));
        return sum ? compute("aten::add_.Tensor", sum, part) : part;
      });
    return sum as TorchTensor;
  };

  /** The two passes of `withWarpedRows`: along rows, then along columns. */
  const warped = (image: TorchTensor, transform: Similarity): TorchTensor => {
    const [, height, width] = image.shape as [number, number, number];
    const t = linearOfWarp(transform);
    const [rows, columns] = [count(height).reshape([height, 1]), count(width).reshape([1, width])];
    const [start, next] = [rowPath({ width, height }, t, 0), rowPath({ width, height }, t, 1)]; // linear in the row
    const across = columns
      .mul(start.step)
      .add(rows.mul(next.origin - start.origin))
      .add(start.origin);
    const straight = scope(() => resampled(image, columnAxis, across));
    const top = (height - 1) / 2 + t.y - (t.a * (height - 1)) / 2 - (t.b * (width - 1)) / 2;
    const down = rows.mul(t.a).add(columns.mul(t.b)).add(top);
    return scope(() => resampled(straight, rowAxis, down)).clamp({ min: 0, max: 1 });
  };

  /** As `withGainRows`. */
  const brightened = (image: TorchTensor, gain: FrameAlignment["gain"]): TorchTensor => {
    const [channels, height, width] = image.shape as [number, number, number];
    const tables = engine.constant(gainTables(gain, channels), { shape: [channels, TABLE + 2] });
    const place = image
      .clamp({ min: 0, max: 1 })
      .mul(TABLE)
      .reshape([channels, height * width]);
    const below = compute("aten::floor", place);
    const index = below.cast("i64");
    const value = compute("aten::gather", tables, 1, index);
    const next = compute("aten::gather", tables, 1, index.add(1));
    return value.add(next.sub(value).mul(place.sub(below))).reshape([channels, height, width]);
  };

  /** Half the size along one axis, after the filter (1 4 6 4 1)/16. */
  const halved = (padded: TorchTensor, axis: number): TorchTensor => {
    const small = ((padded.shape[axis] as number) - 4 + 1) >> 1;
    const tap = (k: number): TorchTensor => compute("aten::slice.Tensor", padded, axis, k, k + 2 * small - 1, 2);
    const outer = tap(0)
      .add(tap(4))
      .add(tap(1).add(tap(3)).mul(4));
    return outer.add(tap(2).mul(6)).mul(1 / 16);
  };
  const reduced = (image: TorchTensor): TorchTensor =>
    scope(() => halved(halved(compute("aten::replication_pad2d", image, [2, 2, 2, 2]), columnAxis), rowAxis));

  /** Twice the size along one axis, cut to `length`. */
  const doubled = (padded: TorchTensor, axis: number, length: number): TorchTensor => {
    const small = (padded.shape[axis] as number) - 2;
    const at = (k: number): TorchTensor => padded.slice(axis, { start: k, end: k + small });
    const even = at(0).add(at(2)).mul(0.125).add(at(1).mul(0.75));
    const odd = at(1).add(at(2)).mul(0.5);
    const both = compute("aten::stack", [even, odd], axis + 1);
    return both.reshape(padded.shape.with(axis, 2 * small) as number[]).slice(axis, { end: length });
  };
  const expanded = (image: TorchTensor, { width, height }: Size): TorchTensor =>
    scope(() => doubled(doubled(compute("aten::replication_pad2d", image, [1, 1, 1, 1]), rowAxis, height), columnAxis, width));

  return {
    reduced,
    expanded,
    aligned(image: Image | StoredImage, alignment: FrameAlignment | undefined): TorchTensor {
      const samples = scope(() => upload(image));
      if (!alignment) return samples;
      const placed = hasMoved(alignment.transform) ? scope(() => warped(samples, alignment.transform)) : samples;
      return hasGain(alignment.gain) ? scope(() => brightened(placed, alignment.gain)) : placed;
    },
    /** The map in the size of a level, [1, h, w]: halved until it is no larger than it, then interpolated. */
    fitted({ width, height, values }: Plane): (level: Size) => TorchTensor {
      let map = engine.constant(values, { shape: [1, height, width] });
      return (level) => {
        const isLarger = ([, rows, columns]: readonly number[]): boolean =>
          (columns as number) >= 1.5 * level.width && (rows as number) >= 1.5 * level.height;
        while (isLarger(map.shape as readonly number[])) map = reduced(map);
        return compute("aten::upsample_bilinear2d", map.unsqueeze(0), [level.height, level.width], false).squeeze(0);
      };
    },
    /** 1 where the frame covers a pixel of the level and all within `margin` pixels of the image, else 0; [1, h, w]. */
    covered(transform: Similarity, place: { level: Size; of: Size; scale: number; margin: number }): TorchTensor {
      const { level, of, scale, margin } = place;
      const t = linearOf(transform);
      const x = count(level.width).mul(scale).sub((of.width - 1) / 2).reshape([1, 1, level.width]); // prettier-ignore
      const y = count(level.height).mul(scale).sub((of.height - 1) / 2).reshape([1, level.height, 1]); // prettier-ignore
      const within = (position: TorchTensor, length: number): TorchTensor =>
        compute("aten::le.Scalar", position.abs(), length / 2 - margin).cast("f32");
      const across = within(x.mul(t.a).sub(y.mul(t.b)).add(t.x), of.width);
      return across.mul(within(x.mul(t.b).add(y.mul(t.a)).add(t.y), of.height));
    },
    chooseStrongest({ data, score }: DeviceLevel, detail: TorchTensor, weight: TorchTensor): void {
      scope(() => {
        const energy = compute("aten::avg_pool2d", detail.square().sum([0], { keepAxes: true }), [3, 3], [1, 1], [1, 1], false, false);
        const own = energy.add(LEAST_ENERGY).mul(weight);
        const isStronger = own.greater(score);
        compute("aten::copy_", data, isStronger.where(detail, data));
        compute("aten::copy_", score, own.maximum(score));
      });
    },
    addShare({ data, score }: DeviceLevel, samples: TorchTensor, share: TorchTensor): void {
      compute("aten::add_.Tensor", data, samples.mul(share));
      compute("aten::add_.Tensor", score, share);
    },
    collapsed: (levels: readonly DeviceLevel[]): Image =>
      scope(() => {
        const coarsest = levels.at(-1) as DeviceLevel;
        const image = levels
          .slice(0, -1)
          .reduceRight((smaller, level) => level.data.add(expanded(smaller, level)), coarsest.data.div(coarsest.score))
          .clamp({ min: 0, max: 1 });
        const [channels, height, width] = image.shape as [Image["channels"], number, number];
        const pixels = compute("aten::contiguous", image.permute([1, 2, 0]));
        return { width, height, channels, data: engine.read(pixels) as Float32Array };
      }),
  };
}
