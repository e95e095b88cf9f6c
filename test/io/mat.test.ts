import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { decodeMat } from "../../src/io/mat.ts";
import { assertSurvivesGarbage } from "./garbage.ts";
import { mat5, writeMat73 } from "./hdf5Files.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-mat-"));
after(() => {
  rmSync(folder, { recursive: true });
});

test("version 5 vectors read, compressed or not", async () => {
  for (const compressed of [true, false]) {
    const arrays = await decodeMat(mat5({ trainNdxs: [3, 4, 60000], testNdxs: [1, 2] }, { compressed }));
    assert.deepEqual(arrays, {
      trainNdxs: { shape: [3, 1], data: Float64Array.of(3, 4, 60000) },
      testNdxs: { shape: [2, 1], data: Float64Array.of(1, 2) },
    });
  }
});

test("version 7.3 is HDF5 behind a user block, its axes turned round", async () => {
  const path = join(folder, "v73.mat");
  await writeMat73(path, { depths: { shape: [3, 2], data: Float32Array.of(1, 2, 3, 4, 5, 6) } });
  const { depths } = await decodeMat(readFileSync(path), path, ["depths"]);
  assert.deepEqual(depths, { shape: [2, 3], data: Float64Array.of(1, 2, 3, 4, 5, 6) });
});

test("garbage is refused, never a crash", async () => {
  await assertSurvivesGarbage((bytes, file) => decodeMat(bytes, file), mat5({ trainNdxs: [1, 2, 3] }, { compressed: false }));
  await assertSurvivesGarbage((bytes, file) => decodeMat(bytes, file), mat5({ trainNdxs: [1, 2, 3] }));
});
