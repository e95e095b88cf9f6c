// What a damaged or hostile file claims before it has the bytes, reader by reader; TIFF is in tiffDirectories.test.ts.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import h5wasm from "h5wasm/node";
import { openHdf5 } from "../../src/data/hdf5.ts";
import { decodeExr, encodeExr } from "../../src/io/exr.ts";
import { FormatError } from "../../src/io/formatError.ts";
import { readHeifHeader } from "../../src/io/heif.ts";
import { decodeMat } from "../../src/io/mat.ts";
import { decodePngPixels, encodePng } from "../../src/io/png.ts";
import { decodeTiff } from "../../src/io/tiff.ts";
import { imageJStack, omeStack } from "../../src/stack/omeTiff.ts";
import { readText } from "../../src/stack/node/diskFiles.ts";
import { parseDistanceFile } from "../../src/stack/distanceList.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { pngClaiming } from "../serve/hostileFiles.ts";
import { greyPage, rawTiff } from "./hostileTiff.ts";
import { mat5 } from "./hdf5Files.ts";

const folder = temporaryFolder();
/** A pattern that takes the square of the time would need minutes for these. */
const linear = { timeout: 20_000 };

/** Bytes in typed arrays and on the heap that `read` makes room for, at least. */
async function roomFor(read: () => unknown): Promise<number> {
  const before = process.memoryUsage();
  await read();
  const after = process.memoryUsage();
  return after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed;
}

test("PNG: neither a chunk's length nor the size in the header is believed", async () => {
  const png = encodePng({ width: 8, height: 8, channels: 1, data: new Float32Array(64) });
  const chunk = png.slice();
  new DataView(chunk.buffer).setUint32(8 + 25, 0x7fffffff);
  assert.throws(() => decodePngPixels(chunk, "a.png"), /a\.png: not a readable PNG file: a chunk at 33 claims 2147483647 bytes/);
  const huge = await pngClaiming(50_000, 50_000);
  const room = await roomFor(() => {
    assert.throws(() => decodePngPixels(huge, "a.png"), /50000×50000 pixels of 24 bits do not fit into \d+ bytes/);
  });
  assert.ok(room < 50 << 20, `${room} bytes`);
  assert.throws(() => decodePngPixels(png.subarray(0, 8), "a.png"), /it has no header/);
});

test("EXR: neither an attribute's length nor the data window is believed", async () => {
  const exr = await encodeExr({ width: 4, height: 4, channels: { Z: new Float32Array(16) } });
  const at = (name: string): number => Buffer.from(exr).indexOf(`${name}\0`) + name.length + 1;
  const changed = (place: number, value: number): Uint8Array => {
    const bytes = exr.slice();
    new DataView(bytes.buffer).setInt32(place, value, true);
    return bytes;
  };
  const window = at("dataWindow") + "box2i".length + 1;
  const side = changed(window + 4 + 8, 100_000_000);
  await assert.rejects(decodeExr(side, "a.exr"), /a\.exr: not a readable OpenEXR file: an image of 100000001×4 does not fit into a file/);
  await assert.rejects(decodeExr(changed(window, 2_000_000_000), "a.exr"), /dataWindow claims 2000000000 bytes/);
  await assert.rejects(decodeExr(changed(window + 4 + 8, -7), "a.exr"), /an image of -6×4/);
  assert.equal((await decodeExr(exr)).width, 4);
});

test("HDF5: a shape that was never written is not read as a gigabyte of zeros", async () => {
  const file = join(folder, "sparse.h5");
  await h5wasm.ready;
  const written = new h5wasm.File(file, "w");
  written.create_dataset({ name: "stack", shape: [1], maxshape: [null], chunks: [64], data: new Float32Array(1) });
  (written.get("stack") as unknown as { resize: (shape: number[]) => void }).resize([1 << 30]);
  written.close();
  const opened = await openHdf5(file);
  assert.deepEqual(opened.shape("stack"), [1 << 30]);
  assert.throws(
    () => opened.read("stack"),
    (error) => error instanceof FormatError && /claims 1073741824 values/.test(error.message),
  );
  assert.equal(opened.read("stack", [[0, 10]]).length, 10);
  opened.close();
});

test("MAT: a compressed variable is unpacked as far as its own length goes", async () => {
  const zeros = new Uint8Array(64 << 20);
  const one = Buffer.from(mat5({ a: [1, 2] }, { compressed: false }).subarray(128));
  const bomb = deflateSync(Buffer.concat([one, zeros])); // the variable, and 64 MB that belong to nothing
  const element = Buffer.alloc(8);
  element.writeUInt32LE(15, 0);
  element.writeUInt32LE(bomb.length, 4);
  const head = mat5({}).subarray(0, 128);
  const file = new Uint8Array(Buffer.concat([head, element, bomb]));
  const room = await roomFor(() => {
    assert.deepEqual([...(decodeMat(file)["a"]?.data ?? [])], [1, 2]);
  });
  assert.ok(room < 32 << 20, `${room} bytes`);
  const claims = Buffer.from(one);
  claims.writeUInt32LE(4_000_000_000, 4);
  const packed = deflateSync(claims);
  element.writeUInt32LE(packed.length, 4);
  const liar = new Uint8Array(Buffer.concat([head, element, packed]));
  assert.throws(
    () => decodeMat(liar, "a.mat"),
    /a\.mat: not a readable MATLAB 5 file: 4000000000 bytes do not fit into \d+ compressed ones/,
  );
});

