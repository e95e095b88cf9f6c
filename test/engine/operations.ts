import type { Tensor } from "../../src/engine/engine.ts";

/** An operation on its inputs, written against the interface alone; `x.engine` makes further tensors. */
export type Apply = (...inputs: Tensor[]) => Tensor;

/** One operation of the engine interface on inputs of these shapes. */
export interface Operation {
  readonly name: string;
  readonly inputs: readonly (readonly number[])[];
  /** Where the inputs may lie; otherwise they are normal around 0. */
  readonly within?: readonly [number, number];
  /** False where the result is not differentiable: comparisons, indices. */
  readonly hasGradient: boolean;
  /** ONNX has no such operation. */
  readonly onlyTorch: boolean;
  readonly apply: Apply;
}

type Extra = Partial<Pick<Operation, "within" | "hasGradient" | "onlyTorch">>;

export const operation = (name: string, inputs: Operation["inputs"], apply: Apply, extra: Extra = {}): Operation => ({
  name,
  inputs,
  apply,
  hasGradient: true,
  onlyTorch: false,
  ...extra,
});

const positive = { within: [0.2, 3] } as const;
const noGradient = { hasGradient: false } as const;
const odd = [3, 1, 7, 5] as const;

const elementwise: Operation[] = [
  operation("add", [odd, [1, 2, 7, 1]], (x, y) => x.add(y)),
  operation("add a number", [odd], (x) => x.add(0.3)),
  operation("add itself", [odd], (x) => x.add(x)),
  operation("sub", [odd, [5]], (x, y) => x.sub(y)),
  operation("sub a number", [odd], (x) => x.sub(1.7)),
  operation("mul", [odd, odd], (x, y) => x.mul(y)),
  operation("mul by a number", [odd], (x) => x.mul(-2.5)),
  operation("div", [odd, [2, 7, 5]], (x, y) => x.div(y), positive),
  operation("div by a number", [odd], (x) => x.div(3)),
  operation("maximum", [odd, [7, 5]], (x, y) => x.maximum(y)),
  operation("maximum with a number", [odd], (x) => x.maximum(0.1)),
  ...[0.5, -1, 1.7].map((exponent) => operation(`pow ${exponent}`, [odd], (x) => x.pow(exponent), positive)),
  ...[1, 2, 3, 4].map((exponent) => operation(`pow ${exponent} of either sign`, [odd], (x) => x.pow(exponent))),
  operation("neg", [odd], (x) => x.neg()),
  operation("abs", [odd], (x) => x.abs()),
  operation("exp", [odd], (x) => x.exp()),
  operation("log", [odd], (x) => x.log(), positive),
  operation("sqrt", [odd], (x) => x.sqrt(), positive),
  operation("square", [odd], (x) => x.square()),
  operation("relu", [odd], (x) => x.relu()),
  operation("leakyRelu", [odd], (x) => x.leakyRelu(0.1)),
  operation("sigmoid", [odd], (x) => x.sigmoid()),
  operation("clamp", [odd], (x) => x.clamp({ min: -0.5, max: 0.8 })),
  operation("clamp from below", [odd], (x) => x.clamp({ min: 0.1 })),
  operation("clamp from above", [odd], (x) => x.clamp({ max: 0.1 })),
];

const choices: Operation[] = [
  operation("less", [odd, [7, 1]], (x, y) => x.less(y), noGradient),
  operation("less than a number", [odd], (x) => x.less(0.2), noGradient),
  operation("lessEqual", [odd], (x) => x.lessEqual(x), noGradient),
  operation("greater", [odd, odd], (x, y) => x.greater(y), noGradient),
  operation("greaterEqual", [odd], (x) => x.greaterEqual(-0.2), noGradient),
  operation("logicalAnd", [odd, [5]], (x, y) => x.less(0.5).logicalAnd(y.greater(-0.5)), noGradient),
  operation("where", [odd, [7, 5]], (x, y) => x.less(0).where(y, x.mul(2))),
  operation("where a number", [odd], (x) => x.less(0).where(0.5, x)),
  operation("where else a number", [odd], (x) => x.less(0).where(x, -0.5)),
];

