import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseSweep, describeFrame, type SweepFrame } from "../../src/stack/sweep.ts";
import { createRandom } from "../../src/random.ts";

const BLOCKS = 12 * 9;

/**
 * A frame of a scene whose blocks lie at depths 0 to 1, seen with the focus at `focus`: detail falls with the distance from it as blur takes it.
 * `moved` shifts the brightness of a third of the blocks.
 */
function frame(focus: number, { moved = 0, noise = 0, seed = 1 }: { moved?: number; noise?: number; seed?: number } = {}): SweepFrame {
  const random = createRandom(seed);
  const depth = (block: number): number => ((block * 37) % BLOCKS) / (BLOCKS - 1);
  return {
    detail: Float64Array.from(
      { length: BLOCKS },
      (_, b) => (80 / (1 + (14 * (depth(b) - focus)) ** 2) ** 2 + 0.2) * Math.exp(noise * random.normal()),
    ),
    tone: Float64Array.from({ length: BLOCKS }, (_, b) => 90 + (b % 7) + (b % 3 === 0 ? moved : 0)),
  };
}

const sweep = (focus: readonly number[], noise = 0): SweepFrame[] => focus.map((at, seed) => frame(at, { noise, seed: seed + 1 }));
const even = (count: number, from = 0, to = 1): number[] => Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));
const chosenFocus = (focus: readonly number[], noise = 0): number[] =>
  (chooseSweep(sweep(focus, noise))?.frames ?? []).map((t) => focus[t] as number);

function assertSpread(focus: readonly number[], label: string): void {
  assert.ok(focus.length >= 5 && focus.length <= 30, `${label}: ${focus.length} frames`);
  const steps = focus.slice(1).map((value, i) => value - (focus[i] as number));
  const sign = Math.sign(steps[0] as number);
  assert.ok(
    steps.every((step) => step * sign > 0),
    `${label}: ${focus.join(" ")} is not one way`,
  );
  assert.ok(Math.max(...steps.map(Math.abs)) < 5 * Math.min(...steps.map(Math.abs)), `${label}: ${focus.join(" ")} is uneven`);
  assert.ok(Math.abs((focus.at(-1) as number) - (focus[0] as number)) > 0.85, `${label}: ${focus.join(" ")} is not the whole sweep`);
}

test("frames spread over the focus, not over time", () => {
  const fast = even(120).map((t) => t ** 3); // slow at first
  const waiting = [...even(40, 0, 0), ...even(60), ...even(50, 1, 1)];
  assertSpread(chosenFocus(even(120)), "steady");
  assertSpread(chosenFocus(fast), "accelerating");
  assertSpread(chosenFocus(waiting), "waiting at both ends");
  assertSpread(chosenFocus(even(120).reverse()), "far to near");
  assertSpread(chosenFocus(waiting, 0.15), "noisy");
});

test("of a focus that goes to and fro one way is taken", () => {
  assertSpread(chosenFocus([...even(80), ...even(80).reverse()]), "there and back");
  assertSpread(chosenFocus([...even(60), ...even(60).reverse(), ...even(90)]), "three times");
  assertSpread(chosenFocus([...even(30, 0.5, 0), ...even(90)]), "from the middle");
});

test("a video in which the focus stands still is no sweep", () => {
  assert.equal(chooseSweep(sweep(even(100, 0.4, 0.4), 0.15)), undefined);
  assert.equal(chooseSweep([frame(0)]), undefined);
});

test("frames in which something moves are passed over", () => {
  const focus = even(100);
  const moving = new Set([0, 22, 23, 47, 48, 49, 50, 51, 80]);
  const described = focus.map((at, t) => frame(at, { moved: moving.has(t) ? 30 : 0 }));
  const choice = chooseSweep(described);
  assert.ok(choice);
  assert.deepEqual(choice.frames.filter((t) => moving.has(t)), []); // prettier-ignore
  assert.ok(choice.moving >= 5, `${choice.moving} were left out`);
  assertSpread(choice.frames.map((t) => focus[t] as number), "with motion"); // prettier-ignore
});

test("as many as asked for", () => {
  for (const count of [2, 7, 25]) assert.equal(chooseSweep(sweep(even(100)), { count })?.frames.length, count);
});

test("the detail of a frame is the energy of its Laplacian, block by block", () => {
  const [width, height] = [120, 90];
  const values = Uint8Array.from({ length: width * height }, (_, i) => (i % width < 60 ? 100 : 100 + 20 * ((i % width) & 1)));
  const { detail, tone } = describeFrame({ width, height, values });
  assert.equal(detail[0], 0);
  assert.equal(detail[9], 100); // stripes 20 apart: a pixel is 10 above or below the mean of its four neighbours
  assert.deepEqual([tone[0], tone[9]], [100, 110]);
});
