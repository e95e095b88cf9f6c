import assert from "node:assert/strict";
import { mock, test } from "node:test";

import type { Tensor } from "../../../src/engine/engine.ts";
import { scope } from "../../../src/engine/scope.ts";
import { createTorchEngine, type TorchEngine, type TorchTensor } from "../../../src/engine/torch/torchEngine.ts";
import { convexUpsample, inFocus } from "../../../src/model/convexUpsampling.ts";
import { detailEnergies, detailLogs } from "../../../src/model/fineDetail.ts";
import { planeContext } from "../../../src/model/planeContext.ts";
import { createRandom } from "../../../src/random.ts";
import { noBf16 } from "../../helpers/bf16.ts";
import { assertClose } from "../../helpers/close.ts";

const [plain, fused] = [false, true].map((trainingKernels) => createTorchEngine({ threads: 2, trainingKernels })) as [
  TorchEngine,
  TorchEngine,
];

type Values = Float32Array | Float64Array;

interface Part {
  readonly shapes: readonly (readonly number[])[];
  /** Operands without a gradient. */
  readonly fixed?: readonly number[];
  /** Operands that are rounded to bf16, and in bf16 when training on CUDA. */
  readonly half?: readonly number[];
  readonly body: (...operands: TorchTensor[]) => Tensor;
  readonly uses: readonly string[];
}

/** Values of few levels, so that planes have equal maxima. */
const levels = (x: Tensor): Tensor => x.mul(2).cast("i32").cast(x.dtype);

const PARTS: Readonly<Record<string, Part>> = Object.fromEntries(
  [
    [2, 4, 5, 3],
    [3, 1, 2, 7],
    [1, 3, 2, 1],
    [1, 8, 1, 4],
  ].flatMap(([B, N, h, w]) => {
    const [size, volume, map] = [`${N} planes of ${h}×${w}`, [B, 4, N, h, w], [B, 4, h, w]] as [string, number[], number[]];
    const images = [B, N, 3, 4 * (h as number), 4 * (w as number)] as number[];
    return Object.entries({
      [`context of ${size}`]: {
        shapes: [volume, [4, 8, 1, 1], volume],
        fixed: [2],
        body: (x, weight, constant) => planeContext(x.add(levels(constant)), (pooled) => pooled.conv2d(weight).relu()),
        uses: ["planePool", "planeSpread"],
      },
      [`context of ${size} that does not enter the result`]: {
        shapes: [volume, map],
        body: (x, other) => planeContext(x, () => other),
        uses: ["planePool", "planeSpread"],
      },
      [`what is in focus in ${size}`]: {
        shapes: [volume, images, [B, 1, N, h, w] as number[]],
        fixed: [1],
        body: (features, pictures, p) => inFocus({ features, images: pictures, p }),
        uses: ["inFocus"],
      },
      [`convex upsampling of ${size}`]: {
        shapes: [[B, N, h, w] as number[], [B, 144, h, w] as number[], [144, 1, 1]],
        body: (logits, scores, start) => convexUpsample({ logits, scores, start }),
        uses: ["convexUpsample"],
      },
      [`logarithms of detail in ${size}`]: {
        shapes: [[(B as number) * (N as number), 3, h, w] as number[], [(B as number) * (N as number), 3, h, w] as number[]],
        body: (energies, changes) => detailLogs([energies.square(), changes.square()], { B: B as number, N: N as number }),
        uses: ["detailLogs"],
      },
      ...(N !== 1 && {
        [`energies of detail in ${size}`]: {
          shapes: [images, [3, 3, 3, 3]],
          fixed: [0],
          body: (pictures, filters) => pictures.engine.concat(detailEnergies(pictures, filters), 1).add(1).log(), // some changes are zero
          uses: ["detailEnergies"],
        },
      }),
    } satisfies Record<string, Part>);
  }),
);

function differentiatePart(engine: TorchEngine, part: Part, dtype: "f32" | "f64" | "bf16"): Values[] {
  const { shapes, fixed = [], half = [], body } = part;
  const wide = dtype === "bf16" ? "f32" : dtype;
  const random = createRandom(11);
  const draw = (shape: readonly number[]): TorchTensor =>
    engine.constant(Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random.normal()), { shape, dtype: wide }); // prettier-ignore
  return scope(() => {
    const operands = shapes.map(draw).map((operand, i) => (half.includes(i) ? operand.cast("bf16").cast(dtype) : operand));
    const free = operands.filter((_, i) => !fixed.includes(i)).map((operand) => engine.requireGradient(operand));
    const result = dtype === "bf16" ? engine.autocast(() => body(...operands)) : body(...operands);
    engine.backward(result.cast(wide).square().mul(draw(result.shape as number[])).sum()); // prettier-ignore
    const gradients = free.map((operand) => engine.gradient(operand) as Tensor);
    return [result, ...gradients].map((tensor) => engine.read(tensor.cast(wide)) as Values);
  });
}

