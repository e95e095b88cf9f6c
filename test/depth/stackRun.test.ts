import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asUserError } from "../../src/cli/words.ts";
import { depthOfStack } from "../../src/depth/node/stackRun.ts";
import { DeviceLimitError, EngineError } from "../../src/engine/errors.ts";
import { DualFocusError } from "../../src/errors.ts";
import { temporaryFolder } from "../data/files.ts";
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
