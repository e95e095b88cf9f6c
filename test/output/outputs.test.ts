import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { decode } from "fast-png";
import { fromArrayBuffer } from "geotiff";
import sharp from "sharp";
import { readDepth } from "../../src/data/readDepth.ts";
import { depthMap } from "../../src/image/depthMap.ts";
import { decodeExr, exrChannel } from "../../src/io/exr.ts";
import { decodeNpy } from "../../src/io/npy.ts";
import { decodeTiff } from "../../src/io/tiff.ts";
import { depthCode } from "../../src/output/depthCode.ts";
import { availableOutputs, DEFAULT_OUTPUTS, encodeOutputs, OUTPUT_NAMES } from "../../src/output/outputs.ts";
import type { EncodeJpeg, OutputFile, OutputName } from "../../src/output/outputs.ts";
import { validFraction, validRange } from "../../src/output/result.ts";
import type { DepthResult, DepthUnit } from "../../src/output/result.ts";
import { encodeResultJson } from "../../src/output/resultJson.ts";
import { createRandom } from "../../src/random.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { assertClose } from "../helpers/close.ts";

const sharpJpeg: EncodeJpeg = ({ width, height, channels, data }) => sharp(data, { raw: { width, height, channels } }).jpeg().toBuffer();

const size = { width: 7, height: 5 };
const random = createRandom(1);
const values = Float32Array.from({ length: 35 }, () => 0.5 + random.uniform());
const valid = Uint8Array.from({ length: 35 }, (_, i) => (i % 6 === 0 ? 0 : 1));
const result: DepthResult = {
  depth: depthMap({ ...size, values, valid, space: "depth" }),
  unit: "m",
  confidence: Float32Array.from({ length: 35 }, () => random.uniform()),
  error: Float32Array.from({ length: 35 }, () => 0.01 + random.uniform()),
  beyond: Int8Array.from({ length: 35 }, (_, i) => [0, 0, -1, 0, 1][i % 5] as number),
  filled: Uint8Array.from({ length: 35 }, (_, i) => (i % 4 === 1 ? 1 : 0)),
  allInFocus: { ...size, channels: 3, data: Float32Array.from({ length: 105 }, () => random.uniform()) },
  bits: 16,
  planeIndex: Uint8Array.from({ length: 35 }, (_, i) => i % 5),
  probability: { planes: 2, ...size, data: Float32Array.from({ length: 70 }, () => random.uniform()) },
};
const unknown = Float32Array.from(values, (value, i) => (valid[i] ? value : NaN));

async function encode(name: OutputName, from: DepthResult = result): Promise<OutputFile> {
  for await (const file of encodeOutputs(from, [name])) return file;
  throw new Error(`nothing was written as ${name}`);
}

test("the 16-bit PNG gives every value back within half a step, and 0 where nothing is known", async () => {
  const { bytes, encoding, file } = await encode("depth16");
  const png = decode(bytes);
  assert.deepEqual([file, png.depth, png.channels], ["depth16.png", 16, 1]);
  assert.deepEqual({ scale: Number(png.text["scale"]), offset: Number(png.text["offset"]), unit: png.text["unit"], invalid: 0 }, encoding);
  const [scale, offset] = [encoding["scale"] as number, encoding["offset"] as number];
  for (const [i, code] of png.data.entries()) {
    if (!valid[i]) assert.equal(code, 0);
    else assert.ok(Math.abs(code * scale + offset - (values[i] as number)) <= scale / 2 + 1e-9, `pixel ${i}`);
  }
});

test("the scale of the 16-bit PNG is round and uses most of the codes", () => {
  assert.deepEqual(depthCode([0.5, 1.3]), { scale: 2e-5, offset: 0 });
  assert.deepEqual(depthCode([1, 65.535]), { scale: 0.001, offset: 0 });
  const macro = depthCode([0.3, 0.301]); // 1 mm of relief at 30 cm
  assert.equal(macro.scale, 2e-8);
  assert.ok(macro.offset < 0.3 && macro.offset > 0.2999);
  const index = depthCode([0, 6]);
  assert.deepEqual([index.scale, index.offset], [0.0001, -0.0001]);
  for (const range of [
    [0, 6],
    [-3, 2],
    [2, 2],
    [0, 0],
    [1e-6, 9e-6],
    [0.3, 0.301],
    [1e-3, 900],
    [-5, -5],
  ] as const) {
    const { scale, offset } = depthCode(range);
    const codes = range.map((value) => Math.round((value - offset) / scale));
    assert.ok((codes[0] as number) >= 1 && (codes[1] as number) <= 65535, `${range.join("…")}: codes ${codes.join("…")}`);
  }
});

test("our own reader takes scale, offset and unknown pixels from the PNG", async () => {
  const folder = temporaryFolder();
  const flat = { ...result.depth, values: values.map((value) => 0.3 + value / 1000) };
  put(join(folder, "depth16.png"), (await encode("depth16", { ...result, depth: flat })).bytes);
  const read = await readDepth(join(folder, "depth16.png"), "depth");
  assert.deepEqual(read.valid, valid);
  for (const [i, value] of flat.values.entries()) if (valid[i]) assert.ok(Math.abs((read.values[i] as number) - value) < 6e-8);
});

