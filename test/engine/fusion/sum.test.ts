import assert from "node:assert/strict";
import { test } from "node:test";

import type { PoolOptions, Tensor } from "../../../src/engine/engine.ts";
import { scope } from "../../../src/engine/scope.ts";
import { createTorchEngine, type TorchEngine, type TorchTensor } from "../../../src/engine/torch/torchEngine.ts";
import { createRandom } from "../../../src/random.ts";
import { assertClose } from "../../helpers/close.ts";

const plain = createTorchEngine({ threads: 2 });
const fused = createTorchEngine({ threads: 2, inference: { precision: "f32" } });

const random = createRandom(10);
const draw = (count: number): Float32Array => Float32Array.from({ length: count }, () => random.normal());
const count = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

function onBoth<T>(shapes: readonly (readonly number[])[], body: (engine: TorchEngine, ...operands: TorchTensor[]) => T): [T, T] {
  const values = shapes.map((shape) => draw(count(shape)));
  return [plain, fused].map((engine) =>
    engine.noGradient(() =>
      scope(() => body(engine, ...values.map((data, i) => engine.constant(data, { shape: shapes[i] as readonly number[] })))),
    ),
  ) as [T, T];
}

const POOLS: readonly { readonly shape: readonly [number, number, number, number]; readonly pool: PoolOptions }[] = [
  { shape: [2, 8, 5, 7], pool: { kernel: [3, 3], stride: [1, 1], padding: [1, 1] } },
  { shape: [1, 3, 4, 6], pool: { kernel: [9, 9], stride: [1, 1], padding: [4, 4] } },
  { shape: [1, 5, 7, 9], pool: { kernel: [3, 4], stride: [3, 4] } },
  { shape: [3, 1, 6, 5], pool: { kernel: [2, 3], stride: [1, 2], padding: [1, 0] } },
];

for (const { shape, pool } of POOLS)
  test(`windows of ${pool.kernel.join("×")} over [${shape.join(", ")}] have the means that libtorch finds`, () => {
    const [want, got] = onBoth([shape], (engine, x) => {
      const pooled = x.avgPool(pool);
      return { values: engine.read(pooled) as Float32Array, shape: pooled.shape };
    });
    assert.deepEqual(got.shape, want.shape);
    assertClose(got.values, want.values, 1e-5);
  });

test("means of half precision are added up in f32 and rounded once", () => {
  scope(() => {
    const values = fused.constant(draw(2 * 8 * 30), { shape: [2, 8, 5, 6] }).cast("f16");
    const [halves, exact] = (["f16", "f32"] as const).map((dtype) => {
      const target = fused.channelsLast(fused.full([2, 8, 5, 6], 0, { dtype }));
      fused.native("meanPool", target, fused.channelsLast(values.cast(dtype)), [5, 3], [1, 1], [2, 1]);
      return target;
    }) as [TorchTensor, TorchTensor];
    assert.deepEqual(fused.read(halves.cast("f32")), fused.read(exact.cast("f16").cast("f32")));
  });
});

test("a window libtorch refuses is refused in its words", () => {
  scope(() => {
    const x = fused.full([1, 2, 3, 3], 1);
    assert.throws(() => x.avgPool({ kernel: [5, 5], stride: [1, 1] }), /avg_pool2d/);
    assert.throws(() => x.avgPool({ kernel: [2, 2], stride: [1, 1], padding: [2, 2] }), /avg_pool2d/);
  });
});

const SHAPES = [
  [2, 8, 3, 5],
  [8, 8, 1, 1],
  [2, 8, 1, 1],
  [2, 8, 3, 5],
] as const;

test("a sum of branches, its factors and its activation are one result", () => {
  const [want, got] = onBoth(SHAPES, (engine, x, weight, global, other) => {
    const branch = (slope: number): Tensor => x.conv2d(weight).leakyRelu(slope);
    const context = branch(0.1).add(branch(0.2)).add(global) as TorchTensor;
    const result = other
      .add(context.mul(1 / 4))
      .mul(0.5)
      .relu();
    const values = engine.read(result) as Float32Array;
    return { values, untouched: context.deferred !== undefined };
  });
  assertClose(got.values, want.values, 1e-5);
  assert.ok(got.untouched, "nothing in between was computed");
});

test("sums of other kinds, and sums that are used twice, come out the same", () => {
  const follow: ((x: Tensor, y: Tensor, global: Tensor, other: Tensor) => Tensor)[] = [
    (_, y, global) => global.add(y),
    (_, y, global, other) => y.add(global).relu().add(other).leakyRelu(0.1).add(1),
    (x, y, _, other) => [1, 2, 3, 4, 5, 6, 7].reduce((sum) => sum.add(other), y.add(x)).relu(),
    (_, y, global) =>
      y
        .add(global)
        .mul(global)
        .add(y.add(global).reshape([16, 15]).reshape([2, 8, 3, 5])),
    (x, y) => {
      const sum = y.add(x);
      return sum.relu().add(sum).sub(sum.mul(3)).add(sum.add(sum));
    },
    (x, y) => y.add(y.sum([0], { keepAxes: true })).add(x),
    (x, y, global) =>
      x
        .resize2d([6, 9], "bilinear")
        .add(y.resize2d([6, 9], "bilinear"))
        .add(global)
        .mul(0.25),
  ];
  for (const body of follow) {
    const [want, got] = onBoth(SHAPES, (engine, x, weight, global, other) =>
      engine.read(body(x, x.conv2d(weight).relu(), global, other)),
    ) as [Float32Array, Float32Array];
    assertClose(got, want, 1e-5);
  }
});

test("the kernels refuse windows and terms they were not made for", () => {
  scope(() => {
    const x = fused.channelsLast(fused.full([1, 2, 3, 3], 1));
    assert.throws(() => {
      fused.native("meanPool", x, x, [3, 0], [1, 1], [0, 0]);
    }, /window: expected two numbers of at least 1/);
    assert.throws(() => {
      fused.native("meanPool", x, x, [1, 1], [2, 1], [0, 0]);
    }, /window: every window must overlap from/);
    assert.throws(() => {
      fused.native("weightedSum", x, 1, 1, fused.channelsLast(fused.full([1, 2, 3, 1], 1)));
    }, /term: expected the shape of to/);
    assert.throws(() => {
      fused.native("weightedSum", x, 1, ...Array.from({ length: 7 }, () => [1, x]).flat());
    }, /term: more than six terms/);
  });
});
