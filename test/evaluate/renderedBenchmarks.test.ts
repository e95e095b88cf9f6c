import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sample } from "../../src/data/dataset.ts";
import { depthMap } from "../../src/image/depthMap.ts";
import { measureImage } from "../../src/evaluate/imageMetrics.ts";
import { openObjects, openPhone } from "../../src/evaluate/renderedBenchmarks.ts";
import { openEvaluationSet } from "../../src/evaluate/protocol.ts";
import { nearSilhouette, nearestOfObject } from "../../src/evaluate/silhouette.ts";
import { textureStrength, textureThirds } from "../../src/evaluate/untextured.ts";
import { assertClose } from "../helpers/close.ts";

const tiny = { scenes: 2, size: 40, samples: 4 };

test("a pixel is near the silhouette when background lies within reach, in any direction", () => {
  const [width, height] = [9, 7];
  const object = new Uint8Array(width * height).fill(1);
  object[3 * width + 4] = 0; // one hole in the middle
  const near = nearSilhouette(object, { width, height }, 2);
  const expected = object.map((is, i) => (is && Math.hypot((i % width) - 4, Math.floor(i / width) - 3) <= 2 ? 1 : 0));
  assert.deepEqual(near, expected);
  assert.deepEqual(nearSilhouette(new Uint8Array(4).fill(1), { width: 2, height: 2 }), new Uint8Array(4)); // no background, no silhouette
});

test("background beside the object knows the object's pixel nearest to it", () => {
  const [width, height] = [6, 2];
  const object = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0); // at (0, 0) and (4, 1)
  const [left, right] = [0, 10];
  // prettier-ignore
  const expected = Int32Array.of(
    -1, left, left, right, right, right, //  (2, 0) is 2 from the left one and √5 from the right
    left, left, right, right, -1, right, //  (2, 1) is √5 and 2 from them
  );
  assert.deepEqual(nearestOfObject(object, { width, height }, 2), expected);
  assert.equal(nearestOfObject(object, { width, height }, 1)[2], -1);
});

test("the truth of an object is the object's alone, and the planes share scene, lens and range", async () => {
  const [few, many] = [await openObjects({ ...tiny, planes: 3 }).sample(1), await openObjects({ ...tiny, planes: 5 }).sample(1)];
  assert.deepEqual(few.trueDepth.values, many.trueDepth.values);
  assertClose(
    few.stack.focusDistances,
    [0, 2, 4].map((n) => many.stack.focusDistances[n] as number),
    1e-9,
  );
  const background = Math.max(...few.trueDepth.values);
  assert.deepEqual(few.object, few.trueDepth.valid);
  assert.deepEqual(
    few.object,
    Uint8Array.from(few.trueDepth.values, (value) => (value < 0.999 * background ? 1 : 0)),
  );
  const share = few.trueDepth.valid.reduce((sum, is) => sum + is, 0) / few.trueDepth.values.length;
  assert.ok(share > 0.05 && share < 0.9, `the object fills ${share} of the picture`);
  assert.throws(() => openObjects({ ...tiny, planes: 1 }), /object: 1 planes asked for; expected 2 to 100/);
  assert.throws(() => openPhone({ ...tiny, textures: "photos" }), /phone: its textures are fixed/);
});

test("errors beside the silhouette and inside the object are told apart, in planes", () => {
  const [width, height] = [80, 10];
  const object = Uint8Array.from({ length: width * height }, (_, i) => (i % width >= 10 ? 1 : 0));
  const image = { width, height, channels: 1 as const, data: new Float32Array(width * height).fill(0.5) };
  const stack = { images: [image, image, image, image, image, image], focusDistances: [1, 2, 3, 4, 5, 6], space: "depth" as const };
  const map = (value: (x: number) => number, valid = new Uint8Array(width * height).fill(1)) =>
    depthMap({ width, height, values: Float32Array.from({ length: width * height }, (_, i) => value(i % width)), valid, space: "depth" });
  const sample: Sample = { name: "edge", stack, trueDepth: map((x) => (x < 10 ? 9 : 1.5), object), object };
  // Of the 30 columns beside the edge at x = 10, the first six are at the last plane (4.5 off); inside is half a plane off.
  const depth = map((x) => (x < 16 ? 6 : x < 39.5 ? 1.5 : 2));
  const metrics = measureImage(sample, { depth }, (comparison) => comparison);
  assertClose([metrics.rmseSilhouette, metrics.offSilhouette, metrics.rmseInside], [4.5 * Math.sqrt(6 / 30), 6 / 30, 0.5], 1e-5);
});

test("thirds by texture share out the pixels, least textured first", async () => {
  const sample = await openPhone({ ...tiny, planes: 2 }).sample(0);
  const strength = textureStrength(sample.stack);
  const [plain, middle, textured] = textureThirds(sample.trueDepth, strength);
  const count = ({ valid }: { valid: Uint8Array }): number => valid.reduce((sum, is) => sum + is, 0);
  assert.equal(count(plain) + count(middle) + count(textured), count(sample.trueDepth));
  const meanOf = (part: { valid: Uint8Array }): number =>
    strength.reduce((sum, value, i) => sum + value * (part.valid[i] as number), 0) / count(part);
  assert.ok(meanOf(plain) < meanOf(middle) && meanOf(middle) < meanOf(textured));
  assert.ok(Math.abs(count(middle) - count(sample.trueDepth) / 3) < 0.02 * count(sample.trueDepth));
});

test("both sets are the same every time and say how they were made", async () => {
  for (const dataset of ["object", "phone"] as const) {
    const set = await openEvaluationSet({ dataset, planes: 4, rendered: tiny });
    assert.match(set.protocol, /seeds [67]000000 to [67]000001, 40×40, 4 rays per pixel, textures of their own/);
    const [once, again] = [await set.sample(1), await (await openEvaluationSet({ dataset, planes: 4, rendered: tiny })).sample(1)];
    assert.deepEqual(once.stack, again.stack);
    assert.notDeepEqual(once.stack.images, (await set.sample(0)).stack.images);
    await assert.rejects(openEvaluationSet({ dataset, split: "train" }), /there is no split "train"/);
  }
});
