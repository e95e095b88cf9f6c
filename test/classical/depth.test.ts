import assert from "node:assert/strict";
import test from "node:test";
import { laplacianDepth } from "../../src/classical/modifiedLaplacian.ts";
import { ringDifferenceDepth } from "../../src/classical/ringDifference.ts";
import { rootMeanSquaredError } from "../../src/metrics/depthErrors.ts";
import { createRandom } from "../../src/random.ts";
import type { FocalStack } from "../../src/stack/focalStack.ts";
import { slantedStack } from "../helpers/texturedStack.ts";

const { stack, trueDepth } = slantedStack(); // planes 1 m apart

const methods = {
  laplacian: laplacianDepth,
  ringGuided: ringDifferenceDepth,
  ringBox: (given: FocalStack) => ringDifferenceDepth(given, { aggregation: "box" }),
};

for (const [name, method] of Object.entries(methods)) {
  test(`${name}: the depth of a textured slanted plane is found within a tenth of the plane spacing`, () => {
    const { depth, confidence, sharpness } = method(stack);
    const error = rootMeanSquaredError({ depth, trueDepth });
    assert.ok(error < 0.1, `RMSE ${error} planes`);
    assert.ok(confidence.every((value) => value > 0 && value <= 1));
    assert.deepEqual([sharpness.planes, sharpness.width, sharpness.height], [6, 96, 64]);
  });

  test(`${name}: turning the stack around as disparity gives the same surface`, () => {
    const disparity = { images: stack.images, focusDistances: stack.focusDistances.map((value) => 7 - value), space: "disparity" } as const;
    const { depth } = method(disparity);
    assert.equal(depth.space, "disparity");
    const mirrored = { ...depth, space: "depth", values: depth.values.map((value) => 7 - value) } as const;
    assert.ok(rootMeanSquaredError({ depth: mirrored, trueDepth }) < 0.1);
  });

  test(`${name}: where nothing has texture the confidence is near zero`, () => {
    const blank = stack.images.map((image) => ({ ...image, data: new Float32Array(image.data.length).fill(0.4) }));
    assert.ok(method({ ...stack, images: blank }).confidence.every((value) => value < 1e-3));
  });
}

test("the ring difference filter stands noise better than the Laplacian", () => {
  const random = createRandom(4);
  const images = stack.images.map((image) => ({ ...image, data: image.data.map((value) => value + 0.03 * random.normal()) }));
  const error = (method: (given: FocalStack) => { depth: typeof trueDepth }): number =>
    rootMeanSquaredError({ depth: method({ ...stack, images }).depth, trueDepth });
  assert.ok(error(ringDifferenceDepth) < error(laplacianDepth));
});

test("one plane is too few", () => {
  const single = { images: stack.images.slice(0, 1), focusDistances: [1], space: "depth" } as const;
  for (const method of Object.values(methods)) assert.throws(() => method(single), /at least 2 planes, got 1/);
});
