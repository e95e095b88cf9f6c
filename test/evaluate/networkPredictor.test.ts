import assert from "node:assert/strict";
import test from "node:test";
import { networkPredictor } from "../../src/evaluate/networkPredictor.ts";
import { configs } from "../../src/model/config.ts";
import { initialWeights } from "../../src/model/state.ts";
import type { Model } from "../../src/network/weightsFile.ts";
import { createRandom } from "../../src/random.ts";
import { focalStack } from "../../src/stack/focalStack.ts";
import { assertClose } from "../helpers/close.ts";
import { slantedStack } from "../helpers/texturedStack.ts";

const untrained = (name: "small" | "dfv"): Model => ({
  config: configs[name],
  weights: initialWeights(configs[name], createRandom(3)),
  facts: {},
});
const options = { name: "network", fingerprint: "f", threads: 1 };
const { stack } = slantedStack({ width: 50, height: 40, planes: 4 });

test("a network answers at the size of the stack, in its space, and moves with the focus distances", async () => {
  const predictor = networkPredictor(untrained("small"), options);
  const { depth, focusProbability } = await predictor.predict(stack);
  assert.deepEqual([depth.width, depth.height, depth.space, depth.values.length], [50, 40, "depth", 2000]);
  assert.deepEqual([focusProbability?.planes, focusProbability?.values.length], [4, 8000]);
  const moved = focalStack({ ...stack, focusDistances: stack.focusDistances.map((f) => 10 - 2 * f), space: "disparity" });
  const other = await predictor.predict(moved);
  assert.equal(other.depth.space, "disparity");
  assertClose(
    other.depth.values,
    depth.values.map((value) => 10 - 2 * value),
    1e-5,
  );
  await predictor.dispose();
});

test("mirroring by hand to a multiple of 32 gives the same pixels as leaving it to the predictor", async () => {
  const predictor = networkPredictor(untrained("small"), options);
  const wide = stack.images.map((image) => {
    const data = new Float32Array(64 * 64 * 3);
    for (let y = 0; y < 64; y++)
      for (let x = 0; x < 64; x++) {
        const [sx, sy] = [x < 50 ? x : 98 - x, y < 40 ? y : 78 - y];
        for (let c = 0; c < 3; c++) data[(y * 64 + x) * 3 + c] = image.data[(sy * 50 + sx) * 3 + c] as number;
      }
    return { ...image, width: 64, height: 64, data };
  });
  const [small, large] = [await predictor.predict(stack), await predictor.predict({ ...stack, images: wide })];
  const cut = Float32Array.from({ length: 2000 }, (_, i) => large.depth.values[Math.floor(i / 50) * 64 + (i % 50)] as number);
  assertClose(small.depth.values, cut, 1e-5);
  await predictor.dispose();
});

test("DFV, whose graph is for one size, answers for stacks of changing size and number of planes", async () => {
  const predictor = networkPredictor(untrained("dfv"), options);
  for (const planes of [4, 3]) {
    const images = stack.images.slice(0, planes);
    const { depth } = await predictor.predict({ ...stack, images, focusDistances: stack.focusDistances.slice(0, planes) });
    assert.ok(depth.values.every((value) => value >= 1 - 1e-4 && value <= planes + 1e-4));
  }
  await predictor.dispose();
});

test("weights trained in dioptres are averaged in dioptres, and only where the stack has metres", async () => {
  const predictor = networkPredictor({ ...untrained("small"), facts: { average: "dioptres" } }, options);
  const { depth, focusProbability } = await predictor.predict(stack);
  const p = focusProbability?.values ?? [];
  const mean = (values: readonly number[]): Float32Array =>
    Float32Array.from({ length: 2000 }, (_, i) => values.reduce((sum, value, n) => sum + value * (p[n * 2000 + i] as number), 0));
  const dioptres = stack.focusDistances.map((distance) => 1 / distance);
  assertClose(depth.values, mean(dioptres).map((value) => 1 / value), 1e-5); // prettier-ignore
  const index = await predictor.predict({ ...stack, space: "index" });
  assertClose(index.depth.values, mean(stack.focusDistances), 1e-5);
  await predictor.dispose();
});
