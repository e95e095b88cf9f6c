import { over, times, type Dim } from "../../src/engine/dims.ts";
import type { Shape, Tensor } from "../../src/engine/engine.ts";
import type { Apply } from "./operations.ts";

/** A way to read the sizes of a shape whose rank the row fixes. */
const size = (shape: Shape, axis: number): Dim => shape[axis] as Dim;

/** An operation recorded once with these sizes left open, to be run at several. */
export interface OpenOperation {
  readonly name: string;
  readonly inputs: readonly (readonly (string | number)[])[];
  readonly apply: Apply;
}

const planesToBatch = (x: Tensor): Tensor => {
  const [B, N, C, H, W] = [0, 1, 2, 3, 4].map((axis) => size(x.shape, axis)) as [Dim, Dim, Dim, Dim, Dim];
  return x.reshape([times(B, N), C, H, W]);
};

const STACK = ["B", "N", 2, "H", "W"] as const;

/** Shape operations with B, N, H, W open; H and W are multiples of 4. */
export const openOperations: OpenOperation[] = [
  { name: "planes folded into the batch", inputs: [STACK], apply: (x) => planesToBatch(x).mul(2) },
  {
    name: "planes folded into the batch and out again",
    inputs: [STACK],
    apply: (x) =>
      planesToBatch(x)
        .permute([0, 2, 3, 1])
        .reshape([size(x.shape, 0), size(x.shape, 1), size(x.shape, 3), size(x.shape, 4), 2]),
  },
  {
    name: "rows and columns in one axis",
    inputs: [STACK],
    apply: (x) => x.reshape([size(x.shape, 0), size(x.shape, 1), 2, times(size(x.shape, 3), size(x.shape, 4))]),
  },
  { name: "differences of planes", inputs: [STACK], apply: (x) => x.slice(1, { start: 1 }).sub(x.slice(1, { end: -1 })) },
  {
    name: "differences of planes, the last one repeated",
    inputs: [STACK],
    apply: (x) => {
      const difference = x.slice(1, { start: 1 }).sub(x.slice(1, { end: -1 }));
      return x.engine.concat([difference, difference.slice(1, { start: -1 })], 1).add(x);
    },
  },
  {
    name: "expand over open axes",
    inputs: [["B", "N"], STACK],
    apply: (f, x) => f.reshape([...f.shape, 1, 1, 1]).expand([...f.shape, 3, size(x.shape, 3), 1]),
  },
  { name: "full of an open size", inputs: [STACK], apply: (x) => x.add(x.engine.full([size(x.shape, 3), 1], 0.5)) },
  { name: "range of an open size", inputs: [STACK], apply: (x) => x.mul(x.engine.range(size(x.shape, 4))) },
  {
    name: "strided pooling halves",
    inputs: [STACK],
    apply: (x) => planesToBatch(x).maxPool2d({ kernel: [3, 3], stride: [2, 2], padding: [1, 1] }),
  },
  {
    name: "resize back to the open size",
    inputs: [STACK],
    apply: (x) =>
      planesToBatch(x)
        .avgPool({ kernel: [4, 4], stride: [4, 4] })
        .resize2d([size(x.shape, 3), size(x.shape, 4)], "bilinear"),
  },
  {
    name: "resize to half and to a fixed size",
    inputs: [STACK],
    apply: (x) =>
      planesToBatch(x)
        .resize2d([over(size(x.shape, 3), 2), over(size(x.shape, 4), 2)], "bilinear")
        .resize2d([5, 3], "nearest"),
  },
  {
    name: "resize from a fixed size",
    inputs: [STACK],
    apply: (x) =>
      planesToBatch(x)
        .resize2d([5, 3], "bilinear")
        .resize2d([size(x.shape, 3), size(x.shape, 4)], "bilinear"),
  },
  { name: "pad an open axis", inputs: [STACK], apply: (x) => x.pad([[0, 0], [1, 0], [0, 0], [2, 1], [0, 0]]) }, // prettier-ignore
  { name: "concat doubles an open axis", inputs: [STACK], apply: (x) => x.engine.concat([x, x.flip(3), x], 3).mean([0]) },
  {
    name: "group norm of a volume",
    inputs: [STACK],
    apply: (x) =>
      x.permute([0, 2, 1, 3, 4]).groupNorm({
        groups: 1,
        weight: x.engine.constant([2, 3], { shape: [2] }),
        bias: x.engine.constant([1, -1], { shape: [2] }),
        epsilon: 1e-5,
      }),
  },
  { name: "flip and softmax over planes", inputs: [STACK], apply: (x) => x.flip(1).softmax(1) },
];
