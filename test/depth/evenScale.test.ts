import assert from "node:assert/strict";
import { test } from "node:test";

import { inEvenScale, inScaleOf } from "../../src/depth/evenScale.ts";
import { finishDepth } from "../../src/depth/finish.ts";
import { depthMap } from "../../src/image/depthMap.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const floats = (...values: readonly number[]): Float32Array => Float32Array.from(values);
const size = { width: 4, height: 1 };

test("metres become dioptres and their errors with them; back again they are the same metres", () => {
  const metres = depthMap({ ...size, values: floats(0.5, 2, 4, NaN), space: "depth" });
  const even = inEvenScale({ depth: metres, error: floats(0.05, 0.1, 0.8, NaN) });
  assert.deepEqual(even.depth, depthMap({ ...size, values: floats(2, 0.5, 0.25, NaN), space: "disparity" }));
  assertClose(even.error.slice(0, 3), floats(0.2, 0.025, 0.05), 1e-7); // 0.05 / 0.5², 0.1 / 2², 0.8 / 4²
  assert.deepEqual(inScaleOf(metres, even.depth), metres);
});

test("disparity, positions and plane indices are even as they are", () => {
  for (const space of ["disparity", "position", "index"] as const) {
    const measured = { depth: depthMap({ ...size, values: floats(0, -1, 2, 5), space }), error: floats(1, 2, 3, 4) };
    assert.deepEqual(inEvenScale(measured), measured);
    assert.deepEqual(inScaleOf(measured.depth, measured.depth), measured.depth);
  }
});

test("a stack is finished alike in metres and in dioptres", () => {
  const random = createRandom(8);
  const [width, height] = [32, 24];
  const across = (at: (x: number) => number): Float32Array => Float32Array.from({ length: width * height }, (_, i) => at(i % width));
  const dioptres = across((x) => (x < 16 ? 1.5 : 0.5) + 0.05 * random.uniform()); // 0.67 m before 2 m
  const error = across((x) => (x < 16 ? 0.1 : 0.2));
  const rest = {
    allInFocus: { width, height, channels: 1 as const, data: across((x) => (x < 18 ? 0.8 : 0.2)) },
    confidence: across((x) => (x < 16 ? 0.96 : 0.86)),
    unfounded: across((x) => (x > 24 ? 1 : 0)),
    unrest: across(() => 0.2),
  };
  const finished = (space: "depth" | "disparity"): Float32Array => {
    const inSpace = (values: Float32Array): Float32Array => (space === "depth" ? values.map((value) => 1 / value) : values);
    const estimate = {
      ...rest,
      depth: depthMap({ width, height, values: inSpace(dioptres), space }),
      error: space === "depth" ? error.map((each, i) => each / (dioptres[i] as number) ** 2) : error,
    };
    return inSpace(finishDepth(estimate).depth.values);
  };
  const inDioptres = finished("disparity");
  assert.notDeepEqual(inDioptres, dioptres);
  assertClose(finished("depth"), inDioptres, 1e-5);
});
