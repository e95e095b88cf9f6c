import assert from "node:assert/strict";
import { test } from "node:test";
import { planBatches, shuffledOrder } from "../../../src/train/files/batchPlan.ts";

test("plane counts are drawn evenly, deeper batches have fewer stacks, and the stream has neither gaps nor overlaps", () => {
  const plan = planBatches({ size: 6, planes: [5, 3, 10], crop: 32 }, 4);
  const steps = Array.from({ length: 300 }, (_, step) => plan.at(step));
  for (const [i, { from, size, planes }] of steps.entries()) {
    assert.equal(size, { 5: 6, 3: 10, 10: 3 }[planes]);
    assert.equal(steps[i + 1]?.from ?? from + size, from + size);
  }
  for (const count of [5, 3, 10]) {
    const times = steps.filter(({ planes }) => planes === count).length;
    assert.ok(times > 75 && times < 125, `${count} planes: ${times} of 300`);
  }
  assert.deepEqual(planBatches({ size: 6, planes: [5, 3, 10], crop: 32 }, 4).at(123), steps[123]); // a resumed run
  assert.deepEqual([plan.largest, plan.meanSize], [10, 19 / 3]);
  assert.deepEqual(planBatches({ size: 1, planes: [5], crop: 32 }, 0).at(7), { from: 7, size: 1, planes: 5 });
});

const alone = { rank: 0, of: 1 };
const indices = (order: ReturnType<typeof shuffledOrder>, from: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => order(from + i).index);

test("one pass holds every stack once, in an order of its own for each pass; a resumed run and one with another seed", () => {
  const order = shuffledOrder(6, { seed: 9, share: alone });
  const [one, two] = [indices(order, 0, 6), indices(order, 6, 6)];
  assert.deepEqual([...one].sort(), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual([...two].sort(), [0, 1, 2, 3, 4, 5]);
  assert.notDeepEqual(one, two);
  assert.deepEqual(indices(shuffledOrder(6, { seed: 9, share: alone }), 600, 6), indices(order, 600, 6));
  assert.notDeepEqual(indices(shuffledOrder(6, { seed: 8, share: alone }), 0, 6), one);
});

test("processes that train together take turns in one stream", () => {
  const whole = shuffledOrder(5, { seed: 2, share: alone });
  const halves = [0, 1].map((rank) => shuffledOrder(5, { seed: 2, share: { rank, of: 2 } }));
  for (let place = 0; place < 20; place++) assert.deepEqual(halves[place % 2]?.(Math.floor(place / 2)), whole(place));
});
