import assert from "node:assert/strict";
import { test } from "node:test";

import {
  follow,
  mostZoom,
  panBy,
  pixelInFrame,
  placeInFrame,
  placeInImage,
  regionInView,
  WHOLE,
  zoomBy,
  type Place,
} from "../../../web/src/state/viewport.ts";

const size = { width: 640, height: 480 };
const most = mostZoom(size);
const near = (actual: Place, expected: Place): void => {
  assert.ok(Math.abs(actual.x - expected.x) < 1e-9 && Math.abs(actual.y - expected.y) < 1e-9, JSON.stringify({ actual, expected }));
};

test("zooming keeps what is under the pointer there", () => {
  const about = { x: 0.2, y: 0.7 };
  let viewport = WHOLE;
  for (const factor of [1.5, 2, 3, 0.5]) {
    const before = placeInImage(viewport, about);
    viewport = zoomBy(viewport, factor, { about, most });
    near(placeInImage(viewport, about), before);
  }
  assert.equal(viewport.zoom, 4.5);
  near(placeInFrame(viewport, placeInImage(viewport, { x: 0.9, y: 0.1 })), { x: 0.9, y: 0.1 });
});

test("the closest view has 16 pixels across, the farthest is the whole image", () => {
  assert.equal(most, 40);
  assert.equal(zoomBy(WHOLE, 1e6, { most }).zoom, 40);
  assert.deepEqual(zoomBy({ zoom: 3, x: 0.3, y: 0.7 }, 1e-3, { most }), WHOLE);
  assert.equal(mostZoom({ width: 8, height: 8 }), 1);
});

test("no margin appears beside the image", () => {
  const corner = panBy({ zoom: 4, x: 0.5, y: 0.5 }, { x: 99, y: -99 });
  assert.deepEqual(corner, { zoom: 4, x: 0.125, y: 0.875 });
  assert.deepEqual(panBy(WHOLE, { x: 0.3, y: 0.3 }), WHOLE);
  near(panBy({ zoom: 2, x: 0.5, y: 0.5 }, { x: 0.1, y: 0 }), { x: 0.45, y: 0.5 });
});

test("the pixel under the pointer is right at every zoom, and the last one at the edge", () => {
  assert.deepEqual(pixelInFrame(WHOLE, { x: 0.5, y: 0.5 }, size), { x: 320, y: 240 });
  assert.deepEqual(pixelInFrame(WHOLE, { x: 1, y: 1.2 }, size), { x: 639, y: 479 });
  const close = zoomBy(WHOLE, 40, { about: { x: 0, y: 0 }, most }); // 16 × 12 pixels of the top left corner
  assert.deepEqual(pixelInFrame(close, { x: 0.99, y: 0.99 }, size), { x: 15, y: 11 });
});

test("the region in view covers every pixel that is seen in part", () => {
  assert.deepEqual(regionInView(WHOLE, size), { left: 0, top: 0, ...size });
  assert.deepEqual(regionInView(zoomBy(WHOLE, 40, { about: { x: 0, y: 0 }, most }), size), { left: 0, top: 0, width: 16, height: 12 });
  assert.deepEqual(regionInView({ zoom: 2, x: 0.5, y: 0.5 }, { width: 10, height: 6 }), { left: 2, top: 1, width: 6, height: 4 });
});

test("a pixel moved out of view is followed, one in view is not", () => {
  const viewport = { zoom: 4, x: 0.5, y: 0.5 };
  assert.deepEqual(follow(viewport, { x: 0.55, y: 0.5 }), viewport);
  const moved = follow(viewport, { x: 0.9, y: 0.5 });
  near(placeInFrame(moved, { x: 0.9, y: 0.5 }), { x: 0.9, y: 0.5 }); // a tenth of the frame before its edge
  assert.equal(moved.y, 0.5);
});
