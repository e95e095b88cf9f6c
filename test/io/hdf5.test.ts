import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openHdf5 } from "../../src/io/hdf5.ts";
import { assertSurvivesGarbage } from "./garbage.ts";
import { writeHdf5 } from "./hdf5Files.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-hdf5-"));
after(() => {
  rmSync(folder, { recursive: true });
});

const counting = (length: number): Float32Array => Float32Array.from({ length }, (_, i) => i);

test("a slice holds the values at its indices", async () => {
  const path = join(folder, "a.h5");
  await writeHdf5(path, { stack: { shape: [2, 3, 4], data: counting(24) }, bytes: { shape: [3], data: Uint8Array.of(1, 2, 255) } });
  const file = await openHdf5(readFileSync(path), path);
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
    const file = await openHdf5(bytes, name);
    try {
      file.read("stack");
    } finally {
      file.close();
    }
  };
  await assertSurvivesGarbage(read, readFileSync(path), 40);
  await assert.rejects(openHdf5(new TextEncoder().encode("not it"), "c.h5"), {
    name: "FormatError",
    message: "c.h5: not a readable HDF5 file: file signature not found",
  });
});
