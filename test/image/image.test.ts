import assert from "node:assert/strict";
import { test } from "node:test";

import { checkPixels, image, type Image } from "../../src/image/image.ts";

const grey = (...values: number[]) => image({ width: 2, height: values.length / 2, channels: 1, data: Float32Array.from(values) });

test("a picture is made of as many values as its size says", () => {
  assert.deepEqual(grey(0, 0.5, 1, 0.25).data, Float32Array.of(0, 0.5, 1, 0.25));
  assert.throws(() => image({ width: 2, height: 2, channels: 3, data: new Float32Array(4) }), /image: 2×2×3 needs 12 values, got 4/);
});

test("sizes that are no whole positive numbers are refused", () => {
  for (const [width, height] of [
    [0, 1],
    [1, -1],
    [1.5, 2],
    [NaN, 1],
  ] as const)
    // prettier-ignore
    assert.throws(() => image({ width, height, channels: 1, data: new Float32Array(0) }), /positive integers/);
});

test("a pixel that is no number is named by its place", () => {
  checkPixels(grey(-1, 2, 3, 0.5), "photo"); // noise and sharpening go out of range
  assert.throws(() => { checkPixels(grey(0, 0, 0, NaN), "photo"); }, /photo holds NaN at column 1, row 1/); // prettier-ignore
  assert.throws(() => { checkPixels(grey(0, 0, Infinity, -Infinity), "photo"); }, /photo holds Infinity at column 0, row 1/); // prettier-ignore
  const colour = image({ width: 2, height: 1, channels: 3, data: Float32Array.of(0, 0, 0, 0, NaN, 0) });
  assert.throws(() => { checkPixels(colour, "photo"); }, /column 1, row 0/); // prettier-ignore
});

test("bytes, values of 0 to 255 and too few values are refused: they would give a depth that only looks like one", () => {
  const refuses = (values: Image["data"], message: RegExp): void => {
    assert.throws(() => { checkPixels({ width: 2, height: 1, channels: 3, data: values }, "photo"); }, message); // prettier-ignore
  };
  refuses(Uint8Array.of(1, 2, 3, 4, 5, 6) as unknown as Float32Array, /photo holds its pixels as Uint8Array; it takes a Float32Array/);
  refuses([0, 0, 0, 0, 0, 0] as unknown as Float32Array, /photo holds its pixels as Array/);
  refuses(Float32Array.of(120, 3, 80, 255, 0, 0), /values of 76\.3 on average; it takes values in \[0, 1\], so divide bytes by 255/);
  refuses(new Float32Array(5), /2×1×3, which needs 6 values, got 5/);
});
