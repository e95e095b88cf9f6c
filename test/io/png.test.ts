import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { image } from "../../src/image/image.ts";
import { compressPngPixels, decodePng, decodePngPixels, encodePng, encodePngPixels } from "../../src/io/png.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";
import { assertSurvivesGarbage } from "./garbage.ts";

test("integers come back exactly, for every channel count and both depths", () => {
  const random = createRandom(1);
  for (const channels of [1, 2, 3, 4] as const)
    for (const top of [256, 65536]) {
      const values = Array.from({ length: 7 * 5 * channels }, () => random.integer(top));
      const data = top === 256 ? Uint8Array.from(values) : Uint16Array.from(values);
      const text = { scale: "0.001" };
      assert.deepEqual(decodePngPixels(encodePngPixels({ width: 7, height: 5, channels, data, text })), {
        width: 7,
        height: 5,
        channels,
        data,
        text,
      });
    }
});

test("values are the integers over their maximum, and alpha is dropped", () => {
  const rgba = encodePngPixels({ width: 1, height: 1, channels: 4, data: Uint8Array.of(255, 51, 0, 9) });
  const { channels, data } = decodePng(rgba);
  assert.equal(channels, 3);
  assertClose(data, [1, 0.2, 0], 1e-7);
  assertClose(decodePng(encodePngPixels({ width: 2, height: 1, channels: 1, data: Uint16Array.of(65535, 13107) })).data, [1, 0.2], 1e-7);
});

test("writing rounds to the nearest step, clips, and turns NaN into black", () => {
  const picture = image({ width: 5, height: 1, channels: 1, data: Float32Array.of(-1, 0.5, 2, NaN, 0.1) });
  assert.deepEqual(decodePngPixels(encodePng(picture)).data, Uint8Array.of(0, 128, 255, 0, 26));
  assert.deepEqual(decodePngPixels(encodePng(picture, { depth: 16 })).data, Uint16Array.of(0, 32768, 65535, 0, 6554));
});

test("files of another writer read: palette, 16-bit RGB, interlaced", async () => {
  const raw = { width: 4, height: 4, channels: 3 as const };
  const pixels = Uint8Array.from({ length: 48 }, (_, i) => (i % 3 === 0 ? 255 : i < 24 ? 0 : 85));
  const wanted = Float32Array.from(pixels, (value) => value / 255);
  for (const options of [{ palette: true, colours: 4 }, { palette: true, colours: 2 }, { progressive: true }]) {
    const bytes = await sharp(pixels, { raw }).png(options).toBuffer();
    assertClose(decodePng(bytes).data, wanted, 1e-6);
  }
});

test("one-bit grey spreads to black and white", async () => {
  const bytes = await sharp(Uint8Array.of(0, 255, 255, 0, 255, 0), { raw: { width: 3, height: 2, channels: 1 } })
    .toColourspace("b-w")
    .png({ palette: true, colours: 2 })
    .toBuffer();
  const data = decodePng(bytes).data;
  assertClose(
    data.filter((_, i) => i % (data.length / 6) === 0),
    [0, 1, 1, 0, 1, 0],
    1e-6,
  );
});

test("garbage is refused, never a crash", async () => {
  const good = encodePngPixels({ width: 6, height: 5, channels: 3, data: Uint8Array.from({ length: 90 }, (_, i) => i * 2) });
  await assertSurvivesGarbage(decodePng, good);
  assert.throws(() => decodePng(good.slice(0, 60), "plane_01.png"), /plane_01\.png: not a readable PNG/);
});

test("another program reads what is written, and any compressor may be handed in", async () => {
  const random = createRandom(3);
  const data = Uint16Array.from({ length: 40 * 30 * 3 }, (_, i) => 200 * (i % 120) + random.integer(500));
  const pixels = { width: 40, height: 30, channels: 3 as const, data, text: { unit: "m" } };
  const deflate = (bytes: Uint8Array): Promise<Uint8Array> => Promise.resolve(deflateSync(bytes, { level: 9 }));
  for (const file of [encodePngPixels(pixels), await compressPngPixels(pixels, deflate)]) {
    const read = await sharp(file).toColourspace("rgb16").raw({ depth: "ushort" }).toBuffer();
    assert.deepEqual(new Uint16Array(read.buffer.slice(read.byteOffset, read.byteOffset + read.length)), data);
    assert.equal(decodePngPixels(file).text["unit"], "m");
  }
});

test("text that PNG cannot hold is refused", () => {
  const one = { width: 1, height: 1, channels: 1 as const, data: Uint8Array.of(1) };
  assert.throws(() => encodePngPixels({ ...one, text: { unit: "λ" } }), /must be Latin-1, got λ/);
});
