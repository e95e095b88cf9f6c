import { dims, formatShape, sameDim, times, type Dim } from "../dims.ts";
import type { PoolOptions } from "../engine.ts";
import { ShapeError } from "../errors.ts";
import { reshape, squeeze, unsqueeze } from "./layout.ts";
import type { Recorder, Value } from "./recorder.ts";
import { lengthOf, windowCount } from "./shape.ts";

export interface Convolution {
  readonly weight: Value;
  readonly bias?: Value | undefined;
  readonly stride?: number;
  readonly padding?: number;
}

/** `encoder.conv1.weight` → `encoder.conv1`: a node is named after its weight if that has a name. */
const nodeLabel = (weight: Value): string | undefined => /^(.+)\.weight$/.exec(weight.name)?.[1];

/** Conv over the `spatial` (2 or 3) last axes. */
export function conv(recorder: Recorder, value: Value, { weight, bias, stride = 1, padding = 0 }: Convolution, spatial: 2 | 3): Value {
  const where = `conv${spatial}d(${formatShape(value.shape)}, ${formatShape(weight.shape)})`;
  if (value.shape.length !== spatial + 2 || weight.shape.length !== spatial + 2)
    throw new ShapeError(`${where}: the input and the weight need ${spatial + 2} axes`);
  const [outputs, channels, ...kernel] = weight.shape as readonly number[];
  if (weight.shape.some((dim) => typeof dim !== "number") || outputs === undefined || channels === undefined)
    throw new ShapeError(`${where}: the weight's shape must be known in advance`);
  if (!sameDim(lengthOf(value.shape, 1), channels)) throw new ShapeError(`${where}: the weight takes ${channels} channels`);
  if (bias && (bias.shape.length !== 1 || bias.shape[0] !== outputs))
    throw new ShapeError(`${where}: the bias is ${formatShape(bias.shape)}, not [${outputs}]`);
  const size = kernel.map((k, i) =>
    windowCount(lengthOf(value.shape, i + 2), { kernel: k, stride, padding }, { multiples: recorder.multiples, where }),
  );
  const label = nodeLabel(weight);
  return recorder.emit("Conv", bias ? [value, weight, bias] : [value, weight], {
    shape: [lengthOf(value.shape, 0), outputs, ...size],
    dtype: value.dtype,
    attributes: {
      kernel_shape: kernel,
      strides: kernel.map(() => stride),
      pads: [...kernel, ...kernel].map(() => padding),
    },
    ...(label === undefined ? {} : { label }),
  });
}

/** Resize with pixel centres at half integers, as torch's `interpolate(align_corners=False)`; nearest takes ⌊i · in / out⌋. */
export function resize2d(recorder: Recorder, value: Value, size: readonly [Dim, Dim], mode: "nearest" | "bilinear"): Value {
  if (value.shape.length === 5) {
    const { B, C, N, h, w } = dims(value, "B C N h w", "resize2d");
    const flat = reshape(recorder, value, [B, times(C, N), h, w]); // planes are treated like channels
    return reshape(recorder, resize2d(recorder, flat, size, mode), [B, C, N, ...size]);
  }
  const { B, C, h, w } = dims(value, "B C h w", "resize2d");
  const shape = [B, C, ...size];
  if (sameDim(h, size[0]) && sameDim(w, size[1])) return value;
  const attributes =
    mode === "bilinear"
      ? { mode: "linear", coordinate_transformation_mode: "half_pixel" }
      : { mode: "nearest", coordinate_transformation_mode: "asymmetric", nearest_mode: "floor" };
  const factors = [wholeFactor(h, size[0]), wholeFactor(w, size[1])];
  const inputs = factors.every((factor) => factor !== undefined)
    ? [value, undefined, scales(recorder, factors)]
    : [value, undefined, undefined, recorder.sizes(shape)];
  return recorder.emit("Resize", inputs, { shape, dtype: value.dtype, attributes });
}

/** to / from if that is a whole number for any input size; the graph then needs no sizes at run time. */
function wholeFactor(from: Dim, to: Dim): number | undefined {
  if (typeof from === "number" && typeof to === "number") return to % from === 0 ? to / from : undefined;
  if (typeof from === "number" || typeof to === "number" || from.offset !== 0 || to.offset !== 0) return undefined;
  if (from.factors.join("·") !== to.factors.join("·")) return undefined;
  const factor = (to.numerator * from.denominator) / (to.denominator * from.numerator);
  return Number.isInteger(factor) ? factor : undefined;
}

function scales(recorder: Recorder, factors: readonly number[]): Value {
  const values = [1, 1, ...factors];
  return recorder.once(`scales ${values.join()}`, () =>
    recorder.initializer(Float32Array.from(values), { shape: [values.length], dtype: "f32", name: `scales_${values.join("_")}` }),
  );
}

/** MaxPool or AveragePool over the last axes; a tensor without a batch axis is given one temporarily. */
export function pool(recorder: Recorder, operator: "MaxPool" | "AveragePool", value: Value, options: PoolOptions): Value {
  const { kernel, stride, padding = kernel.map(() => 0) } = options;
  const where = `${operator}(${formatShape(value.shape)}, kernel [${kernel.join(", ")}])`;
  const spatial = kernel.length;
  if (spatial < 2 || spatial > 3 || stride.length !== spatial || padding.length !== spatial)
    throw new ShapeError(`${where}: kernel, stride and padding need the same 2 or 3 entries`);
  if (value.shape.length === spatial + 1) return squeeze(recorder, pool(recorder, operator, unsqueeze(recorder, value, 0), options), 0);
  if (value.shape.length !== spatial + 2) throw new ShapeError(`${where}: needs ${spatial + 2} axes`);
  if (padding.some((amount, i) => 2 * amount > (kernel[i] as number))) throw new ShapeError(`${where}: padding over half the kernel`);
  const size = kernel.map((k, i) =>
    windowCount(
      lengthOf(value.shape, i + 2),
      { kernel: k, stride: stride[i] as number, padding: padding[i] as number },
      { multiples: recorder.multiples, where },
    ),
  );
  const windows = { kernel_shape: kernel, strides: stride, pads: [...padding, ...padding] };
  return recorder.emit(operator, [value], {
    shape: [...value.shape.slice(0, 2), ...size],
    dtype: value.dtype,
    attributes: operator === "AveragePool" ? { ...windows, count_include_pad: 0 } : windows,
  });
}

/** [C] → [C, 1, …], to broadcast over the axes after the channel. */
export const perChannel = (recorder: Recorder, value: Value, rank: number): Value =>
  reshape(recorder, value, [lengthOf(value.shape, 0), ...Array.from({ length: rank - 2 }, () => 1)]);
