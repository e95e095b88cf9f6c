import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { planesInWords, takePlanes, type DatasetOptions } from "../../src/data/dataset.ts";
import { openDataset } from "../../src/data/open.ts";
import { put, putNpy, putPicture, temporaryFolder } from "./files.ts";

const root = temporaryFolder();
const size = { width: 16, height: 16 };

/** A stack folder whose planes are 1, 2, 3 … apart from the farthest: not evenly spread. */
async function putStack(folder: string, { planes, unit }: { planes: number; unit: "m" | "disparity" }): Promise<void> {
  const focus = Array.from({ length: planes }, (_, n) => 1 + n + (n === planes - 1 ? 5 : 0));
  put(join(folder, "stack.json"), JSON.stringify({ unit, focus }));
  for (const n of focus.keys()) await putPicture(join(folder, `plane_${n}.png`), size);
  putNpy(join(folder, unit === "m" ? "depth.npy" : "disparity.npy"), size, () => 1);
}

/** What the set says of its planes. */
const told = async (name: string, options: DatasetOptions = {}): Promise<string> => {
  const { protocol } = await openDataset(name, join(root, name), options);
  return protocol.split(";")[0] as string;
};

test("planes are named as they are taken, for each length of stack; too few are refused with the stack's name", () => {
  assert.deepEqual(takePlanes("a", { available: 10, planes: 5 }), [0, 2, 4, 6, 9]);
  assert.deepEqual(takePlanes("a", { available: 3, planes: undefined }), [0, 1, 2]);
  assert.throws(() => takePlanes("sets/a", { available: 3, planes: 4 }), {
    name: "DatasetError",
    message: "sets/a: has 3 planes, fewer than the 4 asked for",
  });
  assert.equal(planesInWords([10, 10], 5), "planes 0 2 4 6 9 of 10");
  assert.equal(planesInWords([10, 5, 10], 3), "planes 0 2 4 of 5 or 0 4 9 of 10");
  assert.equal(planesInWords([10, 5], undefined), "all 5 or 10 planes");
});

test("folder and hci name the planes of stack.json, which nobody promised to be even", async () => {
  for (const name of ["folder", "hci"] as const) {
    await putStack(join(root, name, "a"), { planes: 10, unit: name === "hci" ? "disparity" : "m" });
    assert.equal(await told(name, { planes: 5 }), "planes 0 2 4 6 9 of 10, near to far, by stack.json");
    assert.equal(await told(name), "all 10 planes, near to far, by stack.json");
    await assert.rejects(told(name, { planes: 11 }), /\/a: has 10 planes, fewer than the 11 asked for/);
  }
  const { stack } = await (await openDataset("folder", join(root, "folder"), { planes: 3 })).sample(0);
  assert.deepEqual(stack.focusDistances, [1, 5, 15]); // 0 4 9
  await putPicture(join(root, "hci", "b", "input_Cam000.png"), size);
  assert.match(await told("hci", { planes: 3 }), /^planes 0 4 9 of 10, .*, and light fields refocused at 3 disparities evenly/);
});

test("fod500 names the distances that are used, and no others", async () => {
  for (const n of [1, 2, 3, 4, 5]) put(join(root, "fod500", `000400_0${n}All.tif`), "");
  put(join(root, "fod500", "000400_Dpt.exr"), "");
  assert.equal(await told("fod500", { planes: 3 }), "planes 0 2 4 of 5, focus 0.1, 0.3, 1.5 m");
  assert.equal(await told("fod500", { depthScale: 0.2 }), "all 5 planes, focus 0.1, 0.15, 0.3, 0.7, 1.5 m × 0.2");
  await assert.rejects(told("fod500", { planes: 6 }), /fod500: has 5 planes, fewer than the 6/);
});

test("infinigen names the planes taken of those rendered, and their distances where all scenes share them", async () => {
  const render = (scene: string, distances: readonly string[]): void => {
    for (const distance of distances) put(join(root, "infinigen", scene, `image_ap_1.40_fd_${distance}.png`), "");
    putNpy(join(root, "infinigen", scene, "depth.npy"), size, () => 1);
  };
  render("a", ["0.80", "1.70", "3.00", "4.70", "8.00", "2.30"]);
  assert.equal(await told("infinigen"), "F1.4, focus 0.8, 1.7, 3, 4.7, 8 m");
  assert.equal(await told("infinigen", { planes: 3 }), "F1.4, planes 0 2 5 of 6, focus 0.8, 2.3, 8 m");
  render("b", ["0.90", "1.70", "3.00", "4.70", "8.00"]);
  assert.equal(await told("infinigen", { planes: 3 }), "F1.4, planes 0 2 4 of 5 or 0 2 5 of 6");
  await assert.rejects(told("infinigen", { planes: 6 }), /infinigen\/b: has 5 planes, fewer than the 6/);
});

test("zedd names its runs", async () => {
  put(join(root, "zedd", "metadata.txt"), [1, 2, 3, 4, 5].map((run) => `run_${run}\tAB\t${run}\n`).join(""));
  put(join(root, "zedd", "val", "val_1", "focus_stack", "x"), "");
  assert.equal(await told("zedd", { planes: 3 }), "F2.8, runs 1 3 5 of 5");
  await assert.rejects(told("zedd", { planes: 6 }), /metadata\.txt: has 5 planes, fewer than the 6/);
});
