import assert from "node:assert/strict";
import { test } from "node:test";

import { createNodeSession } from "../../src/network/node/onnxSession.ts";
import { createPlaneGraphs } from "../../src/network/node/planeGraphs.ts";
import { configs } from "../../src/model/config.ts";
import { recordGraph } from "../../src/model/graph.ts";
import { initialWeights } from "../../src/model/state.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";
import { randomImages, tiny } from "../helpers/network.ts";

const model = { config: tiny, weights: initialWeights(tiny, createRandom(3)) };

const stack = (N: number, [H, W]: readonly [number, number], B = 1) => ({
  images: { data: randomImages({ B, N, H, W }), shape: [B, N, 3, H, W] },
  focusDistances: { data: Float32Array.from({ length: B * N }, (_, i) => i % N), shape: [B, N] },
});

test("whatever the number of planes, size and batch, the answer is that of the one graph for all", async () => {
  const [one, many] = [await createNodeSession(recordGraph(model), { threads: 1 }), createPlaneGraphs(model, { threads: 1 })];
  for (const inputs of [stack(2, [32, 64]), stack(5, [64, 32]), stack(5, [32, 32], 2), stack(3, [64, 64]), stack(2, [64, 64])]) {
    const [want, got] = [await one.run(inputs), await many.run(inputs)];
    for (const name of ["depth", "probability", "spread"]) {
      assert.deepEqual(got[name]?.shape, want[name]?.shape);
      assertClose(got[name]?.data as Float32Array, want[name]?.data as Float32Array, 1e-4);
    }
  }
  await Promise.all([one.dispose(), many.dispose()]);
});

test("a network that depends on the picture's size takes the size it is given", async () => {
  const dfv = { config: configs.dfv, weights: initialWeights(configs.dfv, createRandom(3)) };
  const session = createPlaneGraphs(dfv, { threads: 1, size: { batch: 1, height: 64, width: 64 } });
  const { probability } = await session.run(stack(3, [64, 64]));
  assert.deepEqual(probability?.shape, [1, 3, 64, 64]);
  await session.dispose();
});

test("what cannot be run says why, and the session goes on", async () => {
  const session = createPlaneGraphs(model, { threads: 1 });
  const { images, focusDistances } = stack(2, [32, 32]);
  await assert.rejects(session.run({ focusDistances }), /images are missing/);
  await assert.rejects(
    session.run({ images: { data: images.data, shape: [1, 1, 6, 32, 32] }, focusDistances }),
    /at least 2 planes, got 1/,
  );
  assert.equal((await session.run({ images, focusDistances }))["probability"]?.data.length, 2 * 32 * 32);
  await session.dispose();
});
