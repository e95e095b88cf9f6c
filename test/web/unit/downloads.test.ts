import assert from "node:assert/strict";
import { test } from "node:test";
import { strFromU8, strToU8, unzipSync } from "fflate";

import { decodeNpy } from "../../../src/io/npy.ts";
import { decodePng } from "../../../src/io/png.ts";
import { OUTPUT_FILES } from "../../../src/output/outputs.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { encodeOne, writeArchive, type ArchiveInput } from "../../../web/src/downloads/archive.ts";
import { downloads } from "../../../web/src/downloads/downloads.ts";
import type { ViewResult } from "../../../web/src/contract.ts";
import { FIRST_LOOK } from "../../../web/src/state/look.ts";

/** Node has no canvas to encode JPEG with. */
const WITHOUT_CANVAS = Object.fromEntries(Object.entries(OUTPUT_FILES).filter(([name]) => name !== "aifJpeg"));

const [width, height] = [4, 3];
const pixels = width * height;
const result: DepthResult = {
  depth: {
    width,
    height,
    values: Float32Array.from({ length: pixels }, (_, i) => 1 + i / 100),
    valid: new Uint8Array(pixels).fill(1),
    space: "depth",
  },
  unit: "m",
  confidence: new Float32Array(pixels).fill(0.5),
  error: new Float32Array(pixels).fill(0.01),
  beyond: new Int8Array(pixels),
  filled: new Uint8Array(pixels),
  allInFocus: { width, height, channels: 3, data: new Float32Array(3 * pixels).fill(0.25) },
  planeIndex: new Uint8Array(pixels),
  probability: { planes: 2, width, height, data: new Float32Array(2 * pixels).fill(0.5) },
};
const summary = {
  model: "small",
  device: "wasm",
  planes: 2,
  width,
  height,
  unit: "m",
  distances: [],
  range: [1, 1.11],
  validFraction: 1,
  seconds: { total: 1 },
} as const satisfies ViewResult["summary"];

async function archive(input: ArchiveInput): Promise<{ files: Record<string, Uint8Array>; shares: number[] }> {
  const [chunks, shares]: [Uint8Array[], number[]] = [[], []];
  await writeArchive(input, { onChunk: (bytes) => chunks.push(bytes), onProgress: (share) => shares.push(share) });
  return { files: unzipSync(Buffer.concat(chunks)), shares };
}

test("the zip holds every output, the page, the alignment, and a result.json that names them all", async () => {
  const { files, shares } = await archive({ result, summary, alignmentJson: "{}", page: strToU8("<!doctype html>") });
  const others = ["alignment.json", "result.html", "result.json"];
  assert.deepEqual(Object.keys(files).sort(), [...Object.values(WITHOUT_CANVAS), ...others].sort());
  assert.equal(strFromU8(files["result.html"] as Uint8Array), "<!doctype html>");
  assert.equal(shares.at(-1), 1);
  const document = JSON.parse(strFromU8(files["result.json"] as Uint8Array)) as Record<string, Record<string, unknown>>;
  assert.deepEqual(document["files"], { ...WITHOUT_CANVAS, html: "result.html", alignment: "alignment.json" });
  assert.deepEqual(document["encoding"]?.["npy"], { unit: "m", invalid: "NaN" });
  assert.equal(document["range"]?.[1], 1.11);
});

test("files in the zip are those the library writes, packed or not", async () => {
  const { files } = await archive({ result, summary });
  for (const name of ["npy", "aif"] as const) assert.deepEqual(files[OUTPUT_FILES[name]], new Uint8Array(await encodeOne(result, name)));
  assert.deepEqual(decodeNpy(files["depth.npy"] as Uint8Array).data, result.depth.values);
  assert.equal(decodePng(files["aif.png"] as Uint8Array).width, width);
});

test("what a result has no data for is left out", async () => {
  const bare: DepthResult = { depth: result.depth, unit: "index" };
  const { files } = await archive({ result: bare, summary });
  const absent = ["aif", "confidence", "error", "beyond", "filled", "index", "probability"] as const;
  for (const name of absent) assert.ok(!(OUTPUT_FILES[name] in files), name);
  assert.ok("depth.npy" in files && "mesh.glb" in files && !("alignment.json" in files) && !("result.html" in files));
});

test("a surface without a triangle is missing from the zip, and asked for alone it is an error", async () => {
  const unknown = { ...result, depth: { ...result.depth, valid: new Uint8Array(pixels) } };
  const { files } = await archive({ result: unknown, summary });
  assert.ok(!("mesh.glb" in files) && "result.json" in files);
  await assert.rejects(encodeOne(unknown, "glb"), /mesh\.glb: no three neighbouring pixels/);
});

test("every output has a line for people, and the two JSON files need no worker", async () => {
  const view = { result, summary, alignmentJson: '{"a":1}' } as unknown as ViewResult;
  const list = downloads(view, FIRST_LOOK);
  assert.deepEqual(
    list.map(({ name }) => name),
    ["page", ...Object.keys(WITHOUT_CANVAS), "alignment", "result"],
  );
  assert.equal(new Set(list.map(({ label }) => label)).size, list.length);
  const texts = await Promise.all(list.slice(-2).map(async (each) => (await each.make()).text()));
  assert.equal(texts[0], '{"a":1}');
  assert.equal((JSON.parse(String(texts[1])) as { model: string }).model, "small");
});
