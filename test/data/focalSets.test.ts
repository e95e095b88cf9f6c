import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openDataset } from "../../src/data/open.ts";
import { encodeExr } from "../../src/io/exr.ts";
import { encodeTiff } from "../../src/io/tiff.ts";
import { openStack } from "../../src/stack/node/openStack.ts";
import { readStack } from "../../src/stack/stackSource.ts";
import { assertClose } from "../helpers/close.ts";
import { writeHdf5 } from "../io/hdf5Files.ts";
import { encodePfm, put, putDepthMm, putNpy, putPicture, temporaryFolder } from "./files.ts";

const root = temporaryFolder();
const size = { width: 20, height: 16 };
const levels = (images: readonly { data: Float32Array }[]): number[] => images.map(({ data }) => Math.round((data[0] ?? 0) * 255));

test("FoD500: five tifs and a half-float EXR per scene, split at 400, DFV's scale on request", async () => {
  const folder = join(root, "fod500");
  for (const id of ["000399", "000400"]) {
    for (const n of [1, 2, 3, 4, 5]) await putPicture(join(folder, `${id}_0${n}All.tif`), size, () => 10 * n);
    const depth = Float32Array.from({ length: 320 }, (_, i) => (i === 0 ? 0 : 0.1 + i / 40));
    put(join(folder, `${id}_Dpt.exr`), await encodeExr({ ...size, channels: { B: depth, G: depth, R: depth } }, { precision: "f16" }));
  }
  const test = await openDataset("FoD500", folder);
  assert.deepEqual([test.name, test.split, test.size], ["fod500", "test", 1]);
  const { name, stack, trueDepth } = await test.sample(0);
  assert.deepEqual([name, stack.focusDistances, levels(stack.images)], ["000400", [0.1, 0.15, 0.3, 0.7, 1.5], [10, 20, 30, 40, 50]]);
  assert.deepEqual([trueDepth.valid[0], trueDepth.valid[1]], [0, 1]);
  assertClose([trueDepth.values[20] as number], [0.6], 1e-3);
  const train = await openDataset("fod500", folder, { split: "train", depthScale: 0.2, planes: 3 });
  const scaled = await train.sample(0);
  assertClose(scaled.stack.focusDistances, [0.02, 0.06, 0.3], 1e-6);
  assertClose([scaled.trueDepth.values[20] as number], [0.12], 1e-3);
  put(join(folder, "000401_Dpt.exr"), "");
  await assert.rejects(openDataset("fod500", folder), /000401_\*All\.tif \(found 0 of 5\) is missing/);
});

test("DDFF 12-Scene: slices of the HDF5 file, disparity near to far, DFV's plane choice and padding", async () => {
  const folder = join(root, "ddff12");
  mkdirSync(folder);
  const [height, width] = [35, 41];
  const stack = Float32Array.from({ length: 2 * 10 * height * width * 3 }, (_, i) => Math.floor(i / (height * width * 3)) + (i % 41));
  const truth = Float32Array.from({ length: 2 * height * width }, (_, i) => (i % 7 === 0 ? 0 : 0.1));
  const shape = [2, 10, height, width, 3];
  await writeHdf5(join(folder, "my_ddff_trainVal.h5"), {
    stack_train: { shape, data: stack },
    disp_train: { shape: [2, height, width], data: truth },
    stack_val: { shape, data: Uint8Array.from(stack) },
    disp_val: { shape: [2, height, width], data: truth },
  });
  const val = await openDataset("ddff12", folder, { planes: 5 });
  assert.deepEqual([val.split, val.size], ["val", 2]);
  const sample = await val.sample(1);
  assert.equal(sample.stack.space, "disparity");
  assert.deepEqual(levels(sample.stack.images), [10, 12, 14, 16, 19]); // 0 2 4 6 9 of the second stack
  assertClose(sample.stack.focusDistances, [0.28, 0.222222, 0.164444, 0.106667, 0.02], 1e-5);
  assert.deepEqual([sample.trueDepth.valid[0], sample.trueDepth.valid[1]], [0, 1]);
  val.close();
  const padded = await openDataset("ddff12", folder, { split: "train", pad: true });
  const { trueDepth, stack: whole } = await padded.sample(0);
  assert.deepEqual([trueDepth.width, trueDepth.height, whole.images.length], [64, 64, 10]);
  assert.equal(trueDepth.valid[3 * 64 + 50], 0);
  padded.close();
  await writeHdf5(join(folder, "other.h5"), { stack_val: { shape, data: stack } });
  await assert.rejects(openDataset("ddff12", join(folder, "other.h5")), /dataset "disp_val" in .*other\.h5 is missing/);
  await assert.rejects(openDataset("ddff12", root), /ddff-dataset-trainval\.h5 is missing/);
});

