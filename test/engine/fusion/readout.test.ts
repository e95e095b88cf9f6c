import assert from "node:assert/strict";
import { test } from "node:test";

import type { Tensor } from "../../../src/engine/engine.ts";
import { scope } from "../../../src/engine/scope.ts";
import { createTorchEngine, type TorchEngine, type TorchTensor } from "../../../src/engine/torch/torchEngine.ts";
import { depthSpread, expectedDepth, focusProbability } from "../../../src/model/focusHead.ts";
import { createRandom } from "../../../src/random.ts";
import { assertClose } from "../../helpers/close.ts";

const plain = createTorchEngine({ threads: 2 });
const fused = createTorchEngine({ threads: 2, inference: { precision: "f32" } });

const random = createRandom(9);
const draw = (count: number): Float32Array => Float32Array.from({ length: count }, () => 5 * random.normal());

interface Case {
  readonly from: readonly [number, number, number, number];
  readonly size: readonly [number, number];
}

interface Given {
  readonly probability: Tensor;
  readonly focusDistances: Tensor;
}

/** p by the model's own words, and distances, on both engines. */
function onBoth<T>({ from: [B, N, h, w], size }: Case, body: (engine: TorchEngine, given: Given) => T): [T, T] {
  const [logits, distances] = [draw(B * N * h * w), draw(B * N)];
  return [plain, fused].map((engine) =>
    engine.noGradient(() =>
      scope(() => {
        const maps = engine.constant(logits, { shape: [B, 1, N, h, w] });
        const focusDistances = engine.constant(distances, { shape: [B, N] });
        return body(engine, { probability: focusProbability(maps, size), focusDistances });
      }),
    ),
  ) as [T, T];
}

const CASES: readonly Case[] = [
  { from: [1, 5, 4, 6], size: [16, 24] },
  { from: [2, 3, 3, 5], size: [11, 13] },
  { from: [1, 1, 2, 2], size: [3, 5] },
  { from: [2, 70, 1, 1], size: [1, 4] },
  { from: [1, 4, 9, 7], size: [5, 3] },
];

for (const { from, size } of CASES)
  test(`logits [${from.join(", ")}] become p, depth and spread of ${size.join("×")} in one pass`, () => {
    const [want, got] = onBoth({ from, size }, (engine, { probability, focusDistances }) => {
      const p = probability as TorchTensor;
      const depth = expectedDepth({ focusProbability: p, focusDistances }) as TorchTensor;
      const spread = (): Tensor => depthSpread({ focusProbability: p, focusDistances });
      const together = engine.fusion?.readOut(p, focusDistances as TorchTensor);
      assert.equal(together !== undefined, engine === fused);
      if (together) assert.ok(p.deferred && depth.deferred, "what the model asked for was not computed besides");
      return [p, depth, spread()].map((tensor, i) => {
        const own = together && [together.probability, together.depth, together.spread][i];
        return { values: engine.read(own ?? tensor) as Float32Array, shape: (own ?? tensor).shape };
      });
    });
    got.forEach(({ values, shape }, i) => {
      assert.deepEqual(shape, want[i]?.shape);
      const expected = want[i]?.values as Float32Array;
      if (expected.every((value) => value === 0))
        assert.deepEqual(values, expected); // the spread of one plane
      else assertClose(values, expected, 2e-5);
    });
  });

test("what is done to p or to resampled maps otherwise is as it was", () => {
  const follow: ((given: Given) => Tensor)[] = [
    ({ probability }) => probability,
    ({ probability }) => probability.mul(2).sum([1]),
    ({ probability, focusDistances }) => probability.mul(focusDistances.reshape([2, 3, 1, 1])).sum([1]),
    ({ probability, focusDistances }) => probability.mul(focusDistances.reshape([2, 3, 1, 1])).sum([2, 3]),
    ({ probability, focusDistances }) => expectedDepth({ focusProbability: probability, focusDistances }),
    ({ probability }) => probability.resize2d([7, 4], "bilinear").softmax(2),
    ({ probability }) => probability.resize2d([7, 4], "bilinear").add(1),
  ];
  for (const body of follow) {
    const [want, got] = onBoth({ from: [2, 3, 4, 4], size: [8, 8] }, (engine, given) => engine.read(body(given)) as Float32Array);
    assertClose(got, want, 2e-5);
  }
});

test("p that is computed already is not read out again", () => {
  onBoth({ from: [1, 2, 2, 2], size: [4, 4] }, (engine, { probability, focusDistances }) => {
    engine.read(probability);
    assert.equal(engine.fusion?.readOut(probability as TorchTensor, focusDistances as TorchTensor), undefined);
  });
});

test("readOut refuses operands it was not made for", () => {
  scope(() => {
    const [maps, p] = [fused.full([1, 2, 2, 2], 0), fused.full([1, 2, 4, 4], 0)];
    assert.throws(() => {
      fused.native("readOut", p, fused.full([1, 3, 2, 2], 0), null, null, null);
    }, /logits: expected as many stacks and planes/);
    assert.throws(() => {
      fused.native("readOut", p, maps, fused.full([1, 2], 0), p, p);
    }, /depth: expected 16 values/);
    assert.throws(() => {
      fused.native("readOut", p, maps.cast("f16"), null, null, null);
    }, /logits: expected f32/);
  });
});
