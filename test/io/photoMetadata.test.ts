import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Unzlib, zlibSync } from "fflate";
import { fromArrayBuffer } from "geotiff";
import sharp from "sharp";
import { directory, integers, readPhotoFacts, tiffAt } from "../../src/io/exif.ts";
import { withJpegMetadata } from "../../src/io/jpegMetadata.ts";
import { photoMetadata, type PhotoMetadata } from "../../src/io/photoMetadata.ts";
import { encodePng, encodePngPixels, integers as asIntegers } from "../../src/io/png.ts";
import { decodeTiff, encodeTiff } from "../../src/io/tiff.ts";
import { memorySource } from "../../src/io/tiffDirectories.ts";
import { readImage } from "../../src/stack/node/diskFiles.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { crc32 } from "./crc32.ts";
import { dngFile } from "./dngFile.ts";
import { exifBlock, jpegWithExif } from "./exifFiles.ts";
import { iccProfile } from "./iccFiles.ts";

const root = temporaryFolder();
const size = { width: 12, height: 8, channels: 3 as const };
const saturated = Uint8Array.from({ length: 12 * 8 * 3 }, (_, i) => ([200, 40, 90][i % 3] as number) + (Math.floor(i / 3) % 12));

/** Pixels of these numbers in the profile's space, with EXIF. */
function photo(format: "jpeg" | "png" | "webp" | "tiff" | "avif", profile = "p3"): Promise<Buffer> {
  const lossless = format === "jpeg" ? { quality: 100, chromaSubsampling: "4:4:4" } : format === "webp" || format === "avif" ? { lossless: true } : {}; // prettier-ignore
  return sharp(saturated, { raw: size })
    .withExif({ IFD0: { Make: "DualFocus", Orientation: "6" }, IFD2: { FocalLength: "50/1" }, IFD3: { GPSLatitudeRef: "N" } })
    .withIccProfile(profile, { attach: true })
    .toFormat(format, lossless)
    .toBuffer();
}

const metadataOf = (bytes: Uint8Array, channels: 1 | 3 = 3): Promise<PhotoMetadata> =>
  photoMetadata(memorySource(bytes), { width: 8, height: 12, channels });

/** How the file looks, by another program: libvips and Little CMS. */
const looks = async (bytes: Uint8Array): Promise<Buffer> => sharp(bytes).toColourspace("srgb").removeAlpha().raw().toBuffer();
const stored = async (bytes: Uint8Array): Promise<Buffer> => sharp(bytes, { ignoreIcc: true }).removeAlpha().raw().toBuffer();

/** The camera's maker, by libexif or geotiff. libvips reads no EXIF in TIFF files, nor writes any. */
async function makeOf(bytes: Uint8Array): Promise<string> {
  const { exif } = await sharp(bytes).metadata();
  if (exif) return /DualFocus/.exec(exif.toString("latin1"))?.[0] ?? "";
  const page = await (await fromArrayBuffer(bytes.slice().buffer)).getImage();
  return String(await page.fileDirectory.loadValue("Make")).replace(/\0$/, "");
}

test("EXIF and profile of every format go into PNG, TIFF and JPEG, whose colours then look as in the photo", async () => {
  const adobe = join(root, "adobe.icc");
  put(adobe, iccProfile());
  for (const profile of ["p3", adobe])
    for (const format of ["jpeg", "png", "webp", "tiff", "avif"] as const) {
      const file = await photo(format, profile);
      const metadata = await metadataOf(file);
      assert.deepEqual(metadata.profile && Buffer.from(metadata.profile), (await sharp(file).metadata()).icc, `profile of ${format}`);
      const data = new Uint8Array(await stored(file));
      const plain = await sharp(data, { raw: size }).jpeg({ quality: 100, chromaSubsampling: "4:4:4" }).toBuffer();
      const made = {
        png: encodePngPixels({ ...size, data, ...metadata }),
        tiff: encodeTiff([{ ...size, data, profile: metadata.profile }], metadata),
        jpeg: withJpegMetadata(plain, metadata),
      };
      for (const [name, bytes] of Object.entries(made)) {
        const what = `${format} to ${name}`;
        const { icc, orientation } = await sharp(bytes).metadata();
        assert.deepEqual(icc && Buffer.from(icc), metadata.profile && Buffer.from(metadata.profile), what);
        if (format !== "tiff") {
          assert.deepEqual([readPhotoFacts(bytes).focalLength, orientation], [0.05, 1], what);
          assert.equal(await makeOf(bytes), "DualFocus", what);
        }
        const [wanted, found] = [await looks(file), await looks(bytes)];
        const most = wanted.reduce((worst, value, i) => Math.max(worst, Math.abs(value - (found[i] as number))), 0);
        assert.ok(most <= (name === "jpeg" ? 4 : 1), `${what}: colours differ by ${most}`);
        const asSrgb = wanted.reduce((worst, value, i) => Math.max(worst, Math.abs(value - (data[i] as number))), 0);
        assert.ok(asSrgb > 10, "without the profile they would look different");
      }
    }
});

