import assert from "node:assert/strict";
import { test } from "node:test";

import type { encodePng } from "../../../src/io/png.ts";
import { paintImage, paintValues } from "../../../web/src/paint.ts";
import { sharpnessMaps } from "../../../web/src/worker/sharpness.ts";

const grey = (width: number, height: number, value: number): Parameters<typeof encodePng>[0] => ({
  width,
  height,
  channels: 1,
  data: new Float32Array(width * height).fill(value),
});

test("a picture is painted in bytes, opaque", () => {
  const { width, height, data } = paintImage({ width: 1, height: 2, channels: 3, data: Float32Array.of(0, 0.5, 1, 1, 1, 1) });
  assert.deepEqual([width, height, ...data], [1, 2, 0, 128, 255, 255, 255, 255, 255, 255]);
});

test("a map is painted from the first colour to the last, values beyond its range held", () => {
  const colours = (value: number): number[] => [
    ...paintValues({ width: 1, height: 1, values: Float32Array.of(value) }, [10, 20]).data.subarray(0, 3),
  ];
  assert.deepEqual(colours(10), colours(-5));
  assert.deepEqual(colours(20), colours(99));
  assert.ok((colours(20)[1] as number) > 200 && (colours(10)[1] as number) < 20, "yellow is much, dark is little");
});

test("sharpness is measured plane by plane: flat is zero, texture is not", () => {
  const flat = grey(16, 12, 0.5);
  const striped = { ...flat, data: flat.data.map((_, i) => (i % 2 ? 1 : 0)) };
  const { planes, data } = sharpnessMaps([flat, striped]);
  assert.equal(planes, 2);
  assert.ok(data.subarray(0, 192).every((value) => value === 0));
  assert.ok(data.subarray(192).every((value) => value > 1));
});