test("ARKitScenes: wide and highres depth resized to 480×640, folds, HybridDepth's lists", async () => {
  const folder = join(root, "arkit");
  const video = join(folder, "Validation", "41069021");
  for (const frame of ["a", "b"]) {
    await putPicture(join(video, "wide", `${frame}.png`), { width: 64, height: 48 }, (x) => 4 * x);
    putDepthMm(join(video, "highres_depth", `${frame}.png`), { width: 64, height: 48 }, (x) => 1000 + 10 * x);
  }
  const scanned = await openDataset("ARKit", folder);
  assert.deepEqual([scanned.size, scanned.split], [2, "val"]);
  const { stack, trueDepth, camera } = await scanned.sample(0);
  assert.deepEqual([trueDepth.width, trueDepth.height, stack.images.length, camera?.fNumber], [640, 480, 5, 0.5]);
  assertClose([stack.focusDistances[0] as number, stack.focusDistances[4] as number], [1, 1.63], 1e-5);
  put(join(folder, "Validation.txt"), "41069021/lowres_wide/b.png\n");
  const listed = await openDataset("arkit", folder);
  assert.deepEqual([listed.size, (await listed.sample(0)).name], [1, "b"]);
  await assert.rejects(openDataset("arkit", folder, { split: "train" }), /Training is missing/);
});

test("ZEDD: F2.8, every other run by metadata.txt, fitted to 480×640; the test split has no truth", async () => {
  const folder = join(root, "zedd");
  const runs = Array.from({ length: 9 }, (_, i) => ({ run: i + 1, motor: `6D${i}E`, metres: 0.5 + i }));
  put(
    join(folder, "metadata.txt"),
    `# run\tmotor\tdistance\n${runs.map(({ run, motor, metres }) => `run_${run}\t${motor}\t${metres}`).join("\n")}\n`,
  );
  const photo = { width: 1000, height: 500 };
  const putScene = async (scene: string, frame: { width: number; height: number }): Promise<void> => {
    for (const { run, motor } of runs.filter((each) => each.run % 2 === 1))
      await putPicture(join(folder, scene, "focus_stack", `img_run_${run}_motor_${motor}_aperture_F2.8.jpg`), frame, () => 20 * run);
  };
  await putScene("val/val_0001", photo);
  await putScene("test/test_0001", { width: 32, height: 1216 });
  putNpy(join(folder, "val", "val_0001", "gt", "depth.npy"), photo, (x) => (x < 500 ? 0 : 1 + x / 1000));
  const { name, stack, trueDepth } = await (await openDataset("zedd", folder)).sample(0);
  assert.deepEqual([name, stack.focusDistances], ["val_0001", [0.5, 2.5, 4.5, 6.5, 8.5]]);
  assert.deepEqual([trueDepth.width, trueDepth.height, stack.images[0]?.width, stack.images[0]?.height], [640, 480, 640, 480]);
  assertClose(levels(stack.images), [20, 60, 100, 140, 180], 0.01);
  assert.deepEqual([trueDepth.valid[319], trueDepth.valid[320]], [0, 1]); // the middle of the photo is the middle of the frame
  assertClose([trueDepth.values[639] as number], [1 + 833 / 1000], 2e-3);
  const blind = await (await openDataset("zedd", folder, { split: "test" })).sample(0);
  assert.equal(
    blind.trueDepth.valid.reduce((sum, v) => sum + v, 0),
    0,
  );
  await assert.rejects(openDataset("zedd", root), /metadata\.txt is missing/);
});

test("Infinigen Defocus: FOSSA's five planes by file name, or any number of those rendered", async () => {
  const folder = join(root, "infinigen", "1a4897de_1");
  for (const fd of ["0.80", "1.70", "3.00", "4.70", "8.00", "2.30"])
    await putPicture(join(folder, `image_ap_1.40_fd_${fd}.png`), size, () => 10 * Number(fd));
  await putPicture(join(folder, "image_ap_2.80_fd_0.80.png"), size);
  putNpy(join(folder, "depth.npy"), size, (x) => (x === 0 ? Infinity : x));
  const { stack, trueDepth } = await (await openDataset("infinigen", join(root, "infinigen"))).sample(0);
  assert.deepEqual(
    [stack.focusDistances, levels(stack.images)],
    [
      [0.8, 1.7, 3, 4.7, 8],
      [8, 17, 30, 47, 80],
    ],
  );
  assert.deepEqual([trueDepth.valid[0], trueDepth.valid[1]], [0, 1]);
  const all = await (await openDataset("infinigen", join(root, "infinigen"), { planes: 6 })).sample(0);
  assert.deepEqual(all.stack.focusDistances, [0.8, 1.7, 2.3, 3, 4.7, 8]);
  const other = await openDataset("infinigen", join(root, "infinigen"), { aperture: 2.8 });
  await assert.rejects(other.sample(0), /image_ap_2\.80_fd_1\.70\.png is missing/);
});

test("HCI: refocused folders in disparity, turned near to far", async () => {
  const folder = join(root, "hci", "boxes");
  put(join(folder, "stack.json"), JSON.stringify({ unit: "disparity", focus: [-1, 0, 2] }));
  for (const n of [0, 1, 2]) await putPicture(join(folder, `plane_0${n}.png`), size, () => 10 * n);
  putNpy(join(folder, "disparity.npy"), size, (x) => x - 4);
  const { stack, trueDepth } = await (await openDataset("hci", join(root, "hci"))).sample(0);
  assert.deepEqual(
    [stack.focusDistances, levels(stack.images)],
    [
      [2, 0, -1],
      [20, 10, 0],
    ],
  );
  assert.deepEqual([trueDepth.space, trueDepth.valid[0], trueDepth.values[0]], ["disparity", 1, -4]);
});

