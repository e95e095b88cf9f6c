import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openHdf5 } from "../../src/data/hdf5.ts";
import { assertSurvivesGarbage } from "../io/garbage.ts";
import { writeHdf5 } from "../io/hdf5Files.ts";
import { put, temporaryFolder } from "./files.ts";

const folder = temporaryFolder();

const counting = (length: number): Float32Array => Float32Array.from({ length }, (_, i) => i);

test("a slice holds the values at its indices", async () => {
  const path = join(folder, "a.h5");
  await writeHdf5(path, { stack: { shape: [2, 3, 4], data: counting(24) }, bytes: { shape: [3], data: Uint8Array.of(1, 2, 255) } });
  const file = await openHdf5(path);
  assert.deepEqual(file.shape("stack"), [2, 3, 4]);
  assert.deepEqual(
    file.read("stack", [
      [1, 2],
      [0, 3],
      [1, 3],
    ]),
    Float32Array.of(13, 14, 17, 18, 21, 22),
  );
  assert.deepEqual(file.read("stack", [[0, 1]]), counting(12));
  assert.deepEqual(file.read("bytes"), Uint8Array.of(1, 2, 255));
  assert.deepEqual([file.has("stack"), file.has("truth")], [true, false]);
  assert.throws(() => file.read("stack", [[1, 3]]), /\[2, 3, 4\]; range 1,3 of axis 0 is outside/);
  assert.throws(() => file.shape("truth"), /there is no dataset "truth"; the file has bytes, stack/);
  file.close();
});

test("garbage is refused, never a crash", async () => {
  const path = join(folder, "b.h5");
  await writeHdf5(path, { stack: { shape: [4, 4], data: counting(16) } });
  const read = async (bytes: Uint8Array, name: string): Promise<void> => {
    put(join(folder, name), bytes);
    const file = await openHdf5(join(folder, name));
    try {
      file.read("stack");
    } finally {
      file.close();
    }
  };
  await assertSurvivesGarbage(read, readFileSync(path), 40);
  const other = join(folder, "c.h5");
  put(other, "not it");
  await assert.rejects(openHdf5(other), { name: "FormatError", message: `${other}: not a readable HDF5 file: file signature not found` });
  await assert.rejects(openHdf5(join(folder, "nowhere.h5")), /nowhere\.h5: there is no such file/);
});
