import assert from "node:assert/strict";
import { test } from "node:test";
import sharp from "sharp";
import { turnUpright } from "../../src/image/orient.ts";
import { readPhotoFacts } from "../../src/io/exif.ts";
import { decodeHeic } from "../../src/io/heic.ts";
import { isHeif, readHeifHeader } from "../../src/io/heif.ts";
import { assertClose } from "../helpers/close.ts";
import { assertSurvivesGarbage } from "./garbage.ts";
import { quadrants, ramp10, withProperty } from "./heifFiles.ts";

test("the header of a HEIC file tells size, bits, profile and where the EXIF block is", () => {
  const { profile, exif, ...header } = readHeifHeader(quadrants());
  assert.deepEqual(header, { width: 66, height: 50, bits: 8, orientation: 1 });
  assert.equal(Buffer.from(profile ?? []).toString("latin1", 36, 40), "acsp"); // the mark of an ICC profile
  assert.equal(Buffer.from(quadrants()).toString("latin1", (exif?.start ?? 0) + 4, (exif?.start ?? 0) + 8), "II*\0"); // after a length
  assert.equal(readHeifHeader(ramp10()).bits, 10);
});

test("EXIF in HEIC is read as in JPEG", () => {
  const { focalLength, fNumber, focusDistance } = readPhotoFacts(quadrants());
  assertClose([focalLength ?? 0, fNumber ?? 0, focusDistance.EXIF ?? 0], [0.0057, 1.8, 0.65], 1e-9);
});

test("AVIF is told from HEIC, and has the same header", async () => {
  const picture = sharp(Buffer.alloc(40 * 30 * 3, 90), { raw: { width: 40, height: 30, channels: 3 } });
  const avif = new Uint8Array(await picture.avif().toBuffer());
  assert.deepEqual([isHeif(avif), isHeif(quadrants()), isHeif(ramp10()), isHeif(new Uint8Array(4))], [false, true, true, false]);
  assert.deepEqual([readHeifHeader(avif).width, readHeifHeader(avif).height], [40, 30]);
});

test("8 bits decode to the colours that were stored", async () => {
  const { width, height, data } = await decodeHeic(quadrants());
  assert.deepEqual([width, height, data.constructor], [66, 50, Uint8Array]);
  const jpeg = [
    [184, 55, 45],
    [105, 197, 72],
    [40, 40, 193],
    [220, 220, 220],
  ]; // 200 40 40, 40 200 40, 40 40 200 and grey in Display P3, by sharp
  const at = (x: number, y: number): number[] => [...data.subarray(3 * (y * width + x), 3 * (y * width + x) + 3)];
  for (const [n, [x, y]] of ([[16, 12], [50, 12], [16, 38], [50, 38]] as const).entries()) assertClose(at(x, y), jpeg[n] as number[], 4); // prettier-ignore
});

test("10 bits are kept", async () => {
  const { width, height, data } = await decodeHeic(ramp10());
  assert.ok(data instanceof Uint16Array);
  const wanted = Array.from({ length: width * height }, (_, i) => ((i % width) + Math.floor(i / width)) / (width + height - 2));
  const green = wanted.map((_, i) => (data[3 * i + 1] as number) / 65535);
  assertClose(green, wanted, 0.012);
  const tenBits = green.filter((value) => Math.abs(value * 255 - Math.round(value * 255)) > 0.2);
  assert.ok(tenBits.length > green.length / 3, `${tenBits.length} of ${green.length} values lie between those of 8 bits`);
});

test("rotations and mirrors of the file come out as EXIF's orientations, and libheif turns likewise", async () => {
  const stored = await decodeHeic(quadrants());
  const seen = new Set<number>();
  for (const turns of [0, 1, 2, 3])
    for (const mirror of [undefined, 0, 1]) {
      const turned = withProperty(quadrants(), "irot", [turns]);
      const heic = mirror === undefined ? turned : withProperty(turned, "imir", [mirror]);
      const header = readHeifHeader(heic);
      assert.deepEqual([header.width, header.height], [66, 50]);
      seen.add(header.orientation);
      const upright = await decodeHeic(heic);
      const wanted = turnUpright(stored as { width: number; height: number; channels: 3; data: Uint8Array }, header.orientation);
      assert.deepEqual([upright.width, upright.height], [wanted.width, wanted.height], `irot ${turns}, imir ${mirror}`);
      assert.ok(Buffer.from(upright.data).equals(wanted.data), `irot ${turns}, imir ${mirror} is not orientation ${header.orientation}`);
    }
  assert.deepEqual([...seen].sort(), [1, 2, 3, 4, 5, 6, 7, 8]);
});

test("damaged HEIC is named, and nothing is printed", async (context) => {
  const printed = context.mock.method(console, "log", () => undefined);
  const complained = context.mock.method(console, "error", () => undefined);
  await assertSurvivesGarbage(decodeHeic, quadrants(), 12);
  await assertSurvivesGarbage((bytes, file) => readHeifHeader(bytes, file), quadrants(), 200);
  assert.deepEqual([printed.mock.callCount(), complained.mock.callCount()], [0, 0]);
});
