import assert from "node:assert/strict";
import { test } from "node:test";

import { calibrate } from "../../../web/src/state/calibration.ts";

test("even steps of distance: two planes give the rest", () => {
  const found = calibrate([{ plane: 0, distance: 60 }, { plane: 2, distance: 63 }], { planes: 4, spacing: "distance" }); // prettier-ignore
  assert.deepEqual(found, { distances: [60, 61.5, 63, 64.5] });
});

test("even steps of the focus ring: 1/distance is what grows evenly", () => {
  // 2 dpt and 1 dpt with one plane between them: 1.5 dpt
  const found = calibrate([{ plane: 0, distance: 0.5 }, { plane: 2, distance: 1 }], { planes: 3, spacing: "dioptres" }); // prettier-ignore
  assert.deepEqual(found, { distances: [0.5, 0.666667, 1] });
});

test("a place between planes may be known, and the far end may be named first", () => {
  const found = calibrate([{ plane: 2.5, distance: 35 }, { plane: 0.5, distance: 15 }], { planes: 3, spacing: "distance" }); // prettier-ignore
  assert.deepEqual(found, { distances: [10, 20, 30] });
});

test("numbers that cannot be are refused in words", () => {
  const refuse = (one: [number, number], two: [number, number], spacing: "distance" | "dioptres"): string => {
    const found = calibrate([{ plane: one[0], distance: one[1] }, { plane: two[0], distance: two[1] }], { planes: 5, spacing }); // prettier-ignore
    return "problem" in found ? found.problem : "";
  };
  assert.match(refuse([0, 0], [1, 2], "distance"), /must be positive/);
  assert.match(refuse([0, NaN], [1, 2], "distance"), /must be positive/);
  assert.match(refuse([0, 2], [1, 2], "distance"), /differ/);
  assert.match(refuse([1, 2], [1.05, 3], "distance"), /same plane/);
  assert.match(refuse([0, 1], [1, 0.5], "distance"), /Plane 3 would lie behind the camera/);
  assert.match(refuse([0, 1], [1, 2], "dioptres"), /Plane 3 would lie beyond infinity/);
});
