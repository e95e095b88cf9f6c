import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import sharp from "sharp";
import { openDataset } from "../../../src/data/open.ts";
import { createTorchEngine } from "../../../src/engine/torch/torchEngine.ts";
import { encodeExr } from "../../../src/io/exr.ts";
import type { Network } from "../../../src/model/network.ts";
import { ConfigError, type TrainConfig } from "../../../src/train/config.ts";
import { fileSource } from "../../../src/train/files/fileSource.ts";
import { presets, smoke } from "../../../src/train/presets.ts";
import type { TrainSource } from "../../../src/train/source.ts";
import type { TrainBatch } from "../../../src/train/batch.ts";
import { createTrainer } from "../../../src/train/trainer.ts";
import { put, putDepthMm, putNpy, putPicture, temporaryFolder } from "../../data/files.ts";
import { assertClose } from "../../helpers/close.ts";
import { writeHdf5 } from "../../io/hdf5Files.ts";
import { referenceBatch } from "./referenceBatch.ts";

const engine = createTorchEngine({ threads: 1 });
const root = temporaryFolder();
const CROP = 32;

interface Opening {
  readonly config: TrainConfig;
  readonly data: string;
  readonly lines?: string[];
}

/** Closed with the test, whatever becomes of it. */
async function open(context: TestContext, { config, data, lines = [] }: Opening): Promise<TrainSource> {
  const progress = (line: string): void => void lines.push(line);
  const source = await fileSource({ engine, config, data, share: { rank: 0, of: 1 }, progress });
  context.after(() => source.close());
  return source;
}

const values = ({ images, focusDistances, trueDepth, valid }: TrainBatch) => {
  const [a, b, c, d] = [images, focusDistances, trueDepth, valid].map((tensor) => engine.read(tensor) as Float32Array);
  return { images: a, focusDistances: b, trueDepth: c, valid: d } as Record<keyof TrainBatch, Float32Array>;
};

/** Red tells the column, green the row, blue the plane. */
async function putFod500(): Promise<string> {
  const [dir, size] = [join(root, "fod500"), { width: 40, height: 36 }];
  for (const id of ["000000", "000001", "000400"]) {
    for (const n of [1, 2, 3, 4, 5]) {
      const pixels = Array.from({ length: size.width * size.height }, (_, i) => [6 * (i % 40), 6 * Math.floor(i / 40), 40 * n]).flat();
      const picture = sharp(Uint8Array.from(pixels), { raw: { ...size, channels: 3 } });
      put(join(dir, `${id}_0${n}All.tif`), await picture.tiff({ compression: "none" }).toBuffer());
    }
    const depth = Float32Array.from({ length: 40 * 36 }, (_, i) => 0.2 + (i % 40) / 64);
    put(join(dir, `${id}_Dpt.exr`), await encodeExr({ ...size, channels: { R: depth } }, { precision: "f16" }));
  }
  return dir;
}

async function putNyu(): Promise<string> {
  const [dir, size] = [join(root, "nyu"), { width: 60, height: 50 }]; // of which the loader keeps the middle 48×40
  for (const split of ["train", "test"])
    for (const name of ["a", "b"]) {
      await putPicture(join(dir, split, "rgb", `${name}.png`), size, (x, y, c) => (31 * x + 17 * y + 90 * c) % 256);
      putDepthMm(join(dir, split, "depth_mm", `${name}.png`), size, (x, y) => 1000 + 40 * x + 10 * y);
    }
  return dir;
}

async function putDdff12(): Promise<string> {
  const dir = join(root, "ddff12");
  mkdirSync(dir);
  const [height, width] = [35, 41];
  const stack = { shape: [2, 10, height, width, 3], data: Uint8Array.from({ length: 2 * 10 * height * width * 3 }, (_, i) => i % 251) };
  const truth = { shape: [2, height, width], data: Float32Array.from({ length: 2 * height * width }, (_, i) => (i % 7 ? 0.1 : 0)) };
  await writeHdf5(join(dir, "set.h5"), { stack_train: stack, disp_train: truth, stack_val: stack, disp_val: truth });
  return dir;
}

