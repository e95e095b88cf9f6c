import { scope } from "../../../engine/scope.ts";
import type { TorchTensor } from "../../../engine/torch/torchEngine.ts";
import type { Size } from "../../../image/image.ts";

// The steps of src/image/pyramid.ts on maps [C, h, w] of an engine. Borders are repeated.

/** Axes of such maps. */
export const MAP = { row: 1, column: 2 } as const;

const padded = (map: TorchTensor, by: number): TorchTensor => map.engine.compute("aten::replication_pad2d", map, [by, by, by, by]);

/** Half the size, after the filter (1 4 6 4 1)/16 along both axes. */
export const reduced = (map: TorchTensor): TorchTensor => scope(() => halved(halved(padded(map, 2), MAP.column), MAP.row));

function halved(map: TorchTensor, axis: number): TorchTensor {
  const length = ((map.shape[axis] as number) - 3) >> 1;
  const tap = (k: number): TorchTensor => map.engine.compute("aten::slice.Tensor", map, axis, k, k + 2 * length - 1, 2);
  const outer = tap(0)
    .add(tap(4))
    .add(tap(1).add(tap(3)).mul(4));
  return outer.add(tap(2).mul(6)).mul(1 / 16);
}

/** A map of half the size, brought to `size`. */
export const expanded = (map: TorchTensor, { width, height }: Size): TorchTensor =>
  scope(() => doubled(doubled(padded(map, 1), MAP.row, height), MAP.column, width));

function doubled(map: TorchTensor, axis: number, length: number): TorchTensor {
  const small = (map.shape[axis] as number) - 2;
  const at = (k: number): TorchTensor => map.slice(axis, { start: k, end: k + small });
  const even = at(0).add(at(2)).mul(0.125).add(at(1).mul(0.75)); // prettier-ignore
  const odd = at(1).add(at(2)).mul(0.5);
  const both = map.engine.compute("aten::stack", [even, odd], axis + 1);
  return both.reshape(map.shape.with(axis, 2 * small)).slice(axis, { end: length });
}
