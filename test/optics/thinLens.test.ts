import assert from "node:assert/strict";
import test from "node:test";
import type { Camera } from "../../src/stack/stackFormat.ts";
import { blurPerDioptre, checkFocus, circleOfConfusion, imageDistance, magnification } from "../../src/optics/lens/thinLens.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const nyu: Camera = { focalLength: 0.05, fNumber: 8, pixelPitch: 12e-6 };

test("the NYU camera focused at 2 m blurs an object at 3 m to 4.45 pixels", () => {
  // |3 - 2| / 3 · 0.0025 / (8 · 1.95) / 12e-6 = 4.4516
  assertClose([circleOfConfusion(nyu, { focusDistance: 2, depth: 3 })], [1 / 3 / 8 / 1.95 / 12e-6 * 0.0025]); // prettier-ignore
  assertClose([circleOfConfusion(nyu, { focusDistance: 2, depth: 3 })], [4.45], 1e-3);
});

test("what is in focus is not blurred", () => {
  assert.equal(circleOfConfusion(nyu, { focusDistance: 1.7, depth: 1.7 }), 0);
});

test("equation 9 equals A·v·|1/S₁ - 1/S₂| for random lenses and distances", () => {
  const random = createRandom(11);
  for (let i = 0; i < 50; i++) {
    const camera = {
      focalLength: 0.003 + 0.1 * random.uniform(),
      fNumber: 0.5 + 10 * random.uniform(),
      pixelPitch: 1e-6 + 1e-5 * random.uniform(),
    };
    const [focusDistance, depth] = [0.2 + 10 * random.uniform(), 0.2 + 10 * random.uniform()];
    assertClose(
      [blurPerDioptre(camera, focusDistance) * Math.abs(1 / focusDistance - 1 / depth)],
      [circleOfConfusion(camera, { focusDistance, depth })],
      1e-9,
    );
  }
});

test("the image distance solves 1/f = 1/d + 1/v, and is f at infinity", () => {
  assertClose([1 / imageDistance(nyu, 0.8) + 1 / 0.8], [1 / 0.05], 1e-12);
  assert.equal(imageDistance(nyu, Infinity), 0.05);
});

test("at twice the focal length the picture is twice as large as at infinity", () => {
  assertClose([magnification(nyu, { focusDistance: 0.1, reference: Infinity })], [2]);
  assertClose([magnification(nyu, { focusDistance: 1, reference: 2 })], [(1 / 0.95) / (2 / 1.95)]); // prettier-ignore
});

test("a focus distance inside the focal length and a camera without a size are errors", () => {
  assert.throws(() => { checkFocus(nyu, 0.05); }, /50 mm cannot focus at 0.05 m/); // prettier-ignore
  assert.throws(() => { checkFocus({ ...nyu, fNumber: 0 }, 1); }, /fNumber must be positive, got 0/); // prettier-ignore
});