test("where metres are needed, our own reader converts dioptres and refuses plane indices", async () => {
  const folder = temporaryFolder();
  const saved = async (unit: DepthUnit): Promise<string> => {
    const file = join(folder, `${unit}.png`);
    put(
      file,
      (await encode("depth16", { ...result, unit, depth: { ...result.depth, values: values.map((value) => 0.5 + value / 1000) } })).bytes,
    );
    return file;
  };
  const read = await readDepth(await saved("dpt"), "depth");
  assert.deepEqual(read.valid, valid);
  for (const [i, value] of values.entries())
    if (valid[i]) assert.ok(Math.abs((read.values[i] as number) - 1 / (0.5 + value / 1000)) < 1e-5);
  const planes = await saved("index");
  await assert.rejects(readDepth(planes, "depth"), {
    code: "bad-file",
    message: `${planes}: holds plane indices, but depth in metres is needed`,
  });
  assert.equal((await readDepth(planes, "depth", { relative: true })).space, "depth");
  assert.equal((await readDepth(planes, "depth", { scale: 0.001 })).space, "depth");
});

test("TIFF, EXR and NPY hold the very floats, NaN where nothing is known", async () => {
  const tiff = await encode("depth");
  const image = await (await fromArrayBuffer(tiff.bytes.slice().buffer)).getImage();
  assert.deepEqual([image.getWidth(), image.getHeight(), image.getSampleFormat(), image.getBitsPerSample()], [7, 5, 3, 32]);
  const raster = await image.readRasters({ interleave: true });
  assert.deepEqual(Float32Array.from(raster), unknown);
  assert.match(String(await image.fileDirectory.loadValue("ImageDescription")), /unit m; NaN is unknown/);
  const exr = await decodeExr((await encode("exr")).bytes);
  assert.deepEqual(exrChannel(exr, "Z"), unknown);
  assert.deepEqual(exrChannel(exr, "Y"), unknown);
  assert.deepEqual(decodeNpy((await encode("npy")).bytes), { shape: [5, 7], data: unknown });
});

test("the all-in-focus picture has the bits of the input", async () => {
  const wanted = result.allInFocus?.data ?? new Float32Array();
  const deep = decode((await encode("aif")).bytes);
  assert.deepEqual([deep.depth, deep.channels], [16, 3]);
  assert.deepEqual(
    [...deep.data],
    Array.from(wanted, (value) => Math.round(value * 65535)),
  );
  const shallow = decode((await encode("aif", { ...result, bits: 8 })).bytes);
  assert.equal(shallow.depth, 8);
  assert.deepEqual(
    [...shallow.data],
    Array.from(wanted, (value) => Math.round(value * 255)),
  );
});

test("the all-in-focus image as TIFF has the same integers, and a JPEG is what the given encoder makes", async () => {
  const [page] = await decodeTiff((await encode("aifTiff")).bytes);
  assert.deepEqual(
    [...(page?.data ?? [])],
    Array.from(result.allInFocus?.data ?? [], (value) => Math.round(value * 65535)),
  );
  const given: number[] = [];
  const jpeg: EncodeJpeg = ({ data }) => {
    given.push(...data);
    return Promise.resolve(Uint8Array.of(0xff, 0xd8, 0xff, 0xd9));
  };
  const exif = Uint8Array.of(0x49, 0x49, 42, 0);
  for await (const { file, bytes } of encodeOutputs({ ...result, exif }, ["aifJpeg"], { jpeg })) {
    assert.equal(file, "aif.jpg");
    assert.deepEqual([...bytes], [0xff, 0xd8, 0xff, 0xe1, 0, 12, ...Buffer.from("Exif\0\0"), ...exif, 0xff, 0xd9]);
  }
  assert.deepEqual(
    given,
    Array.from(result.allInFocus?.data ?? [], (value) => Math.round(value * 255)),
  );
  assert.ok(!availableOutputs(result).includes("aifJpeg"), "there is no encoder");
});

test("confidence and plane numbers are 0 where nothing is known", async () => {
  const confidence = decode((await encode("confidence")).bytes);
  assert.deepEqual(
    [...confidence.data],
    Array.from(result.confidence ?? [], (value, i) => (valid[i] ? Math.round(value * 65535) : 0)),
  );
  const index = decode((await encode("index")).bytes);
  assert.equal(index.depth, 8);
  assert.deepEqual(
    [...index.data],
    Array.from(valid, (known, i) => (known ? (i % 5) + 1 : 0)),
  );
  const many = decode((await encode("index", { ...result, planeIndex: Uint16Array.from({ length: 35 }, (_, i) => i * 20) })).bytes);
  assert.deepEqual([many.depth, many.data[34]], [16, 681]);
});

