import assert from "node:assert/strict";
import { test } from "node:test";

import { depthMap } from "../../src/image/depthMap.ts";
import { encodeOutputs } from "../../src/output/outputs.ts";
import type { DepthResult } from "../../src/output/result.ts";
import { doubtfulFraction, doubtfulPixels, vouchedOnly } from "../../src/output/trust.ts";

/** Four by four pixels; the second row is unsure, the last pixel unknown. */
const confidence = Float32Array.from({ length: 16 }, (_, i) => (i >= 4 && i < 8 ? 0.1 : 0.2));
const values = Float32Array.from({ length: 16 }, (_, i) => (i === 15 ? NaN : 1));
const result: DepthResult = { depth: depthMap({ width: 4, height: 4, values, space: "depth" }), unit: "m", confidence };

test("doubtful is known depth below the limit, and nothing without a confidence", () => {
  assert.deepEqual([...doubtfulPixels(result)], [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  assert.equal(doubtfulFraction(result), 0.25);
  assert.equal(doubtfulFraction(result, 0.3), 15 / 16, "unknown is not doubtful");
  assert.equal(doubtfulFraction({ depth: result.depth, unit: "m" }), 0);
  assert.equal(doubtfulFraction({ ...result, confidence: confidence.map(() => NaN) }), 15 / 16);
});

test("what is vouched for keeps its depth; the given result is not changed", () => {
  const { depth } = vouchedOnly(result);
  assert.deepEqual([...depth.valid], [1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0]);
  assert.equal(result.depth.valid[4], 1);
  assert.equal(vouchedOnly(result, 0), result);
});

test("maps that are computed when they are read are computed for nobody who does not read them", () => {
  const reads: string[] = [];
  const lazy = Object.defineProperties({ ...result }, Object.fromEntries(["error", "beyond", "filled"].map((name) => [name, { enumerable: true, get: () => reads.push(name) }]))); // prettier-ignore
  const vouched = vouchedOnly(lazy);
  assert.deepEqual(reads, []);
  assert.deepEqual([vouched.filled, vouched.confidence, Object.keys(vouched)], [1, confidence, Object.keys(lazy)]);
  assert.deepEqual(reads, ["filled"]);
});

test("points leave doubtful depth out unless asked not to", async () => {
  const points = async (leastConfidence?: number): Promise<string | undefined> => {
    for await (const { bytes } of encodeOutputs(result, ["ply"], leastConfidence === undefined ? {} : { leastConfidence }))
      return /element vertex (\d+)/.exec(Buffer.from(bytes).toString("latin1"))?.[1];
    return undefined;
  };
  assert.deepEqual([await points(), await points(0)], ["11", "15"]);
});
