import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openNyu } from "../../src/data/nyu.ts";
import { assertClose } from "../helpers/close.ts";
import { mat5, writeMat73 } from "../io/hdf5Files.ts";
import { put, putDepthMm, putPicture, temporaryFolder } from "./files.ts";

const root = temporaryFolder();
const size = { width: 40, height: 30 };
const millimetres = (x: number, y: number): number => (x === 20 && y === 15 ? 0 : 1000 + 50 * x + 10 * y);

/** The official file in small: `images` [n, 3, width, height] and `depths` [n, width, height], as HDF5 sees MATLAB's arrays. */
async function officialFolder(name: string): Promise<string> {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  const { width, height } = size;
  const [images, depths] = [new Uint8Array(3 * 3 * width * height), new Float32Array(3 * width * height)];
  for (let n = 0; n < 3; n++)
    for (let x = 0; x < width; x++)
      for (let y = 0; y < height; y++) {
        depths[(n * width + x) * height + y] = n + millimetres(x, y) / 1000;
        for (let c = 0; c < 3; c++) images[((n * 3 + c) * width + x) * height + y] = 10 * n + 40 * c + 2 * x + y;
      }
  await writeMat73(join(folder, "nyu_depth_v2_labeled.mat"), {
    images: { shape: [3, 3, width, height], data: images },
    depths: { shape: [3, width, height], data: depths },
  });
  return folder;
}

test("the official file yields the pictures and metres of the chosen split, upright", async () => {
  const folder = await officialFolder("official");
  put(join(folder, "splits.mat"), mat5({ trainNdxs: [1, 3], testNdxs: [2] }));
  const train = await openNyu(folder, { split: "train", crop: "none", planes: 3 });
  assert.deepEqual([train.size, train.split], [2, "train"]);
  const { name, stack, trueDepth, camera } = await train.sample(1);
  assert.deepEqual([name, trueDepth.width, trueDepth.height, stack.images.length], ["0003", 40, 30, 3]);
  assertClose([trueDepth.values[7 * 40 + 5] as number], [2 + millimetres(5, 7) / 1000], 1e-6);
  assert.deepEqual(camera, { focalLength: 0.05, fNumber: 8, pixelPitch: 12e-6 });
  const farthest = stack.images[2]?.data ?? new Float32Array(0); // so far away that pixel (30, 5) is still sharp
  const pixel = farthest.subarray((5 * 40 + 30) * 3, (5 * 40 + 30) * 3 + 3);
  assertClose(
    pixel,
    Float32Array.of(85, 125, 165).map((value) => value / 255),
    1e-6,
  );
  train.close();
  await writeMat73(join(folder, "splits.mat"), { trainNdxs: { shape: [2], data: Float64Array.of(1, 3) }, testNdxs: { shape: [1], data: Float64Array.of(2) } }); // prettier-ignore
  const test = await openNyu(folder);
  assert.deepEqual([test.size, test.split, (await test.sample(0)).name], [1, "test", "0002"]);
  test.close();
});

test("without splits.mat the split is refused by name, the whole set still reads", async () => {
  const folder = await officialFolder("unsplit");
  await assert.rejects(openNyu(folder), /splits\.mat .*missing.*\n.*one of/);
  const all = await openNyu(folder, { split: "all" });
  assert.equal(all.size, 3);
  all.close();
});

test("the protocol: planes from least to greatest valid depth, middle 4/5, holes invalid", async () => {
  const folder = join(root, "plain");
  for (const name of ["00002", "00010"]) {
    await putPicture(join(folder, "rgb", `${name}.jpg`), size, (x, y, c) => 40 + 3 * x + y + 10 * c);
    putDepthMm(join(folder, "depth_mm", `${name}.png`), size, millimetres);
  }
  const dataset = await openNyu(folder, { planes: 5 });
  assert.deepEqual([dataset.size, dataset.split], [2, "all"]);
  const { name, stack, trueDepth } = await dataset.sample(0);
  assert.deepEqual([name, trueDepth.width, trueDepth.height], ["00002", 32, 24]);
  const [near, far] = [millimetres(4, 3) / 1000, millimetres(35, 26) / 1000]; // corners of the crop
  assertClose(
    stack.focusDistances,
    [0, 1, 2, 3, 4].map((n) => near + ((far - near) * n) / 4),
    1e-6,
  );
  assert.equal(trueDepth.valid[(15 - 3) * 32 + (20 - 4)], 0);
  assert.equal(
    trueDepth.valid.reduce((sum, v) => sum + v, 0),
    32 * 24 - 1,
  );
  await assert.rejects(openNyu(folder, { split: "test" }), /no test split.*"all"/);
  await assert.rejects(openNyu(folder, { split: "val" }), /no image of the hold-out/);
  await assert.rejects(dataset.sample(2), /there is no sample 2; the set has 2/);
});

test("where a plain folder holds the hold-out, that is what is measured on unless asked otherwise", async () => {
  const folder = join(root, "training");
  for (const name of ["00002", "00018", "00091"]) {
    await putPicture(join(folder, "rgb", `${name}.jpg`), size);
    putDepthMm(join(folder, "depth_mm", `${name}.png`), size, millimetres);
  }
  const [held, all] = [await openNyu(folder), await openNyu(folder, { split: "all" })];
  assert.deepEqual([held.split, held.size, (await held.sample(0)).name], ["val", 2, "00018"]);
  assert.deepEqual([all.split, all.size], ["all", 3]);
});

test("BTS folders read with and without a list", async () => {
  const folder = join(root, "bts");
  for (const scene of ["kitchen", "office"])
    for (const number of ["00001", "00002"]) {
      await putPicture(join(folder, "test", scene, `rgb_${number}.jpg`), size);
      putDepthMm(join(folder, "test", scene, `sync_depth_${number}.png`), size, millimetres);
    }
  assert.equal((await openNyu(folder)).size, 4);
  put(join(folder, "nyu_test.txt"), "kitchen/rgb_00002.jpg kitchen/sync_depth_00002.png 518.8579\n\noffice/rgb_00001.jpg None 518.8579\n");
  const listed = await openNyu(folder, { split: "test" });
  assert.deepEqual([listed.size, (await listed.sample(0)).name], [1, "rgb_00002"]);
  await assert.rejects(openNyu(folder, { split: "train" }), /data in one of the three layouts is missing/);
});

test("a picture without its depth, or an empty folder, is named", async () => {
  const folder = join(root, "partial");
  await putPicture(join(folder, "rgb", "1.jpg"), size);
  await assert.rejects(openNyu(folder), /depth_mm\/1\.png is missing/);
  mkdirSync(join(root, "empty"), { recursive: true });
  await assert.rejects(openNyu(join(root, "empty")), /nyu_depth_v2_labeled\.mat/);
  await assert.rejects(openNyu(join(root, "nowhere")), /nowhere is missing/);
});
