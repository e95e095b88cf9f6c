import assert from "node:assert/strict";
import { test } from "node:test";

import { depthMap } from "../../../src/image/depthMap.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { profilePoints } from "../../../web/src/state/curve.ts";
import { distanceBetween, lineFacts, profileOf } from "../../../web/src/state/measure.ts";

/** 5 × 3 pixels: depth is 2 m, at the fourth column 3 m, the middle pixel unknown. */
const values = Float32Array.from({ length: 15 }, (_, i) => (i === 7 ? NaN : i % 5 === 3 ? 3 : 2));
const depth = depthMap({ width: 5, height: 3, values, space: "depth" });
const camera = { focalLength: 0.05, fNumber: 2, pixelPitch: 0.0005 }; // 100 pixels
const result: DepthResult = { depth, unit: "m", camera };

test("a profile takes a value per pixel along the line, with gaps where depth is unknown", () => {
  assert.deepEqual([...profileOf(result, { from: { x: 0, y: 1 }, to: { x: 4, y: 1 } })], [2, 2, NaN, 3, 2]);
  assert.deepEqual([...profileOf(result, { from: { x: 4, y: 0 }, to: { x: 2, y: 2 } })], [2, 3, 2], "diagonally, and from right to left");
  assert.deepEqual([...profileOf(result, { from: { x: 3, y: 1 }, to: { x: 3, y: 1 } })], [3]);
});

test("the distance is that of the points in space", () => {
  const along = distanceBetween(result, { from: { x: 0, y: 0 }, to: { x: 4, y: 0 } });
  assert.ok(Math.abs(along - 0.08) < 1e-6, "four pixels of 2 m / 100");
  const rising = distanceBetween(result, { from: { x: 2, y: 0 }, to: { x: 3, y: 0 } }); // the optical axis passes through column 2
  assert.ok(Math.abs(rising - Math.hypot(0.03, 1, 0.01)) < 1e-6, `${rising}: 1 m farther, 3 cm aside, the row's height grows by 1 cm`);
  const microscope = { depth, unit: "m", pixelSize: 1 } as const;
  assert.ok(Math.abs(distanceBetween(microscope, { from: { x: 0, y: 0 }, to: { x: 3, y: 0 } }) - Math.hypot(3, 1)) < 1e-6);
});

test("facts name their unit, and say what is unknown", () => {
  const facts = Object.fromEntries(lineFacts(result, { from: { x: 2, y: 0 }, to: { x: 3, y: 0 } }));
  assert.deepEqual(facts, { Distance: "1 m", "Depth difference": "1 m", "In the image": "1.0 pixels" });
  const unknown = Object.fromEntries(lineFacts(result, { from: { x: 2, y: 1 }, to: { x: 3, y: 0 } }));
  assert.match(unknown["Distance"] ?? "", /^unknown/);
  const index: DepthResult = { depth: { ...depth, space: "index" }, unit: "index" };
  assert.equal(Object.fromEntries(lineFacts(index, { from: { x: 2, y: 0 }, to: { x: 3, y: 0 } }))["Depth difference"], "1.00 planes");
});

test("a profile is drawn in stretches between its gaps", () => {
  const frame = { width: 100, height: 100, left: 0, right: 0, top: 0, bottom: 0 };
  assert.deepEqual(profilePoints(Float32Array.of(2, 2, NaN, 3, 2), { range: [2, 4], frame }), ["0,100 25,100", "75,50 100,100"]);
});
