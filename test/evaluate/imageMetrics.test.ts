import assert from "node:assert/strict";
import test from "node:test";
import type { Sample } from "../../src/data/dataset.ts";
import { depthMap, type DepthMap } from "../../src/image/depthMap.ts";
import { measureImage, METRIC_NAMES } from "../../src/evaluate/imageMetrics.ts";
import { inPlanes, planeIndexOf } from "../../src/evaluate/planeUnits.ts";
import { textureStrength, textureThirds } from "../../src/evaluate/untextured.ts";
import { texture } from "../helpers/texturedStack.ts";
import { assertClose } from "../helpers/close.ts";

test("plane numbers are whole at the planes, linear between, and go on outside; also when values fall", () => {
  const at = (focus: readonly number[], values: readonly number[]): number[] => values.map((value) => planeIndexOf(focus, value));
  assert.deepEqual(at([1, 2, 4], [1, 1.5, 2, 3, 4, 6, 0]), [0, 0.5, 1, 1.5, 2, 3, -1]);
  assert.deepEqual(at([3, 1, 0], [3, 2, 1, 0.5, 0, -1, 5]), [0, 0.5, 1, 1.5, 2, 3, -1]);
});

test("in plane units maps are cut to the planes, and truth far outside does not count", () => {
  const depth = depthMap({ width: 5, height: 1, values: Float32Array.of(0, 0.6, 2, 4.8, 6), space: "depth" });
  const { values, valid, space } = inPlanes(depth, [1, 2, 4], { within: 0.5 });
  assert.deepEqual([Array.from(values), Array.from(valid), space], [[0, 0, 1, 2, 2], [0, 1, 1, 1, 0], "index"]);
});

/** Left third flat, the rest textured; sharp on the second plane, flat on the first. */
function halfTextured(): Sample {
  const [width, height] = [60, 30];
  const noise = texture({ width, height });
  const data = noise.data.map((value, i) => (Math.floor(i / 3) % width < 20 ? 0.5 : value));
  const images = [
    { ...noise, data: new Float32Array(data.length).fill(0.5) },
    { ...noise, data },
  ];
  const trueDepth = depthMap({ width, height, values: new Float32Array(width * height).fill(1.5), space: "depth" });
  return { name: "half", stack: { images, focusDistances: [1, 2], space: "depth" }, trueDepth };
}

test("the least textured third is where the sharpest plane is flat", () => {
  const { stack, trueDepth } = halfTextured();
  const { valid } = textureThirds(trueDepth, textureStrength(stack))[0];
  const share = valid.reduce((sum, v) => sum + v, 0) / valid.length;
  assert.ok(Math.abs(share - 1 / 3) < 0.01, `share ${share}`);
  const misplaced = valid.filter((v, i) => v === 1 && i % 60 >= 20 + 4).length; // the window reaches four pixels over
  assert.equal(misplaced, 0);
});

test("pixels without truth take no part in choosing the third", () => {
  const { stack, trueDepth } = halfTextured();
  const valid = trueDepth.valid.map((_, i) => (i % 60 >= 30 ? 1 : 0));
  const part = textureThirds({ ...trueDepth, valid }, textureStrength(stack))[0];
  assert.equal(
    part.valid.reduce((sum, v) => sum + v, 0),
    300,
  ); // a third of 30 × 30
});

test("errors in the flat part alone show in the untextured metrics and not beside them", () => {
  const sample = halfTextured();
  const values = sample.trueDepth.values.map((value, i) => (i % 60 < 16 ? value + 0.2 : value));
  const metrics = measureImage(sample, { depth: { ...sample.trueDepth, values } }, (comparison) => comparison);
  assert.deepEqual(Object.keys(metrics).sort(), [...METRIC_NAMES].sort());
  const wrong = 16 / 60;
  assertClose([metrics.rmse, metrics.badPix], [0.2 * Math.sqrt(wrong), wrong], 1e-5);
  assertClose([metrics.rmseUntextured, metrics.badPixUntextured], [0.2 * Math.sqrt(3 * wrong), 3 * wrong], 1e-5);
  assertClose([metrics.rmsePlanes], [metrics.rmse], 1e-5); // planes are a metre apart
});

test("finished depth is measured as the depth is: silhouette, inside, boundaries", () => {
  const [width, height] = [80, 4];
  const { images } = halfTextured().stack;
  const cut = images.map((image) => ({ ...image, width, height, data: image.data.slice(0, 3 * width * height) }));
  const across = (at: (x: number) => number): Float32Array => Float32Array.from({ length: width * height }, (_, i) => at(i % width));
  const truth = depthMap({ width, height, values: across((x) => (x < 40 ? 2 : 6)), space: "depth" });
  const sample: Sample = {
    name: "object",
    stack: { images: Array.from({ length: 8 }, () => cut[0] as (typeof cut)[0]), focusDistances: [1, 2, 3, 4, 5, 6, 7, 8], space: "depth" },
    trueDepth: truth,
    object: Uint8Array.from(across((x) => (x < 40 ? 1 : 0))), // columns 10 to 39 are within 30 pixels of the background
  };
  const finished = { ...truth, values: across((x) => (x < 5 ? 3 : x >= 34 && x < 40 ? 6 : x < 40 ? 2 : 6)) };
  const metrics = measureImage(sample, { depth: truth, finished }, (comparison) => comparison);
  assert.deepEqual([metrics.rmseSilhouette, metrics.offSilhouette, metrics.rmseInside, metrics.boundaryF1], [0, 0, 0, 1]);
  assertClose([metrics.rmseSilhouetteFinished, metrics.offSilhouetteFinished], [Math.sqrt((16 * 6) / 30), 6 / 30], 1e-6);
  assertClose([metrics.rmseInsideFinished], [Math.sqrt(5 / 10)], 1e-6);
  assert.equal(metrics.boundaryF1Finished, 0); // its contours lie at columns 5 and 34, the truth's at 40
  assert.ok(Number.isNaN(measureImage(sample, { depth: truth }, (comparison) => comparison).boundaryF1Finished));
  // Of the five columns of background beside the object the depth puts two at the object's plane and one just behind the middle, at 4.1 m.
  const fatter = { ...truth, values: across((x) => (x < 42 ? 2 : x === 42 ? 4.1 : 6)) };
  const fattening = (depth: DepthMap): number => measureImage(sample, { depth }, (comparison) => comparison).fattening;
  assert.deepEqual([metrics.fattening, metrics.fatteningFinished, fattening(fatter)], [0, 0, 2 / 5]);
  const valid = Uint8Array.from(across((x) => (x === 40 ? 0 : 1)));
  assert.equal(fattening({ ...fatter, valid }), 1 / 4); // of the four columns that have a depth
});
