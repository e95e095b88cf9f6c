import assert from "node:assert/strict";
import test from "node:test";
import type { Sample } from "../../src/data/dataset.ts";
import { inPlanes } from "../../src/evaluate/planeUnits.ts";
import type { Predictor } from "../../src/evaluate/predictor.ts";
import { openEvaluationSet } from "../../src/evaluate/protocol.ts";
import { openRendered } from "../../src/evaluate/renderedSet.ts";
import { evaluate, spreadIndices } from "../../src/evaluate/run.ts";
import { assertClose } from "../helpers/close.ts";

const tiny = { scenes: 2, size: 24, samples: 4 };

test("the rendered benchmark is the same every time, and every number of planes sees the same scenes", async () => {
  const ten = await (await openRendered({ ...tiny, planes: 10 })).sample(1);
  const three = await (await openRendered({ ...tiny, planes: 3 })).sample(1);
  assert.deepEqual(
    three.stack.focusDistances,
    [0, 4, 9].map((n) => ten.stack.focusDistances[n]),
  );
  assert.deepEqual(three.stack.images[1]?.data, ten.stack.images[4]?.data);
  assert.deepEqual(three.trueDepth.values, ten.trueDepth.values);
  await assert.rejects(openRendered({ ...tiny, planes: 12 }), /12 planes asked for; each scene has 10/);
});

test("truth counts only within half a plane of the stack, and shifted or scaled predictions give known values", async () => {
  const set = await openEvaluationSet({ dataset: "render", planes: 5, rendered: tiny });
  assert.match(
    set.protocol,
    /^rendered benchmark: seeds 1000000 to 1000001, 24×24, 4 rays per pixel, held-out generated textures, planes 0 2 4 6 9/,
  );
  let latest: Sample | undefined;
  const watched = { ...set, sample: async (index: number) => (latest = await set.sample(index)) };
  const changed = (name: string, change: (value: number) => number): Predictor => ({
    name,
    fingerprint: name,
    predict: () => {
      const { trueDepth } = latest as Sample;
      return Promise.resolve({ depth: { ...trueDepth, values: trueDepth.values.map(change), valid: trueDepth.valid.map(() => 1) } });
    },
    dispose: () => Promise.resolve(),
  });
  const models = [changed("right", (d) => d), changed("scaled", (d) => 1.3 * d), changed("shifted", (d) => d + 0.1)];
  const [right, scaled, shifted] = await evaluate(watched, models);
  assert.deepEqual([right?.images, right?.planes, right?.metrics.mse, right?.metrics.rmsePlanes], [2, 5, 0, 0]);
  assertClose([scaled?.metrics.absRel as number, scaled?.metrics.logRmse as number], [0.3, Math.log(1.3)], 1e-5);
  assertClose([shifted?.metrics.mse as number, shifted?.metrics.rmse as number], [0.01, 0.1], 1e-5);
  const { trueDepth, stack } = latest as Sample;
  const numbers = inPlanes(trueDepth, stack.focusDistances, { within: 0.5 });
  assert.deepEqual(numbers.valid, trueDepth.valid);
});

test("a limit takes images evenly over the set", () => {
  assert.deepEqual(spreadIndices(10, 4), [0, 2, 5, 7]);
  assert.deepEqual(spreadIndices(3, 8), [0, 1, 2]);
  assert.deepEqual(spreadIndices(3), [0, 1, 2]);
});
