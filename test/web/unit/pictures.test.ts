import assert from "node:assert/strict";
import { test } from "node:test";
import sharp from "sharp";

import { encodeSrgb } from "../../../src/image/srgb.ts";
import type { encodePng } from "../../../src/io/png.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { depthSource, imageSource, paintValues } from "../../../web/src/paint.ts";
import { photographs } from "../../../web/src/refocus/photographs.ts";
import { planRefocus } from "../../../web/src/refocus/plan.ts";
import { sharpnessMaps } from "../../../web/src/worker/sharpness.ts";

const grey = (width: number, height: number, value: number): Parameters<typeof encodePng>[0] => ({
  width,
  height,
  channels: 1,
  data: new Float32Array(width * height).fill(value),
});

test("a picture is painted in bytes, opaque", () => {
  const { width, height, data } = imageSource({ width: 1, height: 2, channels: 3, data: Float32Array.of(0, 0.5, 1, 1, 1, 1) }).paint();
  assert.deepEqual([width, height, ...data], [1, 2, 0, 128, 255, 255, 255, 255, 255, 255]);
});

test("a picture in Display P3 is shown in sRGB: painted, in 3-D and refocused", async () => {
  const [size, colour] = [{ width: 4, height: 2 }, [200, 80, 60]];
  const bytes = Uint8Array.from({ length: 24 }, (_, i) => colour[i % 3] as number);
  const file = await sharp(bytes, { raw: { ...size, channels: 3 } })
    .withIccProfile("p3")
    .png()
    .toBuffer();
  const stored = await sharp(file, { ignoreIcc: true }).raw().toBuffer(); // numbers of Display P3
  const wanted = [...(await sharp(file).toColourspace("srgb").raw().toBuffer())].slice(0, 3); // by Little CMS
  const profile = new Uint8Array((await sharp(file).metadata()).icc ?? []);
  const allInFocus = { ...size, channels: 3 as const, data: Float32Array.from(stored, (value) => value / 255) };
  const isClose = (found: ArrayLike<number>, what: string): void => {
    wanted.forEach((value, c) => {
      assert.ok(Math.abs((found[c] as number) - value) <= 2, `${what}: ${Array.from(found).slice(0, 3).join()}, not ${wanted.join()}`);
    });
  };
  assert.ok(Math.abs((stored[0] as number) - (wanted[0] as number)) > 5, "the profile matters");
  isClose(imageSource(allInFocus, profile).paint().data, "painted");
  assert.deepEqual([...imageSource(allInFocus).paint().data.subarray(0, 3)], [...stored.subarray(0, 3)], "without a profile as stored");
  const depth = { ...size, values: new Float32Array(8).fill(1), valid: new Uint8Array(8).fill(1), space: "depth" } as const;
  const result = { depth, allInFocus, profile, unit: "m", range: [0.5, 2] } as unknown as DepthResult;
  const { light } = planRefocus(result, { side: 4 });
  isClose(light.subarray(0, 3).map((value) => 255 * encodeSrgb(value)), "refocused"); // prettier-ignore
  const photos = photographs([allInFocus, allInFocus], { nearness: [2, 1], allInFocus, profile });
  isClose(photos?.layers ?? [], "between photographs");
});

test("a part of a picture is painted pixel by pixel, whatever the size of the whole", () => {
  const [width, height] = [3200, 4];
  const data = Float32Array.from({ length: width * height }, (_, i) => (i % width) / width);
  const image = imageSource({ width, height, channels: 1, data });
  assert.equal(image.paint().width, 1600);
  const part = image.paint({ left: 3000, top: 1, width: 2, height: 1 });
  assert.deepEqual([part.width, part.height, ...part.data], [2, 1, 239, 239, 239, 255, 239, 239, 239, 255]);
  const depth = { width, height, values: data, valid: new Uint8Array(width * height).fill(1), space: "depth" } as const;
  const hatched = new Uint8Array(width * height);
  hatched[width + 3001] = 1;
  const colors = depthSource({ depth }, { range: [0, 1], map: "near-white", hatched }).paint({ left: 3000, top: 1, width: 2, height: 1 });
  assert.deepEqual([...colors.data.subarray(0, 3)], [16, 16, 16], "1 - 3000 / 3200, in bytes");
  assert.ok((colors.data[4] as number) > 50, "the second one is hatched");
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