test("a TIFF takes over the byte order of the EXIF block, 16-bit samples included, and the places of what is in it", async () => {
  const data = Uint16Array.from({ length: 12 * 8 * 3 }, (_, i) => (i * 223) % 65536);
  for (const little of [true, false]) {
    const note = Uint8Array.from({ length: 40 }, (_, i) => i + 1);
    const exif = exifBlock({ main: [[271, 2, "DualFocus camera"], [274, 3, [1]]], exif: [[0x920a, 5, [50, 1]], [0x927c, 7, note]] }, { little }); // prettier-ignore
    const bytes = encodeTiff(
      [
        { ...size, data, profile: iccProfile() },
        { ...size, data },
      ],
      { exif },
    );
    const [page, second] = await decodeTiff(bytes); // by geotiff
    assert.deepEqual([page?.data, second?.data], [data, data]);
    const { depth, icc } = await sharp(bytes).metadata(); // by libtiff
    assert.deepEqual([depth, icc && new Uint8Array(icc)], ["ushort", iccProfile()]);
    assert.equal(await makeOf(bytes), "DualFocus camera");
    const again = await metadataOf(bytes);
    assert.deepEqual([again.exif && readPhotoFacts(again.exif), again.profile], [readPhotoFacts(exif), iccProfile()], "read from a TIFF");
    const makerNote = (block: Uint8Array): number => {
      const tiff = tiffAt(block, 0);
      assert.ok(tiff);
      const main = directory(tiff, tiff.view.getUint32(4, little));
      return directory(tiff, integers(tiff, main.get(0x8769))[0] as number).get(0x927c)?.at ?? -1;
    };
    assert.equal(makerNote(bytes), makerNote(exif), "offsets inside a maker note still hold");
    assert.deepEqual(bytes.slice(makerNote(bytes), makerNote(bytes) + 40), note);
  }
});

test("EXIF states the size of the image made: the photo's sides exchanged where it was turned", async () => {
  const plain = await sharp(saturated, { raw: size }).jpeg().toBuffer();
  const block = exifBlock({ main: [[274, 3, [6]]], exif: [[0xa002, 4, [12]], [0xa003, 3, [8]]] }); // prettier-ignore
  const { exif } = await metadataOf(jpegWithExif(plain, block));
  const tiff = exif && tiffAt(exif, 0);
  assert.ok(tiff);
  const fields = directory(tiff, integers(tiff, directory(tiff, 8).get(0x8769))[0] as number);
  assert.deepEqual([integers(tiff, fields.get(0xa002)), integers(tiff, fields.get(0xa003))], [[8], [12]]);
});

test("a profile of many segments comes back; one for other channels, or damaged, does not count", async () => {
  const plain = await sharp(saturated, { raw: size }).jpeg().toBuffer();
  const long = iccProfile("RGB ", { padding: 200_000 });
  const jpeg = withJpegMetadata(plain, { profile: long });
  assert.deepEqual((await metadataOf(jpeg)).profile, long);
  assert.deepEqual(new Uint8Array((await sharp(jpeg).metadata()).icc ?? []), long);
  assert.deepEqual(
    await metadataOf(withJpegMetadata(jpeg, { profile: iccProfile() })),
    { profile: iccProfile() },
    "the old one is replaced",
  );
  const grey = encodePng({ width: 4, height: 4, channels: 1, data: new Float32Array(16) }, { profile: iccProfile("GRAY") });
  assert.deepEqual([await metadataOf(grey, 1), await metadataOf(grey, 3)], [{ profile: iccProfile("GRAY") }, {}]);
  assert.deepEqual(await metadataOf(withJpegMetadata(plain, { profile: long.subarray(0, 1000) })), {});
});