test("the expected error is in the unit of the depth, and NaN where nothing is known or nothing can be said", async () => {
  const { bytes, file, encoding } = await encode("error");
  assert.deepEqual([file, encoding], ["error.tif", { unit: "m", invalid: "NaN", within: 0.68 }]);
  const image = await (await fromArrayBuffer(bytes.slice().buffer)).getImage();
  const said = (result.error ?? new Float32Array()).map((value, i) => (valid[i] ? value : NaN));
  assert.deepEqual(Float32Array.from(await image.readRasters({ interleave: true })), said);
  assert.ok(said.some(Number.isNaN) && said.some(Number.isFinite));
});

test("pixels beyond the planes are marked by the end they lie behind, and keep the depth of that end", async () => {
  const { bytes, encoding } = await encode("beyond");
  const marks = decode(bytes);
  assert.deepEqual([marks.depth, marks.channels, encoding], [8, 1, { nearer: 128, farther: 255, neither: 0 }]);
  const expected = Array.from(valid, (known, i) => (known ? ([0, 0, 128, 0, 255][i % 5] as number) : 0));
  assert.deepEqual([...marks.data], expected);
  assert.match(marks.text["meaning"] ?? "", /128 is the first plane or nearer, 255 the last or farther/);
  assert.deepEqual(decodeNpy((await encode("npy")).bytes).data, unknown);
});

test("filled depth is marked, where any depth is known", async () => {
  const { bytes, encoding } = await encode("filled");
  const meaning = "255: more than half of the depth is filled in from its surroundings; 0: half or less; 64: unknown";
  assert.deepEqual(encoding, { filled: 255, measured: 0, unknown: 64, meaning });
  assert.deepEqual(
    [...decode(bytes).data],
    Array.from(valid, (known, i) => (!known ? 64 : i % 4 === 1 ? 255 : 0)),
  );
});

test("a map that is made when it is read is not made for being on offer", async () => {
  const lazy: DepthResult = {
    depth: result.depth,
    unit: "m",
    get error(): Float32Array {
      throw new Error("read");
    },
  };
  assert.ok(availableOutputs(lazy).includes("error"));
  await encode("depth16", lazy);
  await assert.rejects(encode("error", lazy), /read/);
});

test("probability keeps its own size", async () => {
  assert.deepEqual(decodeNpy((await encode("probability")).bytes), { shape: [2, 5, 7], data: result.probability?.data });
});

test("a file is encoded while the one before it is compressed, and files keep their order", { timeout: 10_000 }, async () => {
  const names = ["depth16", "aif", "confidence", "npy"] as const;
  let [calls, release] = [0, (): void => undefined];
  const deflate = async (bytes: Uint8Array): Promise<Uint8Array> => {
    release(); // the compression of the file before ends only now
    if ((calls += 1) < 3) await new Promise<void>((resolve) => (release = resolve));
    return deflateSync(bytes);
  };
  const written: string[] = [];
  for await (const { name, bytes } of encodeOutputs(result, names, { deflate })) {
    written.push(name);
    if (name !== "npy") assert.equal(decode(bytes).width, 7);
  }
  assert.deepEqual([written, calls], [names, 3]);
});

test("every output is written, each named as asked, and another program opens the pictures", async () => {
  const written: string[] = [];
  for await (const { name, file, bytes } of encodeOutputs(result, OUTPUT_NAMES, { jpeg: sharpJpeg })) {
    written.push(name);
    if (!file.endsWith(".png")) continue;
    const { width, format } = await sharp(bytes).metadata();
    assert.deepEqual([width, format], [7, "png"], name);
  }
  assert.deepEqual(written, OUTPUT_NAMES);
});

test("what the result does not hold is not on offer and is refused by name", async () => {
  const bare: DepthResult = { depth: result.depth, unit: "m" };
  assert.deepEqual(availableOutputs(bare), ["depth16", "depth", "exr", "npy", "color", "ply", "glb"]);
  assert.deepEqual(
    DEFAULT_OUTPUTS.filter((name) => !availableOutputs(result).includes(name)),
    [],
  );
  await assert.rejects(encode("aif", bare), /the result has no data for the output aif/);
});

test("nothing known at all still makes files, but no mesh", async () => {
  const blind: DepthResult = { ...result, depth: { ...result.depth, valid: new Uint8Array(35) } };
  const written: string[] = [];
  for await (const { name } of encodeOutputs(blind, OUTPUT_NAMES, { jpeg: sharpJpeg })) written.push(name);
  assert.deepEqual(
    written,
    OUTPUT_NAMES.filter((name) => name !== "glb"),
  );
  assert.deepEqual([validRange(blind.depth), validFraction(blind.depth)], [[0, 0], 0]);
  assertClose([validFraction(result.depth)], [29 / 35], 1e-9);
});

test("result.json is one JSON document, without NaN", () => {
  const summary = {
    ...{ model: "small", device: "cpu", planes: 2, width: 7, height: 5, unit: "m" as const },
    distances: [{ file: "a.jpg", value: 0.5, unit: "m" as const, source: "EXIF" as const }],
    ...{ range: [0.5, NaN] as const, validFraction: 1, files: { depth: "depth.tif" }, seconds: { total: 1 } },
  };
  const read = JSON.parse(new TextDecoder().decode(encodeResultJson(summary))) as unknown;
  assert.deepEqual(read, { ...summary, range: [0.5, null] });
});
