import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { augment } from "../../../src/train/files/augment.ts";
import { batchesOf, openBatches } from "../../../src/train/files/batches.ts";
import { collate } from "../../../src/train/files/collate.ts";
import { listDataset } from "../../../src/data/dataset.ts";
import type { Dataset } from "../../../src/data/dataset.ts";
import { createRandom } from "../../../src/random.ts";
import { put, putNpy, putPicture, randomSample, temporaryFolder } from "../../data/files.ts";

const about = { name: "memory", split: "all", protocol: "", licence: "" } as const;
const memory = (size: number, prefix = "s"): Dataset =>
  listDataset(
    about,
    Array.from({ length: size }, (_, i) => i),
    (i) => Promise.resolve(randomSample({ seed: i, name: `${prefix}${i}` })),
  );

test("collated values sit where [B, N, 3, H, W] says, grey repeated, invalid depth zero", () => {
  const [a, b] = [randomSample({ seed: 1 }), randomSample({ seed: 2 })];
  const batch = collate([a, b]);
  assert.deepEqual([batch.batch, batch.planes, batch.height, batch.width], [2, 4, 10, 12]);
  const [n, c, y, x] = [2, 1, 7, 5];
  assert.equal(batch.images[(((1 * 4 + n) * 3 + c) * 10 + y) * 12 + x], b.stack.images[n]?.data[(y * 12 + x) * 3 + c]);
  assert.deepEqual([...batch.focusDistances], [1, 2, 3, 4, 1, 2, 3, 4]);
  for (let i = 0; i < 120; i++) {
    assert.equal(batch.valid[120 + i], b.trueDepth.valid[i]);
    assert.equal(batch.trueDepth[120 + i], b.trueDepth.valid[i] ? b.trueDepth.values[i] : 0);
  }
  const image = { width: 1, height: 1, channels: 1 as const, data: Float32Array.of(0.25) };
  const depth = { width: 1, height: 1, values: Float32Array.of(1), valid: Uint8Array.of(1), space: "depth" as const };
  const grey = collate([{ name: "g", stack: { images: [image], focusDistances: [1], space: "depth" }, trueDepth: depth }]);
  assert.deepEqual([...grey.images], [0.25, 0.25, 0.25]);
});

test("samples that do not match are named", () => {
  const other = randomSample({ width: 9, name: "other" });
  assert.throws(() => collate([randomSample(), other]), /other has 4 planes of 9×10, random has 4 of 12×10/);
  assert.throws(() => collate([randomSample(), randomSample({ planes: 3 })]), /3 planes/);
});

test("one pass holds every sample once, in an order of its own for each pass", async () => {
  const batches = batchesOf([memory(4), memory(2, "t")], { batchSize: 2, seed: 9 });
  assert.equal(batches.stepsPerEpoch, 3);
  const pass = async (first: number): Promise<string[]> =>
    (await Promise.all([0, 1, 2].map((i) => batches.batch(first + i)))).flatMap(({ names }) => names);
  const [one, two] = [await pass(0), await pass(3)];
  assert.deepEqual([...one].sort(), ["s0", "s1", "s2", "s3", "t0", "t1"]);
  assert.deepEqual([...two].sort(), [...one].sort());
  assert.notDeepEqual(one, two);
});

test("the same step gives the same batch to a new reader; another seed another one", async () => {
  const options = { batchSize: 3, seed: 5, planes: [2, 4] as const, augment: { crop: 6, flip: true, noise: 0.01 } };
  const first = batchesOf([memory(7)], options);
  for (let step = 0; step < 5; step++) await first.batch(step);
  assert.deepEqual(await batchesOf([memory(7)], options).batch(4), await first.batch(4));
  assert.notDeepEqual(await batchesOf([memory(7)], { ...options, seed: 6 }).batch(4), await first.batch(4));
});

test("cropping while reading gives what augmenting the whole sample gives", async () => {
  const dataset = memory(5);
  const chosen = { crop: 6, validShare: 0.95, flip: true, planes: 3, exposure: 0.1 };
  const batch = await batchesOf([dataset], { batchSize: 1, seed: 8, shuffle: false, augment: chosen }).batch(3);
  const whole = augment(await dataset.sample(3), chosen, createRandom(8).split("sample 3"));
  assert.deepEqual(batch, collate([whole]));
});

test("each batch draws its own number of planes from the range", async () => {
  const batches = batchesOf([memory(3)], { batchSize: 2, seed: 1, planes: [2, 4] });
  const seen = new Set<number>();
  for (let step = 0; step < 30; step++) seen.add((await batches.batch(step)).planes);
  assert.deepEqual([...seen].sort(), [2, 3, 4]);
});

test("ranks share one stream without overlap and with the same plane count", async () => {
  const shard = (rank: number, worldSize: number) =>
    batchesOf([memory(8)], { batchSize: 4 / worldSize, seed: 2, planes: [2, 4], shard: { rank, worldSize } });
  const whole = await shard(0, 1).batch(1);
  const halves = [await shard(0, 2).batch(1), await shard(1, 2).batch(1)];
  assert.deepEqual(
    halves.flatMap(({ names }) => names),
    whole.names,
  );
  assert.ok(halves.every(({ planes }) => planes === whole.planes));
});

test("without shuffling the order is that of the set; any batch size fits", async () => {
  const batches = batchesOf([memory(3)], { batchSize: 5, seed: 0, shuffle: false });
  assert.deepEqual((await batches.batch(0)).names, ["s0", "s1", "s2", "s0", "s1"]);
  assert.throws(() => batchesOf([memory(3)], { batchSize: 0, seed: 0 }), /batch size must be at least 1, got 0/);
  assert.throws(() => batchesOf([], { batchSize: 1, seed: 0 }), /the set is empty/);
});

test("worker threads give the very batches this thread makes, and report a broken file by name", async () => {
  const root = temporaryFolder();
  const size = { width: 16, height: 20 };
  for (const name of ["a", "b", "c"]) {
    put(join(root, name, "stack.json"), JSON.stringify({ unit: "m", focus: [1, 2, 3] }));
    for (const n of [1, 2, 3]) await putPicture(join(root, name, `plane_${n}.png`), size, (x, y) => (37 * x * n + 11 * y) % 256);
    putNpy(join(root, name, "depth.npy"), size, (x) => 1 + x / 8);
  }
  const sources = [{ name: "folder", dir: root }];
  const options = { batchSize: 2, seed: 11, planes: 2, augment: { crop: 8, flip: true, noise: 0.02 } };
  const here = await openBatches(sources, options);
  const threads = await openBatches(sources, { ...options, workers: 2 });
  for (let step = 0; step < 4; step++) assert.deepEqual(await threads.batch(step), await here.batch(step));
  assert.deepEqual(await threads.batch(1), await here.batch(1));
  const whole = readFileSync(join(root, "b", "plane_2.png"));
  put(join(root, "b", "plane_2.png"), whole.subarray(0, whole.length / 2)); // the header, which opening reads, is intact
  const broken = await openBatches(sources, { ...options, batchSize: 3, workers: 1 });
  await assert.rejects(broken.batch(0), /b\/plane_2\.png: not a readable picture/);
  await Promise.all([threads.close(), broken.close(), here.close()]);
});
