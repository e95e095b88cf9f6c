import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";
import { readImage } from "../../src/stack/node/diskFiles.ts";
import { encodePngPixels } from "../../src/io/png.ts";
import { encodeTiff } from "../../src/io/tiff.ts";
import { assertClose } from "../helpers/close.ts";
import { assertSurvivesGarbage } from "../io/garbage.ts";
import { put, putPicture, temporaryFolder } from "../data/files.ts";

const folder = temporaryFolder();
const size = { width: 8, height: 6 };

test("JPEG, PNG and WebP come out as RGB in [0, 1]", async () => {
  const grey = 51;
  await putPicture(join(folder, "a.jpg"), size, () => grey);
  await putPicture(join(folder, "a.png"), size, () => grey);
  put(
    join(folder, "a.webp"),
    await sharp(Buffer.alloc(144, grey), { raw: { ...size, channels: 3 } })
      .webp({ lossless: true })
      .toBuffer(),
  );
  for (const name of ["a.jpg", "a.png", "a.webp"]) {
    const image = await readImage(join(folder, name));
    assert.deepEqual([image.width, image.height, image.channels], [8, 6, 3], name);
    assertClose(image.data, new Float32Array(144).fill(0.2), 0.006);
  }
});

test("16-bit PNG and TIFF keep their 16 bits", async () => {
  const data = Uint16Array.from({ length: 48 * 3 }, (_, i) => 30000 + i);
  const wanted = Float32Array.from(data, (value) => value / 65535);
  put(join(folder, "deep.png"), encodePngPixels({ ...size, channels: 3, data }));
  put(join(folder, "grey.png"), encodePngPixels({ ...size, channels: 1, data: data.subarray(0, 48) }));
  put(join(folder, "deep.tif"), encodeTiff([{ ...size, channels: 3, data }]));
  assertClose((await readImage(join(folder, "deep.png"))).data, wanted, 1e-7);
  assertClose((await readImage(join(folder, "deep.tif"))).data, wanted, 1e-7);
  const grey = await readImage(join(folder, "grey.png"));
  assert.equal(grey.channels, 1);
  assertClose(grey.data, wanted.subarray(0, 48), 1e-7);
});

test("a photograph held sideways is turned upright", async () => {
  const pixels = Uint8Array.of(255, 0, 0, 0, 0, 255); // red left, blue right
  const bytes = await sharp(pixels, { raw: { width: 2, height: 1, channels: 3 } })
    .withMetadata({ orientation: 6 })
    .png()
    .toBuffer();
  put(join(folder, "turned.png"), bytes);
  const image = await readImage(join(folder, "turned.png"));
  assert.deepEqual([image.width, image.height, [...image.data]], [1, 2, [1, 0, 0, 0, 0, 1]]);
});

test("a missing or broken file is named", async () => {
  await assert.rejects(readImage(join(folder, "no.jpg")), /no\.jpg: there is no such file/);
  put(join(folder, "bad.jpg"), "not a picture");
  await assert.rejects(readImage(join(folder, "bad.jpg")), /bad\.jpg: not a readable image/);
  await putPicture(join(folder, "whole.jpg"), { width: 64, height: 64 }, (x, y) => (x * y) % 256);
});

test("garbage is refused, never a crash", async () => {
  const good = await sharp(Buffer.alloc(64 * 64 * 3, 90), { raw: { width: 64, height: 64, channels: 3 } })
    .jpeg()
    .toBuffer();
  const read = (bytes: Uint8Array): Promise<unknown> => {
    put(join(folder, "broken.bin"), bytes);
    return readImage(join(folder, "broken.bin"));
  };
  await assertSurvivesGarbage(read, good, 15);
});