async function putFolder(name: string, stacks: number): Promise<string> {
  const size = { width: 40, height: 36 };
  for (let i = 0; i < stacks; i++) {
    const folder = join(root, name, `s${i}`);
    put(join(folder, "stack.json"), JSON.stringify({ unit: "m", focus: [1, 2, 4] }));
    for (const n of [0, 1, 2]) await putPicture(join(folder, `plane_${n}.png`), size, () => 10 * (i + 1) + n);
    putNpy(join(folder, "depth.npy"), size, () => 2.5);
  }
  return join(root, name);
}

const folderConfig: TrainConfig = {
  ...smoke,
  data: { kind: "folder", depthScale: 1, validation: { count: 9 } },
  augment: presets.nyu.augment,
  batch: { size: 4, planes: [3], crop: CROP },
};

test("the paper's presets draw crops, flips and DFV's mask of evenly spread planes, and nothing else", async (context) => {
  const cases = [
    [presets.nyu, await putNyu(), 0],
    [presets.fod500, await putFod500(), 0],
    [presets.ddff12, await putDdff12(), 0.8],
  ] as const;
  for (const [preset, dir, validShare] of cases) {
    const config: TrainConfig = { ...preset, batch: { ...preset.batch, size: 3, crop: CROP } };
    const source = await open(context, { config, data: dir });
    const options = { split: "train", planes: 5, depthScale: preset.data.depthScale } as const;
    const dataset = await openDataset(preset.data.kind, dir, options);
    for (const step of [0, 1, 5]) {
      const crop = { step, size: 3, seed: preset.seed, crop: CROP, validShare };
      const { images, focusDistances, trueDepth, valid } = await referenceBatch(dataset, crop);
      const made = values(await source.batches.batch(step));
      assert.deepEqual([...made.valid], valid, preset.data.kind);
      assertClose(made.images, images, 1e-5);
      assertClose(made.focusDistances, focusDistances, 1e-6);
      assertClose(made.trueDepth, trueDepth, 1e-6);
    }
    assert.equal(source.stepsPerEpoch, dataset.size / 3);
    dataset.close();
  }
});

test("each picture of a FoD500 batch is a window of the file as it is or flipped, its depth beside it scaled by 0.2", async (context) => {
  const config: TrainConfig = { ...presets.fod500, batch: { size: 4, planes: [5], crop: CROP } };
  const source = await open(context, { config, data: join(root, "fod500") });
  const { images, focusDistances, trueDepth } = values(await source.batches.batch(0));
  assertClose(focusDistances.slice(0, 5), [0.02, 0.03, 0.06, 0.14, 0.3]);
  const at = (b: number, n: number, c: number, y: number, x: number): number =>
    Math.round(255 * (images[(((b * 5 + n) * 3 + c) * CROP + y) * CROP + x] as number));
  for (const b of [0, 1, 2, 3]) {
    const [left, top] = [at(b, 0, 0, 0, 0), at(b, 0, 1, 0, 0)];
    const [across, down] = [at(b, 0, 0, 0, 1) - left, at(b, 0, 1, 1, 0) - top];
    assert.deepEqual([Math.abs(across), Math.abs(down)], [6, 6]);
    for (let n = 0; n < 5; n++)
      for (let i = 0; i < CROP; i++) {
        const [y, x] = [i, (7 * i) % CROP];
        assert.deepEqual([at(b, n, 0, y, x), at(b, n, 1, y, x), at(b, n, 2, y, x)], [left + across * x, top + down * y, 40 * (n + 1)]);
        const metres = 0.2 + (left + across * x) / 6 / 64;
        assertClose([trueDepth[(b * CROP + y) * CROP + x] as number], [0.2 * metres], 1e-3); // half floats
      }
  }
});

