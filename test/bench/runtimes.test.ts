import assert from "node:assert/strict";
import { test } from "node:test";
import { stacksOf } from "../../src/bench/case.ts";
import { cudaRuntime } from "../../src/bench/cudaRuntime.ts";
import { onnxRuntime } from "../../src/bench/onnxRuntime.ts";
import { assertClose } from "../helpers/close.ts";
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
    const size = { batch: 2, planes: 3, height: 32, width: 64 };
    const session = await runtime.network(tiny, size);
    const { depth, probability } = await session.run(stacksOf(size));
    await session.dispose();
    assert.deepEqual([depth?.shape, probability?.shape], [[2, 1, 32, 64], [2, 3, 32, 64]]); // prettier-ignore
    assert.ok((depth?.data as Float32Array).every((value) => value >= 0 && value <= 2));
  });

for (const runtime of runtimes)
  test(`${runtime.description}: a stack among others gives what it gives alone`, async () => {
    const size = { planes: 3, height: 32, width: 64 };
    const both = stacksOf({ ...size, batch: 2 });
    const second = (data: Float32Array): Float32Array => data.subarray(data.length / 2);
    const { images, focusDistances } = stacksOf({ ...size, batch: 1 });
    const alone = { images: { ...images, data: second(both.images.data) }, focusDistances };
    const depths = await Promise.all(
      [both, alone].map(async (inputs, i) => {
        const session = await runtime.network(tiny, { ...size, batch: 2 - i });
        const { depth } = await session.run(inputs);
        await session.dispose();
        return depth?.data as Float32Array;
      }),
    );
    assertClose(second(depths[0] as Float32Array), depths[1] as Float32Array, 1e-4);
  });
