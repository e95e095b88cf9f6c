import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";
import type { Image } from "../../src/image/image.ts";
import { readImage } from "../../src/stack/node/diskFiles.ts";
import { openStack } from "../../src/stack/node/openStack.ts";
import { readPhotoFacts } from "../../src/io/exif.ts";
import { encodePngPixels } from "../../src/io/png.ts";
import { bytesToSrgb } from "../../src/io/profileColours.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { assertClose } from "../helpers/close.ts";
import { dngFile } from "../io/dngFile.ts";
import type { ExifField } from "../io/exifFiles.ts";
import { quadrants, ramp10, withProperty } from "../io/heifFiles.ts";

const root = temporaryFolder();
const size = { width: 40, height: 32 };
const distance = (metres: number): readonly ExifField[] => [[0x9206, 5, [Math.round(metres * 100), 100]]];

/** An even colour. */
const even = (...colour: [number, number, number]): Image => ({
  ...size,
  channels: 3,
  data: Float32Array.from({ length: 3 * size.width * size.height }, (_, i) => colour[i % 3] as number),
});

const pixel = ({ width, data }: Image, x: number, y: number): number[] => [...data.subarray(3 * (y * width + x), 3 * (y * width + x) + 3)];

test("a stack of HEIC files: numbers as stored and the profile that explains them, distances from their EXIF block", async () => {
  const folder = join(root, "heic");
  for (const [n, name] of ["IMG_1.HEIC", "IMG_2.HEIC"].entries()) {
    const bytes = Buffer.from(quadrants());
    const at = bytes.indexOf(Buffer.from([65, 0, 0, 0, 100, 0, 0, 0])); // the subject distance, 65/100
    bytes.writeUInt32LE(65 - 20 * n, at);
    put(join(folder, name), bytes);
  }
  const stack = await openStack(folder);
  assert.deepEqual([stack.focusDistances, stack.focus[0]?.source], [[0.45, 0.65], "EXIF"]);
  assert.deepEqual([stack.size, stack.bits, stack.channels, stack.notes], [{ width: 66, height: 50 }, 8, 3, []]);
  assertClose([stack.camera?.focalLength ?? 0, stack.camera?.fNumber ?? 0], [0.0057, 1.8], 1e-9);
  const plane = await stack.readPlane(0);
  assertClose(pixel(plane, 16, 12), [184 / 255, 55 / 255, 45 / 255], 0.03); // in Display P3; 200, 40, 40 in sRGB
  const { profile, exif } = await stack.readMetadata(0);
  assert.match(Buffer.from(profile ?? []).toString("latin1"), /acsp/);
  assert.equal(exif && readPhotoFacts(exif).fNumber, 1.8);
  const shown = Uint8Array.from(pixel(plane, 16, 12), (value) => 255 * value + 0.5);
  bytesToSrgb(shown, profile ?? new Uint8Array());
  assertClose(shown, [200, 40, 40], 0.02);
  const small = await stack.readScaled(0, 33 * 25);
  assert.deepEqual([small.width, small.height], [33, 25]);
  assertClose(pixel(small, 8, 6), [184 / 255, 55 / 255, 45 / 255], 0.03);
});

test("10-bit HEIC makes a stack of 16 bits", async () => {
  put(join(root, "deep", "1.heic"), ramp10());
  put(join(root, "deep", "2.hif"), ramp10());
  const stack = await openStack(join(root, "deep"));
  assert.equal(stack.bits, 16);
  const { data, width } = await stack.readPlane(1);
  assertClose([data[0] as number, data[3 * (49 * width + 65)] as number], [0, 1], 0.012);
});

test("HEIC files of wavering orientation are all turned like the most of them", async () => {
  const folder = join(root, "wavering");
  for (const [n, turns] of [3, 3, 0].entries()) put(join(folder, `${n}.heic`), withProperty(quadrants(), "irot", [turns]));
  const stack = await openStack(folder);
  assert.deepEqual([stack.size, stack.orientation], [{ width: 50, height: 66 }, 6]);
  assert.match(stack.notes.join(), /2\.heic: its orientation differs/);
  for (const plane of [0, 1, 2]) assertClose(pixel(await stack.readPlane(plane), 12, 16), [40 / 255, 40 / 255, 192 / 255], 0.04);
  assertClose(pixel(await readImage(join(folder, "2.heic")), 16, 12), [184 / 255, 55 / 255, 45 / 255], 0.03);
});

test("a stack of raw files: 16 bits, upright, distances from EXIF; preferred to the JPEGs beside them", async () => {
  const folder = join(root, "raw");
  const jpeg = await sharp(Buffer.alloc(40 * 32 * 3, 9), { raw: { ...size, channels: 3 } }).jpeg().toBuffer(); // prettier-ignore
  for (const [n, name] of ["a", "b", "c"].entries()) {
    put(join(folder, `${name}.dng`), dngFile(even(0.2 + 0.2 * n, 0.5, 0.3), { exif: distance(1 + n), orientation: 8 }));
    put(join(folder, `${name}.jpg`), jpeg);
  }
  const stack = await openStack(folder);
  assert.deepEqual([stack.focusDistances, stack.bits, stack.size], [[1, 2, 3], 16, { width: 32, height: 40 }]);
  assert.deepEqual(stack.notes, [`${folder}: every image exists as .dng and .jpg; .dng is used`]);
  for (const plane of [0, 1, 2]) assertClose(pixel(await stack.readPlane(plane), 16, 20), [0.2 + 0.2 * plane, 0.5, 0.3], 0.003);
});

