import assert from "node:assert/strict";
import { test } from "node:test";
import sharp from "sharp";
import { DualFocusError } from "../../src/errors.ts";
import type { Image } from "../../src/image/image.ts";
import { readPhotoFacts } from "../../src/io/exif.ts";
import { developRaw } from "../../src/io/libraw.ts";
import { decodeRaw, loadLibRaw } from "../../src/stack/node/decodeRaw.ts";
import { embeddedJpeg, isRaw, largestRawSize } from "../../src/io/raw.ts";
import { encodeTiff } from "../../src/io/tiff.ts";
import { createRandom } from "../../src/random.ts";
import { MEMORY_VARIABLE } from "../../src/system/processWatch.ts";
import { dngFile } from "./dngFile.ts";
import { cr3File, rafFile } from "./rawLayouts.ts";

const size = { width: 96, height: 64 };

/** Slow waves in three colours, which a mosaic loses nothing of. */
const waves: Image = {
  ...size,
  channels: 3,
  data: Float32Array.from({ length: 3 * size.width * size.height }, (_, i) => {
    const [c, x, y] = [i % 3, Math.floor(i / 3) % size.width, Math.floor(i / 3 / size.width)];
    return 0.5 + 0.35 * Math.sin(x / 9 + c) * Math.cos(y / 7 - c);
  }),
};

/** The greatest difference, but for the two pixels at the border that have no neighbours to take colours from. */
function greatest(values: ArrayLike<number>, { data }: Image): number {
  let most = 0;
  for (let y = 2; y < size.height - 2; y++)
    for (let i = 3 * (y * size.width + 2); i < 3 * (y * size.width + size.width - 2); i++)
      most = Math.max(most, Math.abs((values[i] as number) / 65535 - (data[i] as number)));
  return most;
}

test("a DNG is told from a TIFF, with its size and focus distance", () => {
  const dng = dngFile(waves, { exif: [[0x9206, 5, [70, 100]]] });
  assert.deepEqual([isRaw(dng), isRaw(encodeTiff([{ ...size, channels: 1, data: new Uint8Array(96 * 64) }]))], [true, false]);
  assert.deepEqual(largestRawSize(dng), size);
  assert.equal(readPhotoFacts(dng).focusDistance.EXIF, 0.7);
});

test("cameras' own formats are told by their first bytes", () => {
  const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.padEnd(64, "\0"), "latin1"));
  const marks = ["FUJIFILMCCD-RAW 0201", "IIRO\x08", "IIU\0\x08", "II*\0\x10\0\0\0CR\x02", "\0\0\0\x18ftypcrx \0\0\0\x01crx isom"];
  assert.deepEqual(marks.map((mark) => isRaw(bytes(mark))), [true, true, true, true, true]); // prettier-ignore
});

test("the largest size that a raw file states is found wherever it stands", async () => {
  const [sensor, larger] = [
    { width: 6032, height: 4028 },
    { width: 70_000, height: 5000 },
  ];
  const preview = new Uint8Array(await sharp(Buffer.alloc(80 * 32 * 3), { raw: { width: 80, height: 32, channels: 3 } }).jpeg().toBuffer()); // prettier-ignore
  const small = { width: 40, height: 30 };
  assert.deepEqual(largestRawSize(rafFile(sensor, preview)), sensor);
  assert.deepEqual(largestRawSize(rafFile(small, preview)), { width: 80, height: 32 }, "the JPEG may be what is decoded");
  assert.deepEqual(largestRawSize(cr3File(sensor, preview)), sensor);
  assert.deepEqual(largestRawSize(cr3File(sensor, preview, { compressed: larger })), larger);
  assert.deepEqual(largestRawSize(cr3File(small, preview)), { width: 80, height: 32 });
  const raf = rafFile(sensor, preview);
  for (const length of [20, 95, 96, 170, raf.length - 21]) largestRawSize(raf.slice(0, length)); // cut off anywhere
  assert.equal(largestRawSize(raf.slice(0, 96)), undefined);
  assert.equal(largestRawSize(cr3File(sensor, new Uint8Array()).slice(0, 40)), undefined);
  assert.equal(
    largestRawSize(Uint8Array.from([0, 0, 0, 16, ...Buffer.from("ftypcrx "), 0, 0, 0, 0, 0, 0, 0, 2])),
    undefined,
    "a box of 2 bytes",
  );
});

