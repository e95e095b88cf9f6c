import assert from "node:assert/strict";
import { test } from "node:test";

import { createOnnxSession } from "../../src/network/node/onnxSession.ts";
import type { Session, Value } from "../../src/network/session.ts";
import { untrainedModel } from "../../src/network/node/loadModel.ts";
import { recordGraph } from "../../src/model/graph.ts";
import { batchSession } from "../../src/network/batchSession.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

/** Doubles its input; refuses batches that hold a 13. */
function doubling(): { session: Session; shapes: (readonly number[])[] } {
  const shapes: (readonly number[])[] = [];
  let running = 0;
  const session: Session = {
    device: "cpu",
    inputNames: ["x"],
    outputNames: ["y"],
    async run({ x }) {
      assert.equal((running += 1), 1, "one run at a time");
      const { data, shape } = x as Value;
      shapes.push(shape);
      await Promise.resolve();
      running -= 1;
      if (data.includes(13 as never)) throw new Error("13");
      return { y: { data: Float32Array.from(data as Float32Array, (value) => 2 * value), shape } };
    },
    encode: () => Promise.reject(new Error("not for several jobs")),
    dispose: () => Promise.resolve(),
  };
  return { session, shapes };
}

const input = (values: readonly number[]): { x: Value } => ({ x: { data: Float32Array.from(values), shape: [1, values.length] } });

test("runs of one shape go through as a batch, each gets its own part, and other shapes go apart", async () => {
  const { session, shapes } = doubling();
  const batch = batchSession(session, { most: 3 });
  assert.equal(batch.encode, undefined);
  const outputs = await Promise.all(
    [
      [1, 2],
      [3, 4],
      [5, 6, 7],
      [8, 9],
      [10, 11],
    ].map((values) => batch.run(input(values))),
  );
  assert.deepEqual(shapes, [
    [3, 2],
    [1, 3],
    [1, 2],
  ]);
  assert.deepEqual(
    outputs.map(({ y }) => [[...(y?.data ?? [])], y?.shape]),
    [
      [
        [2, 4],
        [1, 2],
      ],
      [
        [6, 8],
        [1, 2],
      ],
      [
        [10, 12, 14],
        [1, 3],
      ],
      [
        [16, 18],
        [1, 2],
      ],
      [
        [20, 22],
        [1, 2],
      ],
    ],
  );
});

test("fewer runs than a batch holds go through as batches of powers of two, so that few sizes of a batch occur", async () => {
  const { session, shapes } = doubling();
  const batch = batchSession(session, { most: 8 });
  const runs = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
  for (const count of [7, 8, 3]) {
    const outputs = await Promise.all(runs(count).map((value) => batch.run(input([value]))));
    assert.deepEqual(outputs.map(({ y }) => y?.data[0]), runs(count).map((value) => 2 * value)); // prettier-ignore
  }
  assert.deepEqual(shapes.map(([size]) => size), [4, 2, 1, 8, 2, 1]); // prettier-ignore
});

test("in a batch that fails only those fail that must", async () => {
  const { session, shapes } = doubling();
  const batch = batchSession(session, { most: 3 });
  const settled = await Promise.allSettled([[1], [13], [3]].map((values) => batch.run(input(values))));
  assert.deepEqual(
    settled.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.deepEqual(shapes, [
    [3, 1],
    [1, 1],
    [1, 1],
    [1, 1],
  ]);
  assert.deepEqual([...((await batch.run(input([4])))["y"]?.data ?? [])], [8], "and it goes on");
});

test("stacks in a batch come out of the network as they do alone", async () => {
  const session = await createOnnxSession(recordGraph(untrainedModel("small")), { threads: 1 });
  const random = createRandom(1);
  const stacks = [1, 2].map(() => ({
    images: { data: Float32Array.from({ length: 3 * 3 * 32 * 64 }, () => random.uniform()), shape: [1, 3, 3, 32, 64] },
    focusDistances: { data: Float32Array.of(1, 2, 3), shape: [1, 3] },
  }));
  const alone: Record<string, Value>[] = [];
  for (const stack of stacks) alone.push(await session.run(stack));
  const batch = batchSession(session, { most: 2 });
  const together = await Promise.all(stacks.map((stack) => batch.run(stack)));
  for (const [n, outputs] of together.entries())
    for (const name of ["depth", "probability"])
      assertClose(outputs[name]?.data as Float32Array, alone[n]?.[name]?.data as Float32Array, 1e-5);
  await batch.dispose();
});
