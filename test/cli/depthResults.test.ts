import assert from "node:assert/strict";
import { test } from "node:test";

import { describeResult } from "../../src/cli/depthResults.ts";
import type { DepthDocument } from "../../src/depth/node/stackRun.ts";

/** What the first line says about depth. */
function depthLine(result: Pick<DepthDocument, "unit" | "range" | "expectedError">, distance: string): string {
  const document = {
    ...{ planes: 3, width: 96, height: 64, working: { width: 96, height: 64 }, order: { certainty: "known", reversed: false } },
    ...{ beyond: { nearer: 0, farther: 0 }, files: {}, findings: [], seconds: { total: 1 }, distances: [{ unit: distance }], ...result },
  } as unknown as DepthDocument;
  return describeResult(document, "out").split("\n")[0]?.split("; ")[1] ?? "";
}

test("the range of depth is rounded to the place of the second digit of its error", () => {
  const index = { unit: "index", range: [0.003952, 5.987], expectedError: 0.1621 } as const;
  assert.equal(depthLine(index, "index"), "depth 0.00 to 5.99 (plane index), ±0.16 planes on average");
  const dioptres = { unit: "dpt", range: [0.000007535, 0.09994], expectedError: 0.0037 } as const;
  assert.equal(depthLine(dioptres, "dpt"), "depth 0.0000 to 0.0999 dpt, ±0.0037 dpt on average");
  assert.equal(depthLine({ unit: "m", range: [0.5753, 1.291], expectedError: 0.0996 }, "m"), "depth 0.58 to 1.29 m, ±0.10 m on average");
  assert.equal(depthLine({ unit: "m", range: [-0.0004, 1.2], expectedError: 0.16 }, "mm"), "depth 0 to 1200 mm, ±160 mm on average");
  assert.equal(depthLine({ unit: "m", range: [0.5753, 1.291], expectedError: null }, "m"), "depth 0.5753 to 1.291 m");
});

test("micrometres are printed as µm", () => {
  const depth = { unit: "m", range: [5.2e-6, 12.9e-6], expectedError: 4e-7 } as const;
  assert.equal(depthLine(depth, "um"), "depth 5.20 to 12.90 µm, ±0.40 µm on average");
});
