import assert from "node:assert/strict";
import { test } from "node:test";

import { createTorchEngine } from "../../../src/engine/torch/torchEngine.ts";
import { interpolation } from "../../../src/engine/torch/resize.ts";
import { createRandom } from "../../../src/random.ts";
import { assertClose } from "../../helpers/close.ts";
import { noBf16 } from "../../helpers/bf16.ts";

const engine = createTorchEngine();
const random = createRandom(1);
const values = Float32Array.from({ length: 2 * 3 * 4 * 5 * 7 }, () => random.normal());

test("doubling two samples weighs them 1, ¾, ¼, 0", () => {
  assert.deepEqual([...interpolation(2, 4)], [1, 0, 0.75, 0.25, 0.25, 0.75, 0, 1]);
});

test("the two matrix products of bf16 give libtorch's bilinear values, forward and backward, at rank 4 and 5", { skip: noBf16 }, () => {
  for (const shape of [
    [2, 12, 5, 7],
    [2, 3, 4, 5, 7],
  ])
    for (const size of [
      [10, 14],
      [9, 4],
      [5, 14],
      [5, 7],
    ] as const) {
      const results = (["f32", "bf16"] as const).map((dtype) => {
        const input = engine.requireGradient(engine.constant(values, { shape }).cast("bf16").cast(dtype));
        const output = input.resize2d(size, "bilinear");
        engine.backward(output.square().sum());
        const gradient = engine.gradient(input);
        assert.ok(gradient);
        return [output, gradient].map((tensor) => engine.read(tensor.cast("f32")) as Float32Array);
      }) as [[Float32Array, Float32Array], [Float32Array, Float32Array]];
      const [[expected, expectedGradient], [actual, actualGradient]] = results;
      assertClose(actual, expected, 0.01); // bf16 keeps 8 bits
      assertClose(actualGradient, expectedGradient, 0.02);
    }
});