const ome = (body: string): string => `<OME><Image><Pixels SizeZ="99" SizeC="100" SizeT="1">${body}</Pixels></Image></OME>`;
const where = { file: "a.ome.tif", pages: 3 };

test("OME-XML: tags that never close, endless names and pages before the first take no longer than others", linear, () => {
  assert.throws(() => omeStack("<OME>" + "<TiffData ".repeat(400_000), where), FormatError);
  omeStack(ome(`<TiffData ${"a".repeat(3900)}>`.repeat(2000)), where);
  assert.throws(() => omeStack(ome('<TiffData IFD="-1000000000" PlaneCount="1000000000"/>'), where), /names page “-1000000000”/);
  omeStack(ome("<TiffData/>".repeat(100_000)), { ...where, pages: 9000 });
});

test("HEIF: extents without bytes and thousands of tiles take no longer than others", linear, () => {
  const box = (type: string, content: Uint8Array): Buffer => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(8 + content.length);
    head.write(type, 4, "latin1");
    return Buffer.concat([head, content]);
  };
  const words = (...values: number[]): Buffer => Buffer.concat(values.map((value) => Buffer.from([value >> 8, value & 255])));
  const infe = box("infe", Buffer.concat([words(0x0200, 0, 9, 0), Buffer.from("Exif\0")]));
  const items = 40_000;
  const iloc = Buffer.concat([words(0, 0, 0, items), ...Array.from({ length: items }, () => words(1, 0, 65_535))]);
  const ispe = Buffer.concat([words(0, 0), words(0, 64, 0, 48)]);
  const ipma = Buffer.concat([words(0, 0, 0, 1, 1), Buffer.from([255]), Buffer.alloc(255, 1)]);
  const tiles = Buffer.concat([words(1, 60_000), Buffer.alloc(120_000, words(1))]);
  const meta = box(
    "meta",
    Buffer.concat([
      words(0, 0),
      box("pitm", words(0, 0, 1)),
      box("iinf", Buffer.concat([words(0, 0, 1), infe])),
      box("iloc", iloc),
      box("iref", Buffer.concat([words(0, 0), box("dimg", tiles)])),
      box("iprp", Buffer.concat([box("ipco", box("ispe", ispe)), box("ipma", ipma)])),
    ]),
  );
  const { width, height } = readHeifHeader(Buffer.concat([box("ftyp", Buffer.from("heic\0\0\0\0mif1heic")), meta]));
  assert.deepEqual([width, height], [64, 48]);
});

test("ImageJ: a fraction of a channel does not make a thousand million planes", () => {
  assert.equal(imageJStack("ImageJ=1.53\nchannels=0.000001\nslices=1000000000\n", where), undefined);
  assert.equal(imageJStack("ImageJ=1.53\nslices=1000000000\n", where)?.planes.length, 3);
});

test("TIFF: a description of zeros takes no longer than another", linear, async () => {
  const length = 400_000;
  const at = 8 + 2 + 12 * 10 + 4;
  const bytes = rawTiff([[...greyPage({ at }), { tag: 270, type: 2, count: length, value: at }].sort((a, b) => a.tag - b.tag)], {
    after: length,
  });
  bytes[at + length - 1] = 65;
  const [page] = await decodeTiff(bytes);
  assert.equal(page?.description?.length, length);
});

test("lists of distances: a million digits are not a number, and a file of gigabytes is not read", linear, async () => {
  assert.throws(
    () => parseDistanceFile(`0.5\n${"1".repeat(300_000)} a`, "a.csv"),
    (error) => {
      assert.ok(error instanceof FormatError && error.message.length < 2100, String(error).length.toString());
      return true;
    },
  );
  const file = join(folder, "stack.json");
  put(file, new Uint8Array(17 << 20));
  await assert.rejects(readText(file), /stack\.json: has 17 MB; text with focus distances has at most 16 MB/);
});

test("a file's own words in a message neither steer the terminal nor fill it", () => {
  assert.throws(
    () => parseDistanceFile("1\n\u001b]0;owned\u0007\u202e", "a.csv"),
    (error) => error instanceof FormatError && !/[\p{Cc}\u202e]/u.test(error.message),
  );
  assert.ok(new FormatError("x".repeat(1e6)).message.length < 2100);
});
