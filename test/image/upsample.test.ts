import assert from "node:assert/strict";
import { test } from "node:test";

import { enlarge } from "../../src/image/upsample.ts";

test("enlarging keeps constants, and ramps away from the border", () => {
  const flat = enlarge({ width: 5, height: 4, values: new Float32Array(20).fill(7) }, { width: 13, height: 9 });
  assert.ok(flat.every((value) => value === 7));
  const ramp = enlarge({ width: 8, height: 1, values: Float32Array.from({ length: 8 }, (_, x) => x) }, { width: 16, height: 2 });
  for (let x = 1; x < 15; x++) assert.ok(Math.abs((ramp[x] as number) - ((x + 0.5) / 2 - 0.5)) < 1e-6);
});
