import assert from "node:assert/strict";
import { test } from "node:test";

import { createOnnxSession } from "../../src/network/node/onnxSession.ts";
import { createGraphs } from "../../src/network/graphs.ts";
import type { Session } from "../../src/network/session.ts";
import { configs } from "../../src/model/config.ts";
import { recordGraph } from "../../src/model/graph.ts";
import { initialWeights } from "../../src/model/state.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";
import { randomImages, tiny } from "../helpers/network.ts";

const model = { config: tiny, weights: initialWeights(tiny, createRandom(3)) };

const load = (graph: Uint8Array): Promise<Session> => createOnnxSession(graph, { threads: 1 });
const onCpu = { device: "cpu", load } as const;

const stack = (N: number, [H, W]: readonly [number, number], B = 1) => ({
  images: { data: randomImages({ B, N, H, W }), shape: [B, N, 3, H, W] },
  focusDistances: { data: Float32Array.from({ length: B * N }, (_, i) => i % N), shape: [B, N] },
});

test("whatever the number of planes, size and batch, the answer is that of the one graph for all", async () => {
  const [one, many] = [await createOnnxSession(recordGraph(model), { threads: 1 }), await createGraphs(model, onCpu)];
  for (const inputs of [stack(2, [32, 64]), stack(5, [64, 32]), stack(5, [32, 32], 2), stack(3, [64, 64]), stack(2, [64, 64])]) {
    const [want, got] = [await one.run(inputs), await many.run(inputs)];
    for (const name of ["depth", "probability", "spread"]) {
      assert.deepEqual(got[name]?.shape, want[name]?.shape);
      assertClose(got[name]?.data as Float32Array, want[name]?.data as Float32Array, 1e-4);
    }
  }
  await Promise.all([one.dispose(), many.dispose()]);
});

test("a network that depends on the image's size is recorded for each, and the oldest graphs are freed", async () => {
  const dfv = { config: configs.dfv, weights: initialWeights(configs.dfv, createRandom(3)) };
  let loaded = 0;
  const counting = {
    device: "cpu",
    async load(graph: Uint8Array): Promise<Session> {
      const session = await load(graph);
      loaded += 1;
      return { ...session, dispose: () => ((loaded -= 1), session.dispose()) };
    },
  } as const;
  const session = await createGraphs(dfv, counting);
  for (const [N, H, W] of [
    [3, 64, 64],
    [3, 64, 96],
    [2, 64, 64],
    [3, 64, 64],
  ] as const) {
    const { probability } = await session.run(stack(N, [H, W]));
    assert.deepEqual(probability?.shape, [1, N, H, W]);
    assert.ok(loaded <= 2, `${loaded} graphs are loaded`);
  }
  await session.dispose();
  assert.equal(loaded, 0);
});

test("on the CPU a stack has a graph for its own size, and stacks that come together one for all sizes", async () => {
  let [loaded, freed] = [0, 0];
  const session = await createGraphs(model, {
    device: "cpu",
    load: async (graph) => {
      const one = await load(graph);
      loaded += 1;
      return { ...one, dispose: () => ((freed += 1), one.dispose()) };
    },
  });
  const loadsFor = async (...inputs: Parameters<typeof stack>): Promise<number> => {
    const before = loaded;
    await session.run(stack(...inputs));
    return loaded - before;
  };
  assert.deepEqual([await loadsFor(2, [32, 32]), await loadsFor(2, [32, 64]), await loadsFor(2, [32, 64])], [1, 1, 0]);
  assert.deepEqual([await loadsFor(2, [32, 32]), await loadsFor(2, [32, 64])], [0, 0], "stacks that are seen in two sizes");
  assert.deepEqual([await loadsFor(2, [32, 32], 2), await loadsFor(2, [32, 64], 3)], [1, 0]);
  assert.equal(loaded - freed, 2, "two graphs are kept, as each has its own memory");
  await session.dispose();
});

test("a graph is not freed while it runs: stacks of several sizes can be given at the same time", async () => {
  const watched = async (graph: Uint8Array): Promise<Session> => {
    const one = await load(graph);
    let running = 0;
    return {
      ...one,
      async run(inputs) {
        running += 1;
        return one.run(inputs).finally(() => (running -= 1));
      },
      dispose: () => {
        assert.equal(running, 0, "it is running");
        return one.dispose();
      },
    };
  };
  const session = await createGraphs(model, { device: "cpu", load: watched });
  const widths = [32, 64, 32, 96, 64];
  const answers = await Promise.all(widths.map((W) => session.run(stack(2, [32, W]))));
  assert.deepEqual(
    answers.map(({ depth }) => depth?.shape.at(-1)),
    widths,
  );
  await session.dispose();
});

test("where one graph serves every stack it is loaded at once, so that a device that does not work fails when it is opened", async () => {
  await assert.rejects(createGraphs(model, { device: "webgpu", load: () => Promise.reject(new Error("no adapter")) }), /no adapter/);
});

test("with fields the answer also holds Γ, z* and θ_grad(z*)", async () => {
  const session = await createGraphs(model, onCpu, { fields: true });
  const outputs = await session.run(stack(2, [32, 32]));
  assert.deepEqual(Object.keys(outputs).sort(), [...session.outputNames].sort());
  assert.deepEqual(outputs["surface"]?.shape, [1, 16, 2, 14, 14]);
  await session.dispose();
});

test("what cannot be run says why, and the session goes on", async () => {
  const session = await createGraphs(model, onCpu);
  const { images, focusDistances } = stack(2, [32, 32]);
  await assert.rejects(session.run({ focusDistances }), /images are missing/);
  await assert.rejects(
    session.run({ images: { data: images.data, shape: [1, 1, 6, 32, 32] }, focusDistances }),
    /at least 2 planes, got 1/,
  );
  assert.equal((await session.run({ images, focusDistances }))["probability"]?.data.length, 2 * 32 * 32);
  await session.dispose();
});
