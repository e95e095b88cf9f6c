import assert from "node:assert/strict";
import { test } from "node:test";

import type { Tensor } from "../../src/engine/engine.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { depthSpread, expectedDepth, focusProbability } from "../../src/model/focusHead.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const engine = createTorchEngine({ threads: 1 });
const tensor = (values: readonly number[], ...shape: number[]): Tensor => engine.constant(values, { shape });
const read = (value: Tensor): number[] => [...(engine.read(value) as Float32Array)];
const softmax = (a: number, b: number): [number, number] => [1 / (1 + Math.exp(b - a)), 1 / (1 + Math.exp(a - b))];

test("logits are enlarged first and then turned to probabilities", () => {
  // one row, two planes: logits 0 and 4 on the left, 8 and 0 on the right; pixel centres at half integers: weights 1, ¾, ¼, 0
  const p = read(focusProbability(tensor([0, 8, 4, 0], 1, 1, 2, 1, 2), [1, 4]));
  const expected = [0, 0.25, 0.75, 1].map((t) => softmax(8 * t, 4 * (1 - t)));
  assertClose(p, [...expected.map(([first]) => first), ...expected.map(([, second]) => second)], 1e-6);
});

test("depth is Σ p f, and its spread √Σ p (f − D̂)²", () => {
  const given = { focusProbability: tensor([0.25, 0.25, 0.5], 1, 3, 1, 1), focusDistances: tensor([1, 2, 4], 1, 3) };
  assertClose(read(expectedDepth(given)), [2.75], 1e-6);
  assertClose(read(depthSpread(given)), [Math.sqrt(0.25 * 1.75 ** 2 + 0.25 * 0.75 ** 2 + 0.5 * 1.25 ** 2)], 1e-6);
});

test("depth follows any affine change of the focus distances", () => {
  const random = createRandom(3);
  const p = focusProbability(tensor(Array.from({ length: 40 }, () => 3 * random.normal()), 1, 1, 5, 2, 4), [8, 16]); // prettier-ignore
  const depth = (distances: number[]): number[] => read(expectedDepth({ focusProbability: p, focusDistances: tensor(distances, 1, 5) }));
  const plain = depth([1, 1.5, 2, 3, 5]);
  assertClose(
    depth([1, 1.5, 2, 3, 5].map((f) => 10 - 2 * f)),
    plain.map((d) => 10 - 2 * d),
    1e-5,
  );
  assert.ok(plain.every((d) => d >= 1 && d <= 5));
});
