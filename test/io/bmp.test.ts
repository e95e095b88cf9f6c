import assert from "node:assert/strict";
import { test } from "node:test";
import { bmpHeader, decodeBmp, isBmp } from "../../src/io/bmp.ts";
import { assertSurvivesGarbage } from "./garbage.ts";

/** A bitmap as Windows writes it; a negative height is stored from the top. */
function bitmap({ bits, height, rows, palette = [] }: { bits: number; height: number; rows: number[]; palette?: number[] }): Uint8Array {
  const bytes = new Uint8Array(54 + palette.length + rows.length);
  const view = new DataView(bytes.buffer);
  bytes.set([0x42, 0x4d]);
  view.setUint32(2, bytes.length, true);
  view.setUint32(10, 54 + palette.length, true);
  view.setUint32(14, 40, true);
  view.setInt32(18, 3, true);
  view.setInt32(22, height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, bits, true);
  bytes.set([...palette, ...rows], 54);
  return bytes;
}

const [red, green, blue] = [
  [0, 0, 255],
  [0, 255, 0],
  [255, 0, 0],
] as const; // as stored: blue first
const fill = [0, 0, 0]; // rows of nine bytes are filled up to twelve

test("24 bits: rows from the bottom, or from the top", () => {
  const stored = [...red, ...green, ...blue, ...fill, ...blue, ...blue, ...red, ...fill];
  const first = [255, 0, 0, 0, 255, 0, 0, 0, 255];
  const second = [0, 0, 255, 0, 0, 255, 255, 0, 0];
  const up = bitmap({ bits: 24, height: 2, rows: stored });
  assert.deepEqual([isBmp(up), bmpHeader(up)], [true, { width: 3, height: 2, channels: 3, depth: "8" }]);
  assert.deepEqual([...decodeBmp(up).data], [...second, ...first]);
  assert.deepEqual([...decodeBmp(bitmap({ bits: 24, height: -2, rows: stored })).data], [...first, ...second]);
});

test("palettes and 32 bits", () => {
  const palette = [...red, 0, ...green, 0, ...blue, 0];
  const wanted = [0, 0, 255, 255, 0, 0, 0, 255, 0];
  assert.deepEqual([...decodeBmp(bitmap({ bits: 8, height: 1, rows: [2, 0, 1, 0], palette })).data], wanted);
  assert.deepEqual([...decodeBmp(bitmap({ bits: 4, height: 1, rows: [0x20, 0x10, 0, 0], palette })).data], wanted);
  assert.deepEqual([...decodeBmp(bitmap({ bits: 32, height: 1, rows: [...blue, 9, ...red, 9, ...green, 9] })).data], wanted);
});

test("damaged and compressed bitmaps are named", async () => {
  const good = bitmap({ bits: 24, height: 1, rows: [...red, ...green, ...blue, ...fill] });
  await assertSurvivesGarbage((bytes, file) => decodeBmp(bytes, file), good, 200);
  const packed = good.slice();
  packed[30] = 1;
  assert.throws(() => decodeBmp(packed, "a.bmp"), /a\.bmp: a bitmap with 24 bits and compression 1/);
  assert.throws(() => decodeBmp(good.subarray(0, 60), "a.bmp"), /a\.bmp: .*truncated/);
});
