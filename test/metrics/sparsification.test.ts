import assert from "node:assert/strict";
import { test } from "node:test";

import { sparsificationArea } from "../../src/metrics/sparsification.ts";

test("the area is the mean of the running means, relative to the last: by hand", () => {
  // Errors 1, 2, 6 in the order of doubt: means 1, 1.5, 3; their mean is 5.5 / 3, over 3.
  assert.ok(Math.abs(sparsificationArea([6, 1, 2], [9, 0.1, 0.5]) - 5.5 / 9) < 1e-12);
  // The reverse order: 6, 4, 3.
  assert.ok(Math.abs(sparsificationArea([6, 1, 2], [0, 9, 5]) - 13 / 9) < 1e-12);
});

test("equal errors give 1, whatever the doubts; without pixels or errors there is no area", () => {
  assert.equal(sparsificationArea([2, 2, 2], [3, 1, 2]), 1);
  assert.ok(Number.isNaN(sparsificationArea([], [])));
  assert.ok(Number.isNaN(sparsificationArea([0, 0], [1, 2])));
});