test("HCI: a light field refocused at its own disparity is sharp there and nowhere else", async () => {
  const folder = join(root, "lightfields", "plane");
  const frame = { width: 40, height: 8 };
  const texture = (x: number): number => (x >= 18 && x <= 21 ? 200 : 50);
  for (let view = 0; view < 81; view++) {
    const u = (view % 9) - 4; // one pixel of disparity: the bar moves left as the camera moves right
    await putPicture(join(folder, `input_Cam${String(view).padStart(3, "0")}.png`), frame, (x) => texture(x + u));
  }
  put(join(folder, "gt_disp_lowres.pfm"), encodePfm({ ...frame, channels: 1, data: new Float32Array(320).fill(1) }));
  put(join(folder, "parameters.cfg"), "[meta]\ndisp_min = -1.0\ndisp_max = 1.0\n");
  const { stack, trueDepth } = await (await openDataset("hci", join(root, "lightfields"), { planes: 3 })).sample(0);
  assert.deepEqual(stack.focusDistances, [1, 0, -1]);
  assert.equal(trueDepth.values[0], 1);
  const row = (plane: number): number[] => Array.from({ length: 40 }, (_, x) => Math.round((stack.images[plane]?.data[3 * x] ?? 0) * 255));
  assert.deepEqual(
    row(0),
    Array.from({ length: 40 }, (_, x) => texture(x)),
  );
  assert.ok(Math.max(...row(1)) < 150 && Math.max(...row(2)) < Math.max(...row(1)));
});

test("folder: a stack is what the command opens: distances from a table or file names, 12-bit TIFF, TIFF orientation", async () => {
  const folder = join(root, "understood");
  for (const [name, grey] of [["a.png", 50], ["b.png", 100]] as const) await putPicture(join(folder, "table", name), size, () => grey); // prettier-ignore
  put(join(folder, "table", "distances.csv"), "file,distance_mm\nb.png,300\na.png,700\n");
  putNpy(join(folder, "table", "depth.npy"), size, () => 0.5);
  const deep = (value: number): Uint8Array => encodeTiff([{ ...size, channels: 1, data: new Uint16Array(320).fill(value) }]);
  put(join(folder, "tiff", "x_400mm.tif"), deep(4095));
  put(join(folder, "tiff", "x_500mm.tif"), deep(1000));
  putNpy(join(folder, "tiff", "depth.npy"), size, () => 0.45);
  for (const name of ["1.png", "2.png"]) await putPicture(join(folder, "silent", name), size);
  putNpy(join(folder, "silent", "depth.npy"), size, () => 1);
  put(join(folder, "notes.txt"), "");

  const dataset = await openDataset("folder", folder);
  assert.match(dataset.protocol, /^all 2 planes, near to far, by distance list or file name; .*without focus distances: silent$/);
  const [table, tiff] = [await dataset.sample(0), await dataset.sample(1)];
  assert.deepEqual([table.name, table.stack.focusDistances, levels(table.stack.images)], ["table", [0.3, 0.7], [100, 50]]);
  assertClose(tiff.stack.focusDistances, [0.4, 0.5], 1e-9);
  assertClose(
    tiff.stack.images.map(({ data }) => data[0] as number),
    [1, 1000 / 4095],
    1e-6,
  );
  for (const { name, stack } of [table, tiff]) assert.deepEqual(stack, await readStack(await openStack(join(folder, name))));
  await assert.rejects(openDataset("folder", join(folder, "silent")), /a stack\.json in silent is missing/);
});

test("folder: sub-folders with stack.json, truth in npy, 16-bit png or tif, a missing truth named", async () => {
  const folder = join(root, "own");
  for (const name of ["b", "a"]) {
    put(join(folder, name, "stack.json"), JSON.stringify({ unit: "mm", focus: [200, 100] }));
    for (const n of [1, 2]) await putPicture(join(folder, name, `plane_${n}.png`), size, () => 100 * n);
  }
  putDepthMm(join(folder, "a", "depth.png"), size, (x) => x * 100);
  const dataset = await openDataset("folder", folder);
  const { name, stack, trueDepth } = await dataset.sample(0);
  assert.deepEqual([dataset.size, name, stack.focusDistances, levels(stack.images)], [2, "a", [0.1, 0.2], [200, 100]]);
  assert.deepEqual([trueDepth.valid[0], trueDepth.values[1]], [0, Math.fround(0.1)]);
  await assert.rejects(dataset.sample(1), /b\/depth\.npy is missing/);
  assert.equal((await openDataset("folder", join(folder, "a"))).size, 1);
  await assert.rejects(openDataset("folder", join(root, "fod500")), /stack\.json is missing/);
  await assert.rejects(openDataset("kitti", folder), /no dataset "kitti"; choose nyu, fod500/);
  await assert.rejects(openDataset("fod500", folder, { split: "val" }), /no split "val"; choose test or train or all/);
});
