import assert from "node:assert/strict";
import { test } from "node:test";
import sharp from "sharp";
import { decodeTiff, encodeTiff, tiffImage } from "../../src/io/tiff.ts";
import { assertClose } from "../helpers/close.ts";
import { assertSurvivesGarbage } from "./garbage.ts";

const only = <T>(list: readonly T[]): T => {
  assert.equal(list.length, 1);
  return list[0] as T;
};

test("floats, 8 and 16-bit pages and their description come back exactly", async () => {
  const pages = [
    { width: 3, height: 2, channels: 1 as const, data: Float32Array.of(0.1, -5, NaN, 1e9, Infinity, 0), description: "<OME/>" },
    { width: 2, height: 1, channels: 3 as const, data: Uint16Array.of(0, 1000, 65535, 1, 2, 3) },
    { width: 1, height: 3, channels: 1 as const, data: Uint8Array.of(0, 128, 255) },
  ];
  assert.deepEqual(await decodeTiff(encodeTiff(pages)), pages);
});

test("integers become [0, 1], floats stay in their unit", () => {
  const page = { width: 2, height: 1, channels: 1 };
  assertClose(tiffImage({ ...page, data: Uint16Array.of(65535, 13107) }).data, [1, 0.2], 1e-6);
  assertClose(tiffImage({ ...page, data: Float32Array.of(7.5, -2) }).data, [7.5, -2], 1e-7);
  assert.equal(tiffImage({ width: 1, height: 1, channels: 4, data: Uint8Array.of(1, 2, 3, 4) }).channels, 3);
});

test("files of another writer read: LZW with predictor, deflate, 16-bit", async () => {
  const raw = { width: 8, height: 6, channels: 3 as const };
  const pixels = Uint8Array.from({ length: 144 }, (_, i) => (i * 37) % 256);
  for (const compression of ["lzw", "deflate", "none", "packbits"] as const) {
    const bytes = await sharp(pixels, { raw }).tiff({ compression, predictor: "horizontal" }).toBuffer();
    const page = only(await decodeTiff(bytes));
    assert.deepEqual(page.data, pixels, compression);
  }
  const deep = await sharp(
    Uint16Array.from(pixels, (value) => value * 257),
    { raw },
  )
    .toColourspace("rgb16")
    .tiff({ compression: "lzw" })
    .toBuffer();
  assertClose(
    tiffImage(only(await decodeTiff(deep))).data,
    Float32Array.from(pixels, (value) => value / 255),
    1e-6,
  );
});

test("JPEG inside TIFF comes out as RGB bytes", async () => {
  const bytes = await sharp(Buffer.alloc(16 * 16 * 3, 90), { raw: { width: 16, height: 16, channels: 3 } })
    .tiff({ compression: "jpeg" })
    .toBuffer();
  const page = only(await decodeTiff(bytes));
  assert.ok(page.data instanceof Uint8Array);
  assertClose(tiffImage(page).data, new Float32Array(768).fill(90 / 255), 0.01);
});

test("what is written, another reader understands", async () => {
  const data = Uint16Array.of(0, 65535, 300, 4);
  const bytes = encodeTiff([{ width: 2, height: 2, channels: 1, data }]);
  const read = await sharp(bytes).toColourspace("grey16").raw({ depth: "ushort" }).toBuffer();
  assert.deepEqual(new Uint16Array(read.buffer, read.byteOffset, 4), data);
});

test("garbage is refused, never a crash", async () => {
  await assertSurvivesGarbage(decodeTiff, encodeTiff([{ width: 9, height: 7, channels: 1, data: new Float32Array(63) }]));
  await assert.rejects(decodeTiff(Uint8Array.of(1, 2, 3), "a.tif"), /a\.tif: not a readable TIFF/);
});
