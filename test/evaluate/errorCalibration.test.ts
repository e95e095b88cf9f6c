import assert from "node:assert/strict";
import { test } from "node:test";

import { claimedErrors, COVERAGE, fitErrorModel, type CalibrationPixels } from "../../src/evaluate/errorCalibration.ts";
import { byCue, type ErrorModel } from "../../src/network/facts.ts";
import { createRandom } from "../../src/random.ts";

const STACKS = 8;

/**
 * Pixels whose |error| is exponential, with a scale that grows with the spread and falls with the evidence; the other cues say nothing. A stack that is `harder` by
 * some factor has errors larger by its square, while each pixel shows it only by its disagreement.
 */
function pixels(seed: number, count: number, harder: (stack: number) => number = () => 1): CalibrationPixels {
  const random = createRandom(seed);
  const most = { spread: 1.5, tail: 0.6, unrest: 0.5, ripple: 0.5, evidence: 1, surroundings: 1, region: 1, enclosure: 1, disagreement: 2 };
  const factor = (i: number): number => harder(Math.floor((i * STACKS) / count));
  const cues = byCue((cue) => Float32Array.from({ length: count }, () => most[cue] * random.uniform()));
  if (harder(0) !== 1) for (let i = 0; i < count; i++) cues.disagreement[i] = (cues.disagreement[i] as number) * factor(i) ** 2;
  const off = cues.spread.map(
    (spread, i) => -Math.log(1 - random.uniform()) * trueScale(spread, cues.evidence[i] as number) * factor(i) ** 2,
  );
  const stacks = Array.from({ length: STACKS }, () => ({ pixels: count / STACKS, planes: 5, mismatch: 0.02 }));
  return { cues, stacks, off, weights: new Float32Array(count).fill(1) };
}
const trueScale = (spread: number, evidence: number): number =>
  0.1 * Math.exp(1.2 * Math.max(spread, 0.3)) * 3 ** Math.max(1 - evidence / 0.2, 0);

const shareWithin = ({ off }: CalibrationPixels, claimed: Float32Array, holds: (i: number) => boolean): number => {
  const chosen = [...off.keys()].filter(holds);
  return chosen.filter((i) => (off[i] as number) <= (claimed[i] as number)).length / chosen.length;
};

test("the model finds the 68 % quantile for every value of the cues, on pixels it was not fitted on", () => {
  const others = pixels(2, 60_000);
  const { cues } = others;
  const claimed = claimedErrors(fitErrorModel(pixels(1, 40_000)), others);
  const share = (holds: (i: number) => boolean): number => shareWithin(others, claimed, holds);
  assert.ok(Math.abs(share(() => true) - COVERAGE) < 0.02, `${share(() => true)}`);
  for (const [cue, from, to] of [
    ["spread", 0, 0.5],
    ["spread", 1, 1.5],
    ["evidence", 0, 0.04],
    ["evidence", 0.2, 1],
    ["disagreement", 1, 2],
    ["unrest", 0, 0.1],
  ] as const) {
    const within = share((i) => (cues[cue][i] as number) >= from && (cues[cue][i] as number) < to);
    assert.ok(Math.abs(within - COVERAGE) < 0.04, `${cue} ${from} to ${to}: ${within}`);
  }
  const chosen = [...claimed.keys()].filter((i) => Math.abs((cues.spread[i] as number) - 1) < 0.02 && (cues.evidence[i] as number) > 0.3);
  const mean = chosen.reduce((sum, i) => sum + (claimed[i] as number), 0) / chosen.length;
  const exact = -Math.log(1 - COVERAGE) * trueScale(1, 0.6);
  assert.ok(Math.abs(mean / exact - 1) < 0.06, `${mean}, exactly ${exact}`);
});

test("a stack that is worse than its pixels show is claimed as such, by its median", () => {
  const harder = (stack: number): number => 0.5 + 0.12 * (stack % 4);
  const others = pixels(5, 40_000, harder);
  const model = fitErrorModel(pixels(4, 20_000, harder));
  const missesOf = (used: ErrorModel): number[] => {
    const claimed = claimedErrors(used, others);
    const within = (stack: number): number => shareWithin(others, claimed, (i) => Math.floor((i * STACKS) / 40_000) === stack);
    return others.stacks.map((_, stack) => Math.abs(within(stack) - COVERAGE));
  };
  const [misses, byCuesAlone] = [missesOf(model), missesOf({ ...model, stack: { at: [0], factor: [1] } })];
  assert.ok(Math.max(...misses) < 0.08, misses.map((miss) => miss.toFixed(3)).join(" "));
  assert.ok(Math.max(...byCuesAlone) > 0.12, byCuesAlone.map((miss) => miss.toFixed(3)).join(" "));
});

test("a stack that is worse than others because its planes do not match is claimed as such, though no pixel shows it", () => {
  const mismatchOf = (stack: number): number => [0.001, 0.02, 0.1, 0.4][stack % 4] as number;
  const make = (seed: number): CalibrationPixels => {
    const { stacks, off, ...others } = pixels(seed, 40_000);
    return {
      ...others,
      stacks: stacks.map((own, stack) => ({ ...own, mismatch: mismatchOf(stack) })),
      off: off.map((value, i) => value * (1 + 5 * mismatchOf(Math.floor((i * STACKS) / 40_000)))), // up to three times
    };
  };
  const [model, others] = [fitErrorModel(make(6)), make(7)];
  const claimed = claimedErrors(model, others);
  for (let stack = 0; stack < STACKS; stack++) {
    const within = shareWithin(others, claimed, (i) => Math.floor((i * STACKS) / 40_000) === stack);
    assert.ok(Math.abs(within - COVERAGE) < 0.04, `stack ${stack}: ${within}`);
  }
  const [least, , , , most] = model.mismatch.factor as [number, number, number, number, number];
  assert.ok(Math.abs(most / least / (3 / 1.005) - 1) < 0.1, `${most / least}`);
});

test("pixels without weight do not count, but towards the median of their stack", () => {
  const some = pixels(3, 4000);
  const both: CalibrationPixels = {
    cues: byCue((cue) => Float32Array.from([...some.cues[cue], ...some.cues[cue]])),
    stacks: [...some.stacks, ...some.stacks],
    off: Float32Array.from([...some.off, ...some.off.map((value) => 50 * value)]),
    weights: Float32Array.from({ length: 8000 }, (_, i) => (i < 4000 ? 1 : 0)),
  };
  assert.deepEqual(fitErrorModel(both), fitErrorModel(some));
});
