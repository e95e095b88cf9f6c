import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asUserError } from "../../src/cli/words.ts";
import { depthOfStack, type SavedName } from "../../src/depth/node/stackRun.ts";
import type { OnStage } from "../../src/depth/progress.ts";
import { DeviceLimitError, EngineError } from "../../src/engine/errors.ts";
import { DualFocusError } from "../../src/errors.ts";
import { encodePng } from "../../src/io/png.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { texture } from "../helpers/texturedStack.ts";
import { fakeSession, networkOf } from "../network/fakeSession.ts";

const OUT_OF_MEMORY =
  "mul([7, 3, 448, 672], [3, 1, 1]): CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation' in https://docs.nvidia.com/\n";

/** The depth of an example by a network that fails. */
function failing(error: Error, output: string): Promise<unknown> {
  const session = { ...fakeSession(), run: () => Promise.reject(error) };
  return depthOfStack({
    inputs: [join(import.meta.dirname, "../../examples/macro")],
    options: { model: "small", align: "off", size: "auto", save: ["npy"], force: false },
    network: () => Promise.resolve(networkOf(session)),
    output,
    report: { onNote: () => undefined, onStage: () => undefined, onFindings: () => undefined },
    signal: new AbortController().signal,
  });
}

test("a device without memory for a stack is named on one line, with the remedy to use another, and nothing is written", async () => {
  const output = join(temporaryFolder(), "depth");
  const error: unknown = await failing(new DeviceLimitError(OUT_OF_MEMORY), output).catch((failure: unknown) => failure);
  assert.ok(error instanceof DualFocusError);
  assert.equal(error.message, "the device cpu cannot compute this stack: mul([7, 3, 448, 672], [3, 1, 1]): CUDA error: out of memory");
  assert.equal(asUserError(error)?.remedy, "use --device cpu");
  assert.ok(!existsSync(output));
});

test("any other failure of the device stays what it is", async () => {
  const failure = new EngineError("mul: CUDA error: an illegal memory access was encountered");
  await assert.rejects(failing(failure, join(temporaryFolder(), "depth")), (error) => error === failure);
});

test("the progress of writing ends once, with the last file, also where a chosen output is not written", async () => {
  const folder = temporaryFolder();
  const image = encodePng(texture({ width: 64, height: 48 }));
  for (const name of ["a.png", "b.png"]) put(join(folder, name), image); // no change of focus: depth is unknown, so there is no mesh
  const written = async (...save: SavedName[]): Promise<string[]> => {
    const steps: string[] = [];
    const onStage: OnStage = (stage, done, of) => stage === "write" && steps.push(`${done} of ${of}`);
    const { document } = await depthOfStack({
      inputs: [folder],
      options: { model: "small", align: "off", size: "auto", save, fill: "off", force: false },
      network: () => Promise.resolve(networkOf(fakeSession(), { average: "metres" })),
      output: join(temporaryFolder(), "depth"),
      report: { onNote: (note) => steps.push(note), onStage, onFindings: () => undefined },
      signal: new AbortController().signal,
    });
    return [...Object.keys(document.files), ...steps];
  };
  assert.deepEqual(await written("npy", "filled"), ["npy", "1 of 2", "2 of 2"]); // the last is result.json
  const note = "mesh.glb is not written: no depth has a confidence of 0.2 or more";
  assert.deepEqual(await written("npy", "glb"), ["npy", "1 of 3", "3 of 3", note]);
  assert.deepEqual(await written("glb", "npy"), ["npy", "1 of 3", "3 of 3", note]);
});