test("LibRaw develops the mosaic back into the image, in 16 bits", async () => {
  const found = await decodeRaw(dngFile(waves));
  assert.ok(found);
  assert.deepEqual([found.width, found.height, found.orientation], [96, 64, 1]);
  assert.ok(greatest(found.data, waves) < 0.02, `off by ${greatest(found.data, waves)}`);
  assert.ok(new Set(found.data).size > 1000, "values of more than 8 bits");
});

test("two exposures keep their ratio: nothing is stretched to what a frame holds", async () => {
  const darker = { ...waves, data: waves.data.map((value) => value / 2) };
  const { data } = (await decodeRaw(dngFile(darker))) ?? { data: [] };
  assert.ok(greatest(data, darker) < 0.01, `off by ${greatest(data, darker)}`);
});

test("a sensor held sideways keeps its own rows and says so", async () => {
  const dng = dngFile(waves, { orientation: 6 });
  const found = await decodeRaw(dng);
  assert.deepEqual([found?.width, found?.height, found?.orientation, readPhotoFacts(dng).orientation], [96, 64, 6, 6]);
});

test("what LibRaw cannot decode is undefined, and nothing is printed", async (context) => {
  const complained = context.mock.method(console, "error", () => undefined);
  const dng = dngFile(waves);
  const random = createRandom(3);
  for (const bytes of [new Uint8Array(100), dng.slice(0, 3000)]) assert.equal(await decodeRaw(bytes), undefined);
  const libraw = await loadLibRaw();
  assert.equal(developRaw(dngFile(waves, { compression: 52546 }), libraw), undefined);
  for (let round = 0; round < 20; round++) {
    const damaged = dng.slice();
    for (let hit = 0; hit < 6; hit++) damaged[random.integer(600)] = random.integer(256);
    developRaw(damaged, libraw); // any answer, no crash
  }
  assert.equal(complained.mock.callCount(), 0);
});

test("a decoder that does not end, or crashes, is given up, and the next file has another one", async () => {
  const dng = dngFile(waves);
  const program = new URL("./stuckLibRaw.ts", import.meta.url);
  assert.equal(await decodeRaw(dng, { program, seconds: 0.5 }), undefined);
  const [crashed, good, wrong] = await Promise.all([
    decodeRaw(new Uint8Array(), { program }),
    decodeRaw(dng),
    decodeRaw(Uint8Array.of(1), { program }),
  ]);
  assert.deepEqual([crashed, wrong, good?.width], [undefined, undefined, 96]);
});

test("where too little memory is left, developing a raw file is an error; its preview would be another image", async (context) => {
  context.after(() => Reflect.deleteProperty(process.env, MEMORY_VARIABLE));
  const dng = dngFile(waves);
  context.mock.method(process.memoryUsage, "rss", () => 2 ** 30);
  const refused = async (megabytes: number, options: Parameters<typeof decodeRaw>[1]): Promise<string> => {
    process.env[MEMORY_VARIABLE] = String(2 ** 30 + megabytes * 2 ** 20);
    const cause: unknown = await decodeRaw(dng, { file: "a.dng", ...options }).catch((error: unknown) => error);
    assert.ok(cause instanceof DualFocusError && cause.code === "memory-limit");
    return cause.message;
  };
  assert.equal(await refused(100, {}), "a.dng: developing 96×64 pixels takes about 0.2 GB, more than the 0.1 GB of memory left");
  const hungry = new URL("./hungryLibRaw.ts", import.meta.url);
  const stuck = new URL("./stuckLibRaw.ts", import.meta.url);
  assert.equal(await refused(512, { program: hungry }), "a.dng: developing it took more than the 0.5 GB of memory left");
  process.env[MEMORY_VARIABLE] = String(4 * 2 ** 30);
  assert.equal((await decodeRaw(dng))?.width, 96);
  assert.equal(await decodeRaw(dng, { program: stuck, seconds: 0.5 }), undefined, "given up for its time, not its memory");
});

test("the largest JPEG inside a raw file is found", async () => {
  const jpeg = async (width: number): Promise<Buffer> =>
    sharp(Buffer.alloc(width * 32 * 3, 90), { raw: { width, height: 32, channels: 3 } })
      .jpeg()
      .toBuffer();
  const bytes = Buffer.concat([dngFile(waves), await jpeg(40), await jpeg(80), await jpeg(20), Buffer.from([0xff, 0xd8, 0xff, 0xc4])]);
  const found = embeddedJpeg(new Uint8Array(bytes));
  assert.deepEqual([found?.size.width, found?.size.height], [80, 32]);
  assert.equal((await sharp(found?.jpeg).metadata()).width, 80);
  assert.equal(embeddedJpeg(dngFile(waves)), undefined);
});
