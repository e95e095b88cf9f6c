import assert from "node:assert/strict";
import { test } from "node:test";

import { leastPixels, SEAM, tilesOf, TRUNK_SEAM, tileWeights, type Tile } from "../../src/network/tiles.ts";

const SIZES = [
  { width: 700, height: 500, maxPixels: 1.8e5 },
  { width: 1223, height: 1001, maxPixels: 4e5 },
  { width: 300, height: 2000, maxPixels: 2e5 },
];

test("a picture that fits is one tile", () => {
  assert.deepEqual(tilesOf({ width: 1200, height: 1000 }, 1.5e6), [{ left: 0, top: 0, width: 1200, height: 1000 }]);
});

test("tiles stay within the budget and the picture, begin on the network's coarsest cells and overlap enough", () => {
  for (const { maxPixels, ...picture } of SIZES) {
    const tiles = tilesOf(picture, maxPixels);
    for (const { left, top, width, height } of tiles) {
      assert.ok(width * height <= maxPixels);
      assert.ok(left + width <= picture.width && top + height <= picture.height);
      assert.deepEqual([left % 32, top % 32], [0, 0]);
    }
    const columns = [...new Set(tiles.map(({ left }) => left))].map((left) => tiles.find((tile) => tile.left === left) as Tile);
    columns.slice(1).forEach(({ left }, i) => {
      const { left: before, width } = columns[i] as Tile;
      assert.ok(before + width - left >= SEAM.overlap, `columns at ${before} and ${left} of ${picture.width}`);
    });
  }
});

test("every pixel counts somewhere, and a tile's border that is not the picture's counts nothing", () => {
  for (const { maxPixels, ...picture } of SIZES) {
    const total = new Float32Array(picture.width * picture.height);
    for (const tile of tilesOf(picture, maxPixels)) {
      const weights = tileWeights(tile, picture);
      weights.forEach((weight, i) => {
        const at = (tile.top + Math.floor(i / tile.width)) * picture.width + tile.left + (i % tile.width);
        total[at] = (total[at] as number) + weight;
      });
      if (tile.left > 0) assert.equal(weights[0], 0);
    }
    assert.ok(total.every((sum) => sum > 0.999));
  }
});

test("every size can be cut with the least budget", () => {
  for (let length = 1; length < 3000; length += 7) assert.ok(tilesOf({ width: length, height: 450 }, leastPixels(SEAM)).length > 0);
});

test("a budget that leaves nothing but overlap is refused", () => {
  assert.throws(() => tilesOf({ width: 4000, height: 3000 }, 1000), /maxPixels must be at least 173056, got 1000/);
});

test("what the trunk sees around a cell fits into the part of its tiles that does not count", () => {
  const picture = { width: 2400, height: 900 };
  const tiles = tilesOf(picture, leastPixels(TRUNK_SEAM), TRUNK_SEAM);
  assert.ok(tiles.length > 1);
  for (const tile of tiles) {
    const weights = tileWeights(tile, picture, TRUNK_SEAM);
    const row = weights.subarray(weights.length - tile.width);
    if (tile.left > 0) assert.ok(row.subarray(0, 208).every((weight) => weight === 0));
    if (tile.left + tile.width < 2400) assert.ok(row.subarray(-208).every((weight) => weight === 0));
  }
});