/** A PNG of `saturated` with these chunks after its header. */
async function pngWith(...chunks: readonly (readonly [type: string, data: Uint8Array])[]): Promise<Uint8Array> {
  const plain = await sharp(saturated, { raw: size }).png().toBuffer();
  const added = chunks.map(([type, data]) => {
    const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(type), data, Buffer.alloc(4)]);
    chunk.writeUInt32BE(data.length);
    chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
    return chunk;
  });
  return new Uint8Array(Buffer.concat([plain.subarray(0, 33), ...added, plain.subarray(33)]));
}

const iccChunk = (packed: Uint8Array): ["iCCP", Uint8Array] => ["iCCP", Buffer.concat([Buffer.from("name\0\0"), packed])];

test("a PNG's profile is found however it is packed, stored blocks included", async () => {
  for (const padding of [0, 100_000])
    for (const level of [0, 1, 9] as const) {
      const profile = iccProfile("RGB ", { padding });
      assert.deepEqual((await metadataOf(await pngWith(iccChunk(zlibSync(profile, { level }))))).profile, profile, `level ${level}`);
    }
});

test("no more of a PNG's profile is unpacked than it has, whatever follows", async (context) => {
  const unpackedBytes = async (content: Uint8Array): Promise<[packed: number, profile: Uint8Array | undefined]> => {
    const pushed = context.mock.method(Unzlib.prototype, "push");
    const { profile } = await metadataOf(await pngWith(iccChunk(zlibSync(content, { level: 9 }))));
    const packed = pushed.mock.calls.reduce((sum, { arguments: [piece] }) => sum + piece.length, 0);
    pushed.mock.restore();
    return [packed, profile];
  };
  const bomb = new Uint8Array(20e6); // 20 kB when packed
  bomb.set(iccProfile());
  const [packed, profile] = await unpackedBytes(bomb);
  assert.deepEqual(profile, iccProfile());
  assert.ok(packed > 0 && packed <= 1024, `${packed} bytes were unpacked`);
  bomb.set([0x01, 0, 0, 0]); // says that it has 16 MB
  assert.deepEqual(await unpackedBytes(bomb), [1024, undefined]);
  const cut = zlibSync(iccProfile("RGB ", { padding: 100_000 }), { level: 0 }).subarray(0, 90_000);
  assert.deepEqual(await metadataOf(await pngWith(iccChunk(cut))), {}, "ends before the profile does");
});

test("a profile is either kept, with the numbers of its space, or applied, wherever it stands in the file", async () => {
  for (const before of [1000, 1.2e6]) {
    const bytes = await pngWith(["teSt", new Uint8Array(before)], iccChunk(zlibSync(iccProfile())));
    const file = join(root, `profile-after-${before}.png`);
    put(file, bytes);
    const { profile } = await metadataOf(bytes);
    const { data } = await readImage(file);
    assert.equal(profile !== undefined, before === 1000);
    assert.deepEqual(asIntegers(data, 8), new Uint8Array(await (profile ? stored : looks)(bytes)), `after ${before} bytes`);
    assert.notDeepEqual(await stored(bytes), await looks(bytes));
  }
});

test("a raw file gives its EXIF but no profile; cut files of any format give what is whole and never throw", async () => {
  const data = Float32Array.from({ length: 40 * 32 * 3 }, () => 0.5);
  const dng = dngFile({ width: 40, height: 32, channels: 3, data }, { exif: [[0x920a, 5, [35, 1]]], orientation: 6 });
  const { exif, profile } = await metadataOf(dng);
  assert.deepEqual([profile, exif && readPhotoFacts(exif).focalLength, exif && readPhotoFacts(exif).orientation], [undefined, 0.035, 1]);
  const tiff = encodeTiff([{ ...size, data: asIntegers(new Float32Array(288), 16), profile: iccProfile() }], exif ? { exif } : {});
  for (const whole of [
    tiff,
    dng,
    ...(await Promise.all((["jpeg", "png", "webp", "avif", "tiff"] as const).map((format) => photo(format)))),
  ])
    for (let length = 0; length < whole.length; length += Math.ceil(whole.length / 40)) await metadataOf(whole.subarray(0, length));
});
