import assert from "node:assert/strict";
import { test } from "node:test";
import { createRandom } from "../../../src/random.ts";
import { drawFlips, drawWindow } from "../../../src/train/files/crops.ts";

const [width, height] = [40, 8];
const truth = { width, height, valid: Uint8Array.from({ length: width * height }, (_, i) => (i % width < 20 ? 1 : 0)) };

test("a crop lies in the image, anywhere in it, and one seed draws one crop", () => {
  const windows = Array.from({ length: 300 }, (_, seed) => drawWindow(truth, { crop: 6 }, createRandom(seed)));
  assert.deepEqual([...new Set(windows.map(({ top }) => top))].sort(), [0, 1, 2]);
  const lefts = windows.map(({ left }) => left);
  assert.deepEqual([Math.min(...lefts), Math.max(...lefts)], [0, 34]);
  assert.deepEqual(drawWindow(truth, { crop: 6 }, createRandom(7)), windows[7]);
  assert.throws(() => drawWindow(truth, { crop: 9 }, createRandom(0)), /a crop of 9 does not fit 40×8/);
});

test("a crop looks for enough valid pixels", () => {
  for (let seed = 0; seed < 10; seed++) {
    const { left } = drawWindow(truth, { crop: 8, validShare: 0.8 }, createRandom(seed));
    assert.ok(left + 0.8 * 8 <= 20, `left ${left}`);
  }
});

test("flips are drawn half the time each, apart from one another", () => {
  const drawn = Array.from({ length: 400 }, (_, seed) => drawFlips(createRandom(seed)));
  for (const columns of [false, true])
    for (const rows of [false, true]) {
      const times = drawn.filter((flips) => flips.columns === columns && flips.rows === rows).length;
      assert.ok(times > 65 && times < 135, `${columns} ${rows}: ${times} of 400`);
    }
});
