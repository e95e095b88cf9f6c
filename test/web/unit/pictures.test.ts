import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import jpeg from "jpeg-js";
import sharp from "sharp";

import { encodePng } from "../../../src/io/png.ts";
import { paintImage, paintValues } from "../../../web/src/paint.ts";
import { isPng, jpegIsGrey, pngHeader } from "../../../web/src/worker/pictureHeader.ts";
import { sharpnessMaps } from "../../../web/src/worker/sharpness.ts";

const grey = (width: number, height: number, value: number): Parameters<typeof encodePng>[0] => ({
  width,
  height,
  channels: 1,
  data: new Float32Array(width * height).fill(value),
});

test("a PNG's header tells its size, its channels and its bits", () => {
  const bytes = encodePng(grey(7, 5, 0.5), { depth: 16 });
  assert.ok(isPng(bytes));
  assert.deepEqual(pngHeader(bytes, "a.png"), { width: 7, height: 5, channels: 1, depth: "16" });
  const example = readFileSync(join(import.meta.dirname, "..", "..", "..", "examples", "desk", "plane_00.png"));
  assert.deepEqual(pngHeader(example, "plane_00.png"), { width: 384, height: 256, channels: 3, depth: "8" });
});

test("a PNG that ends within its header is named", () => {
  assert.throws(() => pngHeader(encodePng(grey(7, 5, 0.5)).subarray(0, 20), "cut.png"), /cut\.png: .*ends within its header/);
});

test("grey JPEGs are told from coloured ones, and from other files", async () => {
  const coloured = jpeg.encode({ width: 8, height: 8, data: new Uint8Array(256).fill(99) }, 90).data;
  const plain = await sharp({ create: { width: 8, height: 8, channels: 3, background: "#888" } })
    .toColourspace("b-w")
    .jpeg()
    .toBuffer();
  assert.equal(jpegIsGrey(coloured), false);
  assert.equal(jpegIsGrey(plain), true);
  assert.equal(jpegIsGrey(encodePng(grey(8, 8, 0.5))), false);
  assert.equal(jpegIsGrey(Uint8Array.of(0xff, 0xd8, 0xff)), false);
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
