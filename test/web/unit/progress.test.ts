import assert from "node:assert/strict";
import { test } from "node:test";

import {
  advance,
  begin,
  expectedWork,
  learnedRates,
  RATES,
  replanned,
  shareShown,
  STAGES,
  type Progress,
  type StageStep,
} from "../../../web/src/state/progress.ts";

const close = (a: number, b: number): void => {
  assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);
};

/** The progress after each step; every step takes as long as `pace` times what was expected. */
function follow(start: Progress, steps: readonly StageStep[]): Progress[] {
  const all = [start];
  for (const [n, step] of steps.entries()) all.push(advance(all.at(-1) as Progress, step, n + 1));
  return all;
}

test("the share is the part of the expected work that is done", () => {
  const progress = begin({ read: 2, infer: 8 }, { now: 0 });
  assert.equal(progress.share, 0);
  close(advance(progress, { stage: "read", done: 1, of: 2 }, 1).share, 0.1);
  close(advance(progress, { stage: "read", done: 2, of: 2 }, 1).share, 0.2);
  close(advance(progress, { stage: "infer", done: 1, of: 2 }, 1).share, 0.6); // what comes before is done as well
});

test("a run after a check begins where the check has ended", () => {
  close(begin({ read: 2, align: 2, infer: 4 }, { left: { infer: 4 }, now: 0 }).share, 0.5);
});

test("more work than expected slows the bar; it never falls, and ends at one", () => {
  const steps: StageStep[] = [
    { stage: "read", done: 1, of: 1 },
    { stage: "check", done: 1, of: 1 },
    { stage: "read", done: 1, of: 4 }, // again, in a larger size
    { stage: "read", done: 2, of: 4 },
    { stage: "read", done: 4, of: 4 },
    { stage: "infer", done: 1, of: 2 },
    { stage: "infer", done: 2, of: 2 },
    { stage: "enlarge", done: 1, of: 1 },
  ];
  const shares = follow(begin({ read: 4, check: 1, infer: 3, enlarge: 2 }, { now: 0 }), steps).map(({ share }) => share);
  assert.deepEqual(
    shares,
    [...shares].sort((a, b) => a - b),
  );
  close(shares[2] as number, 0.5);
  assert.ok((shares[5] as number) > 0.5);
  close(shares.at(-1) as number, 1);
});

test("it names the stage that is under way, not the one that has ended", () => {
  const names = follow(begin({ read: 1, align: 1, infer: 1 }, { now: 0 }), [
    { stage: "read", done: 1, of: 2 },
    { stage: "read", done: 2, of: 2 },
    { stage: "align", done: 50, of: 100 },
    { stage: "align", done: 100, of: 100 },
  ]).map(({ stage }) => stage);
  assert.deepEqual(names, ["read", "read", "align", "align", "infer"]);
});

test("the time left follows the pace of what has been done", () => {
  const started = begin({ read: 10, infer: 30 }, { now: 0 });
  assert.equal(started.secondsLeft, undefined);
  const slow = advance(started, { stage: "read", done: 1, of: 1 }, 21); // twice as long as expected
  close(slow.secondsLeft ?? 0, 30 * (22 / 11));
});

test("where steps come in percent, the next is expected to be as long as the last", () => {
  const { next } = advance(begin({ infer: 10 }, { now: 0 }), { stage: "infer", done: 20, of: 100 }, 2);
  close(next.share, 0.4);
  close(next.seconds, 2);
});

test("between two steps the bar moves as fast as expected, then ever slower, and not beyond the next step", () => {
  const bar = { share: 0.2, next: { share: 0.6, seconds: 10 } };
  close(shareShown(bar, 0), 0.2);
  close(shareShown(bar, 5), 0.4);
  const later = [8, 10, 20, 100, 1e6].map((seconds) => shareShown(bar, seconds));
  assert.deepEqual(
    later,
    [...later].sort((a, b) => a - b),
  );
  assert.ok((later.at(-1) as number) <= 0.6);
});

test("knowing more of the stack does not move the bar", () => {
  const progress = advance(begin({ open: 1, infer: 9 }, { now: 0 }), { stage: "open", done: 1, of: 1 }, 1);
  const planned = begin({ open: 1, infer: 99 }, { left: { infer: 99 }, now: 1 });
  assert.equal(replanned(progress, planned).share, progress.share);
  close(advance(replanned(progress, planned), { stage: "infer", done: 1, of: 1 }, 9).share, 1);
});

test("every stage takes some time, more of it for more and larger images", () => {
  const small = expectedWork({ planes: 5, width: 600, height: 400 });
  const many = expectedWork({ planes: 30, width: 600, height: 400 });
  const large = expectedWork({ planes: 5, width: 6000, height: 4000 });
  for (const stage of STAGES) assert.ok(small[stage] > 0 && many[stage] >= small[stage] && large[stage] >= small[stage], stage);
  assert.ok(many.align > 5 * small.align && large.enlarge > 50 * small.enlarge && large.infer < 10 * small.infer);
});

test("images that the network sees in two sizes take the time of both", () => {
  const infer = (width: number, height: number): number => expectedWork({ planes: 5, width, height }).infer / (5 * RATES.infer);
  close(infer(570, 380), 0.57 * 0.38);
  close(infer(600, 400), 0.6 * 0.4 + 0.384 * 0.256);
  close(infer(6000, 4000), 0.768 * 0.512 + 0.384 * 0.256);
});

test("a machine's own speed is learned from its runs; stages that had nothing to do teach nothing", () => {
  const facts = { planes: 5, width: 600, height: 400 };
  const expected = expectedWork(facts);
  const learned = learnedRates(RATES, facts, { infer: 3 * expected.infer, read: 0.001 * expected.read });
  close(learned.infer, 2 * RATES.infer);
  assert.equal(learned.read, RATES.read);
});
