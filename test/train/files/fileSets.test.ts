import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { DatasetError } from "../../../src/data/dataset.ts";
import { ConfigError, type TrainConfig } from "../../../src/train/config.ts";
import { findSets, fitBatch } from "../../../src/train/files/fileSets.ts";
import { presets } from "../../../src/train/presets.ts";
import { put, putNpy, putPicture, temporaryFolder } from "../../data/files.ts";
import { writeHdf5 } from "../../io/hdf5Files.ts";

const root = temporaryFolder();

async function putStacks(name: string, count: number, { planes = 3, width = 40, height = 36 } = {}): Promise<string> {
  for (let i = 0; i < count; i++) {
    const folder = join(root, name, `s${i}`);
    put(join(folder, "stack.json"), JSON.stringify({ unit: "m", focus: Array.from({ length: planes }, (_, n) => n + 1) }));
    for (let n = 0; n < planes; n++) await putPicture(join(folder, `plane_${n}.png`), { width, height });
    putNpy(join(folder, "depth.npy"), { width, height }, () => 1.5);
  }
  return join(root, name);
}

const names = (sources: readonly { readonly dir: string }[]): string[] => sources.map(({ dir }) => basename(dir));
const configWith = (batch: Partial<TrainConfig["batch"]>): TrainConfig => ({
  ...presets.nyu,
  data: { ...presets.nyu.data, kind: "folder" },
  batch: { size: 2, planes: [3], crop: 32, ...batch },
});

test("of a plain folder every tenth stack is held out, and the last of fewer than ten", async () => {
  const many = await findSets("folder", await putStacks("many", 21));
  assert.deepEqual(names(many.validation), ["s9", "s19"]);
  assert.equal(many.stacks.train, 19);
  assert.ok(!names(many.train).some((name) => ["s9", "s19"].includes(name)));
  const two = await findSets("folder", await putStacks("two", 2));
  assert.deepEqual([names(two.train), names(two.validation)], [["s0"], ["s1"]]);
});

test("one stack alone is trained and validated on", async () => {
  const whole = await putStacks("one", 1);
  for (const dir of [whole, join(whole, "s0")]) {
    const one = await findSets("folder", dir);
    assert.deepEqual([names(one.train), names(one.validation)], [["s0"], ["s0"]]);
  }
});

test("a crop that does not fit names the stack and its size", async () => {
  const dir = await putStacks("mixed", 2);
  for (const n of [0, 1, 2]) await putPicture(join(dir, "s1", `plane_${n}.png`), { width: 40, height: 20 });
  const sets = await findSets("folder", dir);
  const fit = (): unknown => fitBatch(configWith({}), sets, () => undefined);
  assert.throws(
    fit,
    (error) => error instanceof ConfigError && /batch\.crop \(32\) is larger than s1 of the folder data, 40×20/.test(error.message),
  );
});

test("planes that a stack lacks are left out aloud, and refused when none are left", async () => {
  const sets = await findSets("folder", await putStacks("three", 2));
  const lines: string[] = [];
  const fitted = fitBatch(configWith({ planes: [5, 3, 2] }), sets, (line) => lines.push(line));
  assert.deepEqual(fitted.planes, [3, 2]);
  assert.deepEqual(lines, ["batch.planes has 5, but s0 of the folder data has 3 planes: training with 3, 2"]);
  assert.throws(() => fitBatch(configWith({ planes: [5] }), sets, () => undefined), /^ConfigError: batch\.planes has 5, but s0/);
  assert.equal(fitBatch(configWith({ planes: [3] }), sets, (line) => lines.push(line)).planes[0], 3);
  assert.equal(lines.length, 1);
});

test("a published set without stacks, or without those to validate on, is refused at once", async () => {
  const folder = join(root, "empty");
  mkdirSync(folder);
  const some = { shape: [1, 10, 32, 32, 3], data: new Uint8Array(10 * 32 * 32 * 3) };
  const truth = { shape: [1, 32, 32], data: new Float32Array(32 * 32) };
  await writeHdf5(join(folder, "no_train.h5"), {
    stack_train: { shape: [0, 10, 32, 32, 3], data: new Uint8Array(0) },
    disp_train: { shape: [0, 32, 32], data: new Float32Array(0) },
    stack_val: some,
    disp_val: truth,
  });
  await assert.rejects(
    findSets("ddff12", join(folder, "no_train.h5")),
    (error) => error instanceof DatasetError && /ddff12 has no stacks in its split "train"/.test(error.message),
  );
  await writeHdf5(join(folder, "no_val.h5"), { stack_train: some, disp_train: truth });
  await assert.rejects(findSets("ddff12", join(folder, "no_val.h5")), /dataset "stack_val" .* is missing/);
  await assert.rejects(findSets("folder", folder), /stack\.json is missing/);
});
