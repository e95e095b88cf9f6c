import { hasGain, hasMoved } from "../../../align/alignedRows.ts";
import type { FrameAlignment } from "../../../align/alignment.ts";
import { LANCZOS, linearOfWarp, rowPath } from "../../../align/apply.ts";
import { gainTables, TABLE } from "../../../align/exposure.ts";
import type { Similarity } from "../../../align/similarity.ts";
import { scope } from "../../../engine/scope.ts";
import type { TorchEngine, TorchTensor } from "../../../engine/torch/torchEngine.ts";
import type { Image, StoredImage } from "../../../image/image.ts";
import { MAP } from "./pyramid.ts";

/** As `withAlignedRows`: the frame aligned to the reference, [C, H, W] in [0, 1]. It is uploaded as its file stores it. */
export function alignedOn(engine: TorchEngine, image: Image | StoredImage, alignment: FrameAlignment | undefined): TorchTensor {
  const frame = scope(() => uploaded(engine, image));
  if (!alignment) return frame;
  const placed = hasMoved(alignment.transform) ? scope(() => warped(frame, alignment.transform)) : frame;
  return hasGain(alignment.gain) ? scope(() => brightened(placed, alignment.gain)) : placed;
}

function uploaded(engine: TorchEngine, { width, height, channels, data }: Image | StoredImage): TorchTensor {
  const isBytes = data instanceof Uint8Array;
  const values = data instanceof Uint16Array ? Float32Array.from(data) : data; // libtorch has no operators for integers of 16 bits
  const pixels = engine.constant(values, { shape: [height, width, channels], dtype: isBytes ? "u8" : "f32" });
  const planar = engine.compute("aten::contiguous", pixels.permute([2, 0, 1])).cast("f32");
  return data instanceof Float32Array ? planar : planar.div(isBytes ? 255 : 65535);
}

/** The two passes of `withWarpedRows`: along rows, then along columns. Positions are in double precision, as there. */
function warped(image: TorchTensor, transform: Similarity): TorchTensor {
  const { engine, shape } = image;
  const [, height, width] = shape as readonly [number, number, number];
  const t = linearOfWarp(transform);
  const rows = engine.range(height, { dtype: "f64" }).reshape([height, 1]);
  const columns = engine.range(width, { dtype: "f64" }).reshape([1, width]);
  const [first, second] = [rowPath({ width, height }, t, 0), rowPath({ width, height }, t, 1)]; // linear in the row
  const across = columns.mul(first.step).add(rows.mul(second.origin - first.origin)).add(first.origin); // prettier-ignore
  const straight = scope(() => resampled(image, MAP.column, across));
  const top = (height - 1) / 2 + t.y - (t.a * (height - 1)) / 2 - (t.b * (width - 1)) / 2;
  const down = rows.mul(t.a).add(columns.mul(t.b)).add(top);
  return scope(() => resampled(straight, MAP.row, down)).clamp({ min: 0, max: 1 });
}

/** Values at fractional positions [H, W] along one axis, Lanczos; beyond the ends the outermost pixel is repeated. */
function resampled(image: TorchTensor, axis: number, positions: TorchTensor): TorchTensor {
  const { taps, phases, weights } = LANCZOS;
  const { engine, shape } = image;
  const { compute } = engine;
  const table = engine.constant(weights, { shape: [phases + 1, taps] });
  const below = compute("aten::floor", positions);
  const phase = compute("aten::floor", positions.sub(below).mul(phases).add(0.5)).cast("i64").reshape([-1]); // prettier-ignore
  const first = below.cast("i64").sub(taps / 2 - 1);
  let sum: TorchTensor | undefined;
  for (let k = 0; k < taps; k++)
    sum = scope(() => {
      const place = first.add(k).clamp({ min: 0, max: (shape[axis] as number) - 1 });
      const values = compute("aten::gather", image, axis, compute("aten::expand", place.unsqueeze(0), shape));
      const column = table.slice(1, { start: k, end: k + 1 }).reshape([-1]);
      const part = values.mul(compute("aten::index_select", column, 0, phase).reshape([1, ...shape.slice(1)]));
      return sum ? compute("aten::add_.Tensor", sum, part) : part;
    });
  return sum as TorchTensor;
}

/** As `withGainRows`, with the same tables. */
function brightened(image: TorchTensor, gain: FrameAlignment["gain"]): TorchTensor {
  const { engine, shape } = image;
  const [channels] = shape as readonly [number];
  const tables = engine.constant(gainTables(gain, channels), { shape: [channels, TABLE + 2] });
  const place = image.clamp({ min: 0, max: 1 }).mul(TABLE).reshape([channels, -1]); // prettier-ignore
  const below = engine.compute("aten::floor", place);
  const index = below.cast("i64");
  const value = engine.compute("aten::gather", tables, 1, index);
  const next = engine.compute("aten::gather", tables, 1, index.add(1));
  return value.add(next.sub(value).mul(place.sub(below))).reshape(shape);
}