/** The results of composed operators and of kernels, which must be those of the part. */
function bothResults(part: Part, [composed, kernels]: readonly ["f32" | "f64", "f32" | "f64" | "bf16"]): [Values[], Values[]] {
  const want = differentiatePart(plain, part, composed);
  const native = mock.method(fused, "native");
  const got = differentiatePart(fused, part, kernels);
  const called = native.mock.calls.map(({ arguments: [operation] }) => operation);
  native.mock.restore();
  for (const operation of part.uses) assert.ok(called.includes(operation as never), `${operation} in ${kernels}`);
  return [want, got];
}

const TOLERANCES = { f32: 3e-5, f64: 1e-12 } as const;

for (const [name, part] of Object.entries(PARTS))
  test(`${name} has the values and gradients of the composed operators`, () => {
    for (const dtype of ["f32", "f64"] as const) {
      const [want, got] = bothResults(part, [dtype, dtype]);
      want.forEach((values, i) => {
        assert.ok(Math.max(...values) > 0.01);
        assertClose(got[i] as Values, values, TOLERANCES[dtype]);
      });
    }
  });

/** As training on CUDA calls them, under autocast. */
const HALF_PARTS: Readonly<Record<string, Part>> = {
  "the context of the planes": {
    shapes: [
      [2, 8, 5, 3, 7],
      [8, 16, 1, 1],
    ],
    half: [0],
    body: (x, weight) => planeContext(x, (pooled) => pooled.conv2d(weight)),
    uses: ["planePool", "planeSpread"],
  },
  "what is in focus": {
    shapes: [
      [2, 8, 5, 3, 7],
      [2, 5, 3, 12, 28],
      [2, 1, 5, 3, 7],
    ],
    fixed: [1],
    half: [0],
    body: (features, images, p) => inFocus({ features, images, p }),
    uses: ["inFocus"],
  },
  "convex upsampling": {
    shapes: [
      [2, 5, 3, 7],
      [2, 144, 3, 7],
      [144, 1, 1],
    ],
    half: [1],
    body: (logits, scores, start) => convexUpsample({ logits, scores, start }),
    uses: ["convexUpsample"],
  },
};

for (const [name, part] of Object.entries(HALF_PARTS))
  test(`${name} in bf16 has the values and gradients of f32`, { skip: noBf16 }, () => {
    const [want, got] = bothResults(part, ["f32", "bf16"]);
    want.forEach((values, i) => {
      assertClose(got[i] as Values, values, i === 0 ? 0.01 : 0.02); // bf16 keeps 8 bits
    });
  });

test("of equal maxima over the planes the first gets the gradient, and NaN is a maximum", () => {
  scope(() => {
    const x = fused.requireGradient(fused.constant([1, 3, 3, 2, 5, NaN, 5, NaN], { shape: [1, 1, 4, 1, 2], dtype: "f64" }));
    // planes of two pixels: 1, 3, 5, 5 and 3, 2, NaN, NaN
    const [pooled] = fused.native("planePool", x).map(fused.adopt) as [TorchTensor, TorchTensor];
    assert.deepEqual([...fused.read(pooled)], [3.5, NaN, 5, NaN]);
    fused.backward(pooled.slice(1, { start: 1 }), fused.constant([1, 2], { shape: [1, 1, 1, 2], dtype: "f64" }));
    assert.deepEqual([...fused.read(fused.gradient(x) as TorchTensor)], [0, 0, 0, 0, 1, 2, 0, 0]);
  });
});

test("operands that do not fit are refused by name", () => {
  scope(() => {
    const [x, map] = [fused.full([1, 4, 2, 2], 1), fused.full([1, 1, 2, 2], 1)];
    assert.throws(() => fused.native("planePool", x), /volume: expected \[B, C, N, h, w\]/);
    const volume = fused.full([1, 4, 3, 2, 2], 1);
    assert.throws(() => fused.native("planeSpread", volume, map), /map: expected \[B, C, h, w\] of the volume/);
    assert.throws(() => fused.native("inFocus", volume, x, map), /images: expected \[1, 3, 3, 8, 8\]/);
    assert.throws(() => fused.native("detailEnergies", fused.full([1, 3, 3, 8, 6], 1), x), /images: expected .* multiples of 4/);
    assert.throws(() => fused.native("detailEnergies", fused.full([1, 3, 3, 8, 8], 1), x), /filters: expected \[1, 3, 3, 3\]/);
    assert.throws(() => fused.native("detailLogs", x, x, 2, 1, 1, 1), /energies: expected \[B · N, F, h, w\]/);
    assert.throws(() => fused.native("detailLogs", x, map, 1, 1, 1, 1), /changes: expected \[1, 4, 2, 2\]/);
    assert.throws(() => fused.native("convexUpsample", x, x, x), /scores: expected \[B, 144, h, w\]/);
    assert.throws(() => fused.native("convexUpsample", x.cast("f64"), fused.full([1, 144, 2, 2], 1), x), /logits: expected f32/);
  });
});
