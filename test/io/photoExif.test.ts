import assert from "node:assert/strict";
import { test } from "node:test";
import sharp from "sharp";

import { readPhotoFacts } from "../../src/io/exif.ts";
import { withJpegMetadata } from "../../src/io/jpegMetadata.ts";
import { copyExif } from "../../src/io/photoExif.ts";
import { encodePng } from "../../src/io/png.ts";

const raw = { width: 8, height: 8, channels: 3 as const };
const photo = (format: "jpeg" | "png" | "webp"): Promise<Buffer> =>
  sharp(new Uint8Array(192).fill(90), { raw })
    .withExif({ IFD0: { Make: "DualFocus", Orientation: "6" }, IFD2: { FocalLength: "50/1" } })
    .toFormat(format)
    .toBuffer();

test("the EXIF of JPEG, PNG and WebP files goes into a PNG and a JPEG, upright", async () => {
  for (const format of ["jpeg", "png", "webp"] as const) {
    const exif = copyExif(await photo(format), raw);
    assert.ok(exif, format);
    const plain = await sharp(new Uint8Array(192), { raw }).jpeg().toBuffer();
    const png = encodePng({ width: 1, height: 1, channels: 1, data: Float32Array.of(0.5) }, { exif });
    for (const made of [withJpegMetadata(plain, { exif }), png]) {
      const facts = readPhotoFacts(made);
      assert.deepEqual([facts.focalLength, facts.orientation], [0.05, 1], format);
      const metadata = await sharp(made).metadata(); // another reader, which also decodes the image
      assert.ok(Buffer.from(metadata.exif ?? []).includes("DualFocus"), format);
    }
  }
});

test("files without EXIF, or with a damaged one, give none", async () => {
  assert.equal(copyExif(await sharp(new Uint8Array(192), { raw }).jpeg().toBuffer(), raw), undefined);
  assert.equal(copyExif(new Uint8Array(0), raw), undefined);
  const whole = await photo("jpeg");
  const at = whole.indexOf("Exif\0\0") + 10; // where the first directory is
  const damaged = Uint8Array.from(whole);
  damaged.set([0xff, 0xff, 0xff, 0x7f], at);
  assert.equal(copyExif(damaged, raw), undefined);
  for (let length = 0; length < 200; length += 7) copyExif(whole.subarray(0, length), raw); // none of them throws
});