test("a folder trains on all but the held-out stack, in the unit asked for, and validates and shows examples on that one", async (context) => {
  const lines: string[] = [];
  const config: TrainConfig = {
    ...folderConfig,
    batch: { ...folderConfig.batch, planes: [3, 2] },
    data: { kind: "folder", depthScale: 2, validation: { count: 9 } },
  };
  const source = await open(context, { config, data: await putFolder("five", 5), lines });
  assert.deepEqual(lines, ["stacks: 4 to train on, 1 to validate on"]);
  const met = new Set<number>();
  const shapes = new Set<string>();
  for (let step = 0; step < 8; step++) {
    const batch = await source.batches.batch(step);
    const [B, N] = batch.images.shape as [number, number];
    const { images, focusDistances, trueDepth } = values(batch);
    for (let b = 0; b < B; b++) met.add(Math.floor(Math.round(255 * (images[b * N * 3 * CROP * CROP] as number)) / 10) - 1);
    assert.deepEqual([...focusDistances.slice(0, N)], N === 3 ? [2, 4, 8] : [2, 8]);
    assert.equal(trueDepth[0], 5);
    shapes.add(`${B}×${N}`);
  }
  assert.deepEqual([...met].sort(), [0, 1, 2, 3]);
  assert.deepEqual([...shapes].sort(), ["4×3", "6×2"]);

  const depth = engine.full([1, 1, CROP, CROP], 6.5);
  const focusProbability = engine.full([1, 3, CROP, CROP], 1 / 3);
  const network: Network = { forward: () => ({ depth, focusProbability, spatial: undefined, coarser: [] }) };
  const trainer = { ...createTrainer({ engine, config: smoke }), network };
  const [example, ...others] = await source.examples({ engine, trainer, precision: "f32" });
  assert.deepEqual([example?.name, others.length, example?.picture.width], ["s4", 0, CROP]);
  assertClose([example?.picture.data[0] as number], [51 / 255]); // the middle plane
  assertClose([example?.truth.data[0] as number, example?.prediction.data[0] as number], [1 - 3 / 6, 1 - 4.5 / 6]);
  assertClose([example?.error.data[0] as number], [0.5]); // 1.5 of 3, the mean distance between planes
  const metrics = await source.evaluate({ engine, trainer, precision: "f32" });
  assertClose([metrics["rmse@3"] as number], [1.5]);
});

test("settings for rendered data, and too few epochs for one batch, are refused by name", async (context) => {
  const dir = await putFolder("pair", 2);
  const refuse = async (config: TrainConfig, message: RegExp): Promise<void> => {
    await assert.rejects(open(context, { config, data: dir }), (error) => error instanceof ConfigError && message.test(error.message));
  };
  await refuse({ ...folderConfig, augment: smoke.augment }, /augment\.dioptres is for rendered data only/);
  await refuse({ ...folderConfig, augment: { ...folderConfig.augment, beyond: 0.1 } }, /augment\.beyond is for rendered data only/);
  await refuse({ ...folderConfig, budget: { epochs: 1 } }, /budget\.epochs=1 is less than one batch of 4/);
  await refuse({ ...folderConfig, batch: { ...folderConfig.batch, crop: 64 } }, /batch\.crop \(64\) is larger than s0/);
});

test("a set smaller than the batch fills it by repeating stacks, and says so", async (context) => {
  const lines: string[] = [];
  const config: TrainConfig = { ...folderConfig, augment: { ...folderConfig.augment, reverse: 0.5 } };
  const source = await open(context, { config, data: join(root, "pair"), lines });
  assert.match(lines.join("\n"), /fewer stacks than a batch of 4/);
  const reversed: boolean[] = [];
  for (let step = 0; step < 10; step++) {
    const batch = await source.batches.batch(step);
    assert.deepEqual(batch.images.shape, [4, 3, 3, CROP, CROP]);
    const { images } = values(batch);
    for (let b = 0; b < 4; b++) reversed.push(Math.round(255 * (images[b * 9 * CROP * CROP] as number)) === 12);
  }
  const share = reversed.filter(Boolean).length / 40;
  assert.ok(share > 0.25 && share < 0.75, `reversed ${share}`);
});
