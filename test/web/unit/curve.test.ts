import assert from "node:assert/strict";
import { test } from "node:test";

import { asShares, columnAt, curvePoints, movePixel, planeOfDepth, planeX, valueY } from "../../../web/src/state/curve.ts";

/** Value 100 n + 10 y + x of a 3×2 map with two planes. */
const maps = {
  planes: 2,
  width: 3,
  height: 2,
  data: Float32Array.from([0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112]),
};

test("a pixel of the full-size map finds the column of the small map that lies below it", () => {
  assert.deepEqual(columnAt(maps, { x: 0, y: 0 }, { width: 6, height: 4 }), [0, 100]);
  assert.deepEqual(columnAt(maps, { x: 5, y: 3 }, { width: 6, height: 4 }), [12, 112]);
  assert.deepEqual(columnAt(maps, { x: 2, y: 1 }, { width: 6, height: 4 }), [1, 101]);
  assert.deepEqual(columnAt(maps, { x: 2, y: 1 }, maps), [12, 112]);
});

test("shares sum to one, and nothing is shared evenly", () => {
  assert.deepEqual(asShares([1, 3]), [0.25, 0.75]);
  assert.deepEqual(asShares([0, 0, 0, 0]), [0.25, 0.25, 0.25, 0.25]);
});

const frame = { width: 120, height: 60, left: 10, right: 10, top: 5, bottom: 15 };

test("planes spread from edge to edge, values from the bottom to the top, and stay inside", () => {
  assert.deepEqual([0, 1, 2].map((n) => planeX(n, 3, frame)), [10, 60, 110]); // prettier-ignore
  assert.equal(planeX(0, 1, frame), 60);
  assert.deepEqual([0, 0.5, 1, 7, -1].map((value) => valueY(value, 1, frame)), [45, 25, 5, 5, 45]); // prettier-ignore
  assert.equal(curvePoints([0, 1, 0.5], { most: 1, frame }), "10,45 60,5 110,25");
});

test("a depth lies between the planes around it, whichever way they run", () => {
  const metres = { focusDistances: [0.5, 1, 2], space: "depth" } as const;
  assert.equal(planeOfDepth(1 / 1.5, metres), 0.5); // halfway in dioptres
  assert.equal(planeOfDepth(2, metres), 2);
  assert.equal(planeOfDepth(9, metres), 2);
  assert.equal(planeOfDepth(0.1, metres), 0);
  assert.equal(planeOfDepth(0.75, { ...metres, space: "position" }), 0.5);
  assert.equal(planeOfDepth(1.5, { focusDistances: [2, 1, 0], space: "disparity" }), 0.5);
});

test("arrow keys walk over the picture and stop at its edge", () => {
  const size = { width: 400, height: 200 };
  assert.deepEqual(movePixel({ x: 10, y: 10 }, "ArrowRight", { size, far: false }), { x: 12, y: 10 });
  assert.deepEqual(movePixel({ x: 10, y: 10 }, "ArrowUp", { size, far: true }), { x: 10, y: 0 });
  assert.deepEqual(movePixel({ x: 399, y: 10 }, "ArrowRight", { size, far: true }), { x: 399, y: 10 });
  assert.equal(movePixel({ x: 10, y: 10 }, "Tab", { size, far: false }), undefined);
});
