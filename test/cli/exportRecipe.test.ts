import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { decodeNpy } from "../../src/io/npy.ts";
import { resize } from "../../src/image/resize.ts";
import { createOnnxSession } from "../../src/network/node/onnxSession.ts";
import { openStack } from "../../src/stack/node/openStack.ts";
import { runCommand } from "../helpers/command.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-recipe-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});
const desk = join(import.meta.dirname, "../../examples/desk");

test("the exported graph, run by the recipe of docs/library.md, gives the depth of the command within 1 %, which adds a second size", async (context) => {
  const file = join(folder, "small.onnx");
  assert.equal((await runCommand(context, "export", "--model", "small", "-o", file)).code, 0);
  const bytes = readFileSync(file);
  const text = bytes.subarray(0, 65536).toString("latin1") + bytes.subarray(-65536).toString("latin1");
  for (const key of ["inputs", "outputs", "averaging", "workingSize", "average"]) assert.ok(text.includes(key), key);
  assert.match(text, /depth = 1 \/ sum\(probability \/ focusDistances\)/);

  const output = join(folder, "desk");
  const { code, err } = await runCommand(context, "depth", desk, "-o", output, "--save", "npy", "--device", "cpu");
  assert.equal(code, 0, err);
  const expected = decodeNpy(readFileSync(join(output, "depth.npy"))).data as Float32Array;

  const source = await openStack(desk);
  const { files, focusDistances, size } = source;
  const [width, height] = [2 * size.width, 2 * size.height]; // 768×512: multiples of 32
  const images = new Float32Array(files.length * 3 * width * height);
  for (const n of files.keys()) {
    const { data } = resize(await source.readPlane(n), { width, height, filter: "lanczos" });
    for (let i = 0; i < width * height; i++)
      for (let c = 0; c < 3; c++) images[(n * 3 + c) * width * height + i] = data[3 * i + c] as number;
  }
  const session = await createOnnxSession(bytes);
  const { depth } = await session.run({
    images: { data: images, shape: [1, files.length, 3, height, width] },
    focusDistances: { data: Float32Array.from(focusDistances), shape: [1, files.length] },
  });
  await session.dispose();

  const large = depth?.data as Float32Array;
  const at = (x: number, y: number): number => large[y * width + x] as number;
  let [error, count] = [0, 0];
  for (let y = 0; y < size.height; y++)
    for (let x = 0; x < size.width; x++) {
      const command = expected[y * size.width + x] as number;
      if (!Number.isFinite(command)) continue;
      const mean = (at(2 * x, 2 * y) + at(2 * x + 1, 2 * y) + at(2 * x, 2 * y + 1) + at(2 * x + 1, 2 * y + 1)) / 4;
      error += Math.abs(mean / command - 1);
      count += 1;
    }
  assert.ok(error / count < 0.01, `${error / count}`);
});
