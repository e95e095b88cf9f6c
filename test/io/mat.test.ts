import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeMat } from "../../src/io/mat.ts";
import { assertSurvivesGarbage } from "./garbage.ts";
import { mat5 } from "./hdf5Files.ts";

test("version 5 vectors read, compressed or not", () => {
  for (const compressed of [true, false]) {
    const arrays = decodeMat(mat5({ trainNdxs: [3, 4, 60000], testNdxs: [1, 2] }, { compressed }));
    assert.deepEqual(arrays, {
      trainNdxs: { shape: [3, 1], data: Float64Array.of(3, 4, 60000) },
      testNdxs: { shape: [2, 1], data: Float64Array.of(1, 2) },
    });
  }
});

test("another version is refused by name", () => {
  assert.throws(
    () => decodeMat(new TextEncoder().encode("MATLAB 7.3 MAT-file"), "v73.mat"),
    /v73\.mat: not a \.mat file of version 5 to 7/,
  );
});

test("garbage is refused, never a crash", async () => {
  await assertSurvivesGarbage((bytes, file) => decodeMat(bytes, file), mat5({ trainNdxs: [1, 2, 3] }, { compressed: false }));
  await assertSurvivesGarbage((bytes, file) => decodeMat(bytes, file), mat5({ trainNdxs: [1, 2, 3] }));
});
