import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";
import { imageHeader, isPng } from "../../src/io/imageHeader.ts";
import { encodePng } from "../../src/io/png.ts";
import { exifBlock, jpegWithExif } from "./exifFiles.ts";
import { assertSurvivesGarbage } from "./garbage.ts";

const size = { width: 19, height: 7 };
const colours = sharp({ create: { ...size, channels: 3, background: "#486" } });
const grey = encodePng({ ...size, channels: 1, data: new Float32Array(133).fill(0.5) }, { depth: 16 });

test("PNG and JPEG headers say what sharp reads there: size, channels, bits", async () => {
  const plain = await colours.clone().jpeg().toBuffer();
  const files = {
    plain,
    "with EXIF": jpegWithExif(plain, exifBlock({ exif: [[0x829d, 5, [2, 1]]] })),
    progressive: await colours.clone().jpeg({ progressive: true }).toBuffer(),
    "grey JPEG": await colours.clone().toColourspace("b-w").jpeg().toBuffer(),
    cmyk: await colours.clone().toColourspace("cmyk").jpeg().toBuffer(),
    "16-bit grey PNG": grey,
    palette: await colours.clone().png({ palette: true }).toBuffer(),
    alpha: await colours.clone().ensureAlpha().png().toBuffer(),
    example: readFileSync(join(import.meta.dirname, "..", "..", "examples", "desk", "plane_00.png")),
  };
  for (const [name, bytes] of Object.entries(files)) {
    const { width, height, space, depth } = await sharp(bytes).metadata();
    const channels = space === "b-w" || space === "grey16" ? 1 : 3;
    assert.deepEqual(imageHeader(bytes, name), { width, height, channels, depth: depth === "ushort" ? "16" : "8" }, name);
  }
});

test("other formats, and a JPEG whose header is not there yet, are left to a decoder; a PNG cut off within its header is named", async () => {
  assert.equal(imageHeader(await colours.clone().webp().toBuffer(), "a.webp"), undefined);
  assert.equal(imageHeader(Uint8Array.of(0xff, 0xd8, 0xff), "a.jpg"), undefined);
  assert.equal(imageHeader((await colours.clone().jpeg().toBuffer()).subarray(0, 40), "a.jpg"), undefined);
  assert.ok(isPng(grey));
  assert.throws(() => imageHeader(grey.subarray(0, 20), "cut.png"), /cut\.png: .*ends within its header/);
});

test("garbage is refused or left to a decoder", async () => {
  for (const good of [grey, await colours.clone().jpeg().toBuffer()])
    await assertSurvivesGarbage((bytes) => imageHeader(bytes, "broken.bin"), good, 40);
});
