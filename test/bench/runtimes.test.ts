import assert from "node:assert/strict";
import { test } from "node:test";
import { stackOf } from "../../src/bench/case.ts";
import { cudaRuntime } from "../../src/bench/cudaRuntime.ts";
import { onnxRuntime } from "../../src/bench/onnxRuntime.ts";
import { tiny } from "../helpers/network.ts";

// The CUDA runtime's own code on the CPU: there is no GPU where tests run.
const runtimes = [onnxRuntime({ device: "cpu", threads: 1 }), cudaRuntime({ device: "cpu" })];

for (const runtime of runtimes)
  test(`${runtime.description}: the ceilings' work runs, and a network gives depth within its planes`, async () => {
    for (const make of [() => runtime.products(), () => runtime.copy()]) {
      const work = await make();
      assert.ok(work.amount > 0);
      await work.run();
      await work.dispose();
    }
    const size = { planes: 3, height: 32, width: 64 };
    const session = await runtime.network(tiny, size);
    const { depth, probability } = await session.run(stackOf(size));
    await session.dispose();
    assert.deepEqual([depth?.shape, probability?.shape], [[1, 1, 32, 64], [1, 3, 32, 64]]); // prettier-ignore
    assert.ok((depth?.data as Float32Array).every((value) => value >= 0 && value <= 2));
  });
