import assert from "node:assert/strict";
import { test } from "node:test";
import sharp from "sharp";
import { readPhotoFacts } from "../../src/io/exif.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";
import { exifBlock, jpegWithExif, writeDirectory, type ExifField } from "./exifFiles.ts";

const CAMERA: readonly ExifField[] = [
  [0x829d, 5, [28, 10]],
  [0x9206, 5, [65, 100]],
  [0x920a, 5, [50, 1]],
  [0xa002, 4, [6000]],
  [0xa003, 4, [4000]],
  [0xa20e, 5, [6000 * 10, 36]], // pixels per centimetre
  [0xa210, 3, [3]],
];

test("focal length, aperture, sensor, orientation and distance come out in metres, in either byte order", () => {
  for (const little of [true, false]) {
    const facts = readPhotoFacts(exifBlock({ main: [[0x0112, 3, [6]]], exif: CAMERA }, { little }));
    assert.equal(facts.orientation, 6);
    assertClose([facts.focalLength ?? 0, facts.fNumber ?? 0, facts.focusDistance.EXIF ?? 0], [0.05, 2.8, 0.65], 1e-12);
    assertClose([facts.sensorDiagonal ?? 0], [Math.hypot(0.036, 0.024)], 1e-9);
  }
});

test("without a resolution on the sensor its size follows from the 35 mm equivalent", () => {
  const exif: ExifField[] = [
    [0x920a, 5, [6, 1]],
    [0xa405, 3, [26]],
  ];
  assertClose([readPhotoFacts(exifBlock({ exif })).sensorDiagonal ?? 0], [(Math.hypot(36, 24) * 6) / 26 / 1000], 1e-9);
});

test("an infinite distance is infinite and a zero one unknown", () => {
  const at = (above: number, below: number): number | undefined =>
    readPhotoFacts(exifBlock({ exif: [[0x9206, 5, [above, below]]] })).focusDistance.EXIF;
  assert.equal(at(0xffffffff, 1), Infinity);
  assert.equal(at(0, 1), undefined);
  assert.equal(at(1, 0), undefined);
});

test("sharp's EXIF in JPEG, PNG, WebP and AVIF is found", async () => {
  const picture = sharp(Buffer.alloc(32 * 32 * 3, 90), { raw: { width: 32, height: 32, channels: 3 } }).withExif({
    IFD2: { SubjectDistance: "13/20", FNumber: "4/1", FocalLength: "35/1" },
  });
  for (const format of ["jpeg", "png", "webp", "avif"] as const) {
    const facts = readPhotoFacts(await picture.clone().toFormat(format).toBuffer());
    assert.deepEqual([facts.focusDistance.EXIF, facts.fNumber, facts.focalLength], [0.65, 4, 0.035], format);
  }
});

/** A maker note whose offsets count from its own beginning. */
function selfContained(head: string, fields: readonly ExifField[], at: number, little: boolean): Uint8Array {
  const bytes = new Uint8Array(256);
  bytes.set(new TextEncoder().encode(head));
  writeDirectory(new DataView(bytes.buffer), fields, { at, free: 128, base: 0, little });
  return bytes;
}

test("Canon, Olympus and Apple notes give their focus distance", () => {
  const apple = selfContained("Apple iOS\0\0\x01MM", [[0x000c, 10, [10, 20, 10, 40]]], 14, false); // 0.5 m and 0.25 m
  assertClose([readPhotoFacts(exifBlock({ exif: [[0x927c, 7, apple]] })).focusDistance.MakerNote ?? 0], [1 / 3], 1e-9);

  const olympus = selfContained("OLYMPUS\0II\x03\0", [[0x2050, 4, [64]]], 12, true);
  writeDirectory(new DataView(olympus.buffer), [[0x0305, 5, [850, 10]]], { at: 64, free: 160, base: 0, little: true });
  assertClose([readPhotoFacts(exifBlock({ exif: [[0x927c, 7, olympus]] })).focusDistance.MakerNote ?? 0], [0.85], 1e-9);

  const shotInfo = Array.from({ length: 34 }, (_, i) => (i === 19 ? 300 : i === 20 ? 150 : 0)); // 3 m and 1.5 m
  const canon = (values: readonly number[]): number | undefined => {
    const block = exifBlock({ main: [[0x010f, 2, "Canon"]], exif: [[0x927c, 7, new Uint8Array(200)]] });
    const view = new DataView(block.buffer);
    const note = block.length - 200; // offsets of a Canon note count from the start of the block
    writeDirectory(view, [[0x0004, 3, values]], { at: note, free: note + 30, base: 0, little: true });
    return readPhotoFacts(block).focusDistance.MakerNote;
  };
  assertClose([canon(shotInfo) ?? 0], [2], 1e-9);
  assert.equal(canon(shotInfo.map((value) => (value === 300 ? 0xffff : value))), 3, "from 1.5 m to infinity: the middle in dioptres");
  assert.equal(canon(shotInfo.map(() => 0)), undefined);
});

test("a distance in XMP is found as attribute and as element", () => {
  const xmp = (body: string): number | undefined =>
    readPhotoFacts(new TextEncoder().encode(`\xff\xd8 … <x:xmpmeta>${body}</x:xmpmeta>`)).focusDistance.XMP;
  assert.equal(xmp('<rdf:Description aux:ApproximateFocusDistance="126/100"/>'), 1.26);
  assert.equal(xmp("<exif:SubjectDistance>13/20</exif:SubjectDistance>"), 0.65);
  assert.equal(xmp('<rdf:Description aux:ApproximateFocusDistance="4294967295/1"/>'), Infinity);
  assert.equal(xmp('<rdf:Description aux:Lens="50mm"/>'), undefined);
});

test("damaged bytes are silence, never an error", () => {
  const good = jpegWithExif(Uint8Array.of(0xff, 0xd8, 0xff, 0xd9), exifBlock({ main: [[0x010f, 2, "Canon"]], exif: CAMERA }));
  const random = createRandom(11);
  assert.equal(readPhotoFacts(good).fNumber, 2.8);
  for (let round = 0; round < 3000; round++) {
    const bytes = round % 3 === 0 ? good.slice(0, random.integer(good.length)) : good.slice();
    for (let hit = 0; hit < 6; hit++) bytes[12 + random.integer(Math.max(1, bytes.length - 12))] = random.integer(256);
    readPhotoFacts(bytes);
    readPhotoFacts(Uint8Array.from({ length: random.integer(100) }, () => random.integer(256)));
  }
});
