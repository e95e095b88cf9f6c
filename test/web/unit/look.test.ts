import assert from "node:assert/strict";
import { test } from "node:test";

import { LEAST_CONFIDENCE } from "../../../src/output/trust.ts";
import { CONFIDENCE_CHOICES, FIRST_LOOK, MAP_NAMES, percentText, withEnd } from "../../../web/src/state/look.ts";
import { COLOR_MAPS } from "../../../src/output/colorMap.ts";
import { INITIAL, reduce } from "../../../web/src/state/state.ts";
import type { ViewResult } from "../../../web/src/contract.ts";

const full = [1, 3] as const;

test("an end of the colour range goes where it is dragged, within the range of the data", () => {
  assert.deepEqual(withEnd(full, { end: 0, share: 0.25, full }), [1.5, 3]);
  assert.deepEqual(withEnd(full, { end: 1, share: 0.25, full }), [1, 1.5]);
  assert.deepEqual(withEnd(full, { end: 0, share: -1, full }), [1, 3]);
  assert.deepEqual(withEnd(full, { end: 1, share: 9, full }), [1, 3]);
});

test("the ends never meet or pass", () => {
  assert.deepEqual(withEnd([1, 2], { end: 0, share: 1, full }), [1.98, 2]);
  assert.deepEqual(withEnd([2, 3], { end: 1, share: 0, full }), [2, 2.02]);
});

test("the limits on offer are the confidences of their errors, the default among them", () => {
  const confidence = (planes: number): number => 1 / (1 + (2 * planes) ** 2);
  for (const [i, planes] of [2, 1, 0.5, 0.25].entries())
    assert.ok(Math.abs((CONFIDENCE_CHOICES[i + 1]?.[0] ?? NaN) - confidence(planes)) < 1e-12);
  assert.ok(CONFIDENCE_CHOICES.some(([value]) => value === LEAST_CONFIDENCE && value === FIRST_LOOK.leastConfidence));
  assert.deepEqual(
    MAP_NAMES.map(([map]) => map),
    [...COLOR_MAPS],
  );
});

test("a small share is not called nothing", () => {
  assert.deepEqual([0, 0.001, 0.21].map(percentText), ["0 %", "less than 1 %", "21 %"]);
});

test("the look stays the same from tab to tab and starts afresh with a new result", () => {
  const zoomed = reduce(INITIAL, { kind: "look", look: { viewport: { zoom: 3, x: 0.5, y: 0.5 }, flip: true } });
  const elsewhere = reduce(zoomed, { kind: "view", view: "picture" });
  assert.deepEqual([elsewhere.look.viewport.zoom, elsewhere.look.flip, elsewhere.look.map], [3, true, "turbo"]);
  assert.deepEqual(reduce(elsewhere, { kind: "result", result: {} as ViewResult, stack: 1 }).look, FIRST_LOOK);
});