test("the JPEG inside a raw file stands in for what LibRaw cannot decode, and this is said once", async () => {
  const folder = join(root, "preview");
  const jpeg = await sharp(Buffer.alloc(64 * 48 * 3, 153), { raw: { width: 64, height: 48, channels: 3 } }).jpeg().toBuffer(); // prettier-ignore
  for (const name of ["a.nef", "b.nef", "c.nef"])
    put(join(folder, name), Buffer.concat([dngFile(even(0.5, 0.5, 0.5), { compression: 52546, orientation: 6 }), jpeg]));
  const stack = await openStack(folder);
  assert.deepEqual(stack.notes, ["a.nef: LibRaw cannot decode it; the JPEG inside it is used, 64×48 pixels, 8 bits (and 2 more)"]);
  assert.deepEqual([stack.size, stack.bits], [{ width: 48, height: 64 }, 8]);
  assertClose(pixel(await stack.readPlane(1), 20, 20), [0.6, 0.6, 0.6], 0.01);
});

test("one damaged file among good ones is named", async () => {
  const folder = join(root, "odd");
  put(join(folder, "a.dng"), dngFile(even(0.5, 0.5, 0.5)));
  put(join(folder, "b.dng"), dngFile(even(0.5, 0.5, 0.5)).subarray(0, 5000));
  await assert.rejects(openStack(folder), /b\.dng: not a readable raw file: LibRaw cannot decode it, and it holds no JPEG/);
  put(join(folder, "b.dng"), dngFile(even(0.5, 0.5, 0.5)));
  const cut = ["c.heic", "d.heic"].map((name) => join(folder, name));
  for (const file of cut) put(file, quadrants().subarray(0, 1200));
  await assert.rejects(openStack([join(folder, "a.dng"), ...cut]), /c\.heic is 66×50/);
  const stack = await openStack(cut);
  await assert.rejects(stack.readPlane(0), /c\.heic: not a readable HEIC file: it is truncated$/);
});

test("a damaged file gives its name and its fault, without the words of the library that met it", async () => {
  const whole = Buffer.from(quadrants());
  const changed = (mark: string, change: (bytes: Buffer, at: number) => void): Buffer => {
    const bytes = Buffer.from(whole);
    change(bytes, bytes.indexOf(mark, 0, "latin1"));
    return bytes;
  };
  const pixels = await sharp(Buffer.from(Uint8Array.from({ length: 64 * 48 * 3 }, (_, i) => (i * 7919) % 256)), {
    raw: { width: 64, height: 48, channels: 3 },
  })
    .png()
    .toBuffer();
  const encoded = (format: "jpeg" | "webp" | "avif"): Promise<Buffer> => sharp(pixels).toFormat(format).toBuffer();
  const cut = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length >> 1);
  const damaged: [string, Buffer, string][] = [
    ["empty.heic", Buffer.alloc(0), "the file is empty"],
    ["head.heic", whole.subarray(0, 40), "not a readable HEIC file: it names no main image"],
    ["cut.heic", whole.subarray(0, whole.length - 20), "not a readable HEIC file: it is truncated"],
    ["pixels.heic", changed("mdat", (bytes, at) => bytes.fill(0, at + 8)), "not a readable HEIC file: it is damaged or truncated"],
    ["tile.heic", changed("hvc1", (bytes, at) => bytes.write("xxxx", at)), "not a readable HEIC file: it is damaged or truncated"],
    ["cut.jpg", cut(await encoded("jpeg")), "not a readable image file: it is truncated"],
    ["cut.png", cut(pixels), "not a readable image file: it is damaged or truncated"],
    ["cut.webp", cut(await encoded("webp")), "not a readable image file: it is damaged or truncated"],
    ["cut.avif", cut(await encoded("avif")), "not a readable image file: it is damaged or truncated"],
    ["text.jpg", Buffer.from("not an image at all"), "not a readable image file: it is not an image, or in a format that cannot be read"],
  ];
  for (const [name, bytes, fault] of damaged) {
    const file = join(root, "damaged", name);
    put(file, bytes);
    await assert.rejects(readImage(file), (error: Error) => error.message === `${file}: ${fault}` || assert.fail(error.message));
  }
});

test("bitmaps are read", async () => {
  const bmp = Buffer.alloc(54 + 40 * 32 * 3, 51);
  bmp.fill(0, 0, 54).write("BM");
  for (const [at, value] of [[10, 54], [14, 40], [18, 40], [22, 32]] as const) bmp.writeUInt32LE(value, at); // prettier-ignore
  bmp.writeUInt16LE(24, 28);
  for (const name of ["1.bmp", "2.bmp"]) put(join(root, "bmp", name), bmp);
  const stack = await openStack(join(root, "bmp"));
  assert.deepEqual([stack.size, stack.bits], [size, 8]);
  assertClose((await stack.readPlane(1)).data, new Float32Array(40 * 32 * 3).fill(0.2), 1e-6);
});

test("what heif-enc writes of an image of odd sides comes back", (context) => {
  const source = join(root, "odd.png");
  const data = Uint8Array.from({ length: 85 * 63 * 3 }, (_, i) => 60 + ((Math.floor(i / 3) % 85) + Math.floor(i / 255)) * 0.9);
  put(source, encodePngPixels({ width: 85, height: 63, channels: 3, data }));
  try {
    execFileSync("heif-enc", ["-q", "95", source, "-o", join(root, "odd.heic")], { stdio: "pipe" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    context.skip("heif-enc is not installed");
    return;
  }
  return readImage(join(root, "odd.heic")).then((image) => {
    assert.deepEqual([image.width, image.height], [85, 63]);
    assertClose(
      image.data,
      Float32Array.from(data, (value) => value / 255),
      0.03,
    );
  });
});
