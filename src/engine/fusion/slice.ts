import type { TorchEngine } from "../torch/torchEngine.ts";
import type { TorchTensor } from "../torch/tensor.ts";

/**
 * A part of a tensor that is not computed yet, taken when it is looked at: a result nobody looks at is then not computed for the sake
 * of its parts. Undefined where the axis is not one of the tensor's.
 */
export function deferredSlice(
  engine: TorchEngine,
  tensor: TorchTensor,
  { axis, start, end }: { readonly axis: number; readonly start: number; readonly end: number | undefined },
): TorchTensor | undefined {
  const { shape, dtype } = tensor;
  const length = shape.at(axis);
  if (length === undefined) return undefined;
  const place = (at: number): number => Math.min(Math.max(at < 0 ? at + length : at, 0), length);
  const size = Math.max(place(end ?? length) - place(start), 0);
  const part: TorchTensor = engine.defer({
    shape: shape.with(axis, size),
    dtype,
    run: () => engine.compute("aten::slice.Tensor", tensor, axis, start, end ?? null),
    reshaped(to) {
      const fits = to.every((side) => side >= 0) && count(to) === count(part.shape);
      return fits ? engine.defer({ shape: to, dtype, run: () => engine.compute("aten::reshape", part, to) }) : undefined;
    },
  });
  return part;
}

const count = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);
