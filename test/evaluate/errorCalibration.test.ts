import assert from "node:assert/strict";
import { test } from "node:test";

import { COVERAGE, fitErrorModel, type CalibrationPixels } from "../../src/evaluate/errorCalibration.ts";
import { CUES, expectedError, type Cue } from "../../src/network/facts.ts";
import { createRandom } from "../../src/random.ts";

/** Pixels whose |error| is exponential, with a scale that grows with the spread and falls with the evidence; the other cues say nothing. */
function pixels(seed: number, count: number): CalibrationPixels {
  const random = createRandom(seed);
  const draw = (most: number): Float32Array => Float32Array.from({ length: count }, () => most * random.uniform());
  const cues = { spread: draw(1.5), unrest: draw(0.5), evidence: draw(1), disagreement: draw(2) };
  const off = cues.spread.map((spread, i) => -Math.log(1 - random.uniform()) * trueScale(spread, cues.evidence[i] as number));
  return { cues, off, weights: new Float32Array(count).fill(1) };
}
const trueScale = (spread: number, evidence: number): number =>
  0.1 * Math.exp(1.2 * Math.max(spread, 0.3)) * 3 ** Math.max(1 - evidence / 0.2, 0);

test("the model finds the 68 % quantile for every value of the cues, on pixels it was not fitted on", () => {
  const error = expectedError(fitErrorModel(pixels(1, 20_000)));
  const { cues, off } = pixels(2, 20_000);
  const at = (i: number): Record<Cue, number> => Object.fromEntries(CUES.map((cue) => [cue, cues[cue][i]])) as Record<Cue, number>;
  const share = (holds: (i: number) => boolean): number => {
    const chosen = [...off.keys()].filter(holds);
    return chosen.filter((i) => (off[i] as number) <= error(at(i))).length / chosen.length;
  };
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
  const claimed = error({ spread: 1, unrest: 0.2, evidence: 0.6, disagreement: 1 });
  const exact = -Math.log(1 - COVERAGE) * trueScale(1, 0.6);
  assert.ok(Math.abs(claimed / exact - 1) < 0.12, `${claimed}, exactly ${exact}`);
});

test("pixels without weight do not count", () => {
  const some = pixels(3, 4000);
  const both = {
    cues: Object.fromEntries(CUES.map((cue) => [cue, Float32Array.from([...some.cues[cue], ...some.cues[cue]])])) as Record<
      Cue,
      Float32Array
    >,
    off: Float32Array.from([...some.off, ...some.off.map((value) => 50 * value)]),
    weights: Float32Array.from({ length: 8000 }, (_, i) => (i < 4000 ? 1 : 0)),
  };
  assert.deepEqual(fitErrorModel(both), fitErrorModel(some));
});