const reductions: Operation[] = [
  operation("sum of everything", [odd], (x) => x.sum()),
  operation("sum over axes", [odd], (x) => x.sum([0, -1])),
  operation("sum keeping axes", [odd], (x) => x.sum([2], { keepAxes: true })),
  operation("sum of a bool tensor", [odd], (x) => x.less(0).sum([3]), noGradient),
  operation("mean of everything", [odd], (x) => x.mean()),
  operation("mean over axes", [odd], (x) => x.mean([1, 2], { keepAxes: true })),
  operation("max", [odd], (x) => x.max(2)),
  operation("max keeping the axis", [odd], (x) => x.max(-1, { keepAxes: true })),
  operation("argmax", [odd], (x) => x.argmax(2), noGradient),
  operation("argmax of ties, the first", [odd], (x) => x.clamp({ max: 0.1 }).argmax(-1, { keepAxes: true }), noGradient),
  operation("softmax over the last axis", [odd], (x) => x.softmax(-1)),
  operation("softmax over planes", [[2, 3, 5, 3, 3]], (x) => x.softmax(2)),
  operation("softmax of large values", [odd], (x) => x.mul(50).softmax(2)),
  operation(
    "matmul",
    [
      [5, 3],
      [3, 7],
    ],
    (x, y) => x.matmul(y),
  ),
  operation(
    "matmul, broadcast",
    [
      [2, 1, 5, 3],
      [4, 3, 7],
    ],
    (x, y) => x.matmul(y),
  ),
  operation(
    "solve",
    [
      [2, 4, 4],
      [2, 4, 3],
    ],
    (x, y) => plusIdentity(x).solve(y),
    { onlyTorch: true },
  ),
];

/** A + 5 I, far from singular. */
function plusIdentity(a: Tensor): Tensor {
  const identity = Float64Array.from({ length: 16 }, (_, i) => (i % 5 === 0 ? 5 : 0));
  return a.add(a.engine.constant(identity, { shape: [4, 4], dtype: a.dtype }));
}

const layout: Operation[] = [
  operation("reshape", [odd], (x) => x.reshape([5, 21])),
  operation("permute", [odd], (x) => x.permute([3, 0, 2, 1])),
  operation("permute a volume", [[2, 3, 5, 4, 3]], (x) => x.permute([0, 2, 1, -2, 4])),
  operation("unsqueeze", [[3, 5]], (x) => x.unsqueeze(1)),
  operation("unsqueeze at the end", [[3, 5]], (x) => x.unsqueeze(-1)),
  operation("squeeze", [odd], (x) => x.squeeze(1)),
  operation("slice", [odd], (x) => x.slice(2, { start: 1, end: 4 })),
  operation("slice from the end", [odd], (x) => x.slice(-1, { start: -3, end: -1 })),
  operation("slice to the end", [odd], (x) => x.slice(0, { start: 2 })),
  operation("expand", [odd], (x) => x.expand([3, 4, 7, 5])),
  operation("expand with a new axis", [[7, 1]], (x) => x.expand([2, 7, 3])),
  operation("flip", [odd], (x) => x.flip(2)),
  operation("flip the last axis", [odd], (x) => x.flip(-1)),
  operation("pad", [odd], (x) => x.pad([[0, 1], [0, 0], [1, 2], [3, 0]])), // prettier-ignore
  operation("concat", [odd, [3, 4, 7, 5]], (x, y) => x.engine.concat([x, y, x], 1)),
  operation(
    "concat along the last axis",
    [
      [2, 3],
      [2, 4],
    ],
    (x, y) => x.engine.concat([x, y], -1),
  ),
  operation("full", [odd], (x) => x.mul(x.engine.full([7, 1], 1.5, { dtype: x.dtype }))),
  operation("range", [odd], (x) => x.mul(x.engine.range(5, { dtype: x.dtype }))),
  operation("constant", [[2, 3]], (x) => x.add(x.engine.constant([1, 2, 3], { shape: [3], dtype: x.dtype }))),
  operation("fullPrecision", [odd], (x) => x.engine.fullPrecision(() => x.exp())),
];

const casts: Operation[] = (["f64", "f16", "bf16", "i32", "i64", "bool"] as const).flatMap((dtype) => [
  operation(`cast to ${dtype} and back`, [odd], (x) => x.mul(10).cast(dtype).cast("f32"), noGradient),
]);

export const basicOperations: readonly Operation[] = [...elementwise, ...choices, ...reductions, ...layout, ...casts];
