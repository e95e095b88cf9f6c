import assert from "node:assert/strict";
import { test } from "node:test";

import type { ViewResult } from "../../../web/src/contract.ts";
import { begin } from "../../../web/src/state/progress.ts";
import { turned } from "../../../web/src/state/distances.ts";
import { INITIAL, reduce, shownDraft, stepOf, type Action, type State } from "../../../web/src/state/state.ts";
import type { CheckAnswer, OpenedStack } from "../../../web/src/worker/protocol.ts";

const stack: OpenedStack = {
  id: 1,
  leftOut: [],
  name: "desk",
  unit: "m",
  width: 300,
  height: 200,
  notes: [],
  planes: [
    { file: "a.png", frame: 0, value: 0.5, source: "stack.json" },
    { file: "b.png", frame: 1, value: 0.8, source: "stack.json" },
  ],
};
const result = { name: "desk" } as ViewResult;
const after = (...actions: Action[]): State => actions.reduce(reduce, INITIAL);
const running: Action = { kind: "run", progress: begin({ infer: 1 }, { now: 0 }) };

/** The answer of a check that found this order. */
const found = (planes: readonly number[]): CheckAnswer => ({
  findings: [],
  order: { planes, nearest: "", certainty: "likely", probability: 0.9, sorted: false, reversed: false, evidence: [], sentence: "" },
});

test("images without distances are shown in the order the check found, until the user arranges them", () => {
  const checked = after(
    { kind: "opened", stack: { ...stack, unit: "index" } },
    { kind: "check", check: { status: "done", ...found([1, 0]) } },
  );
  assert.deepEqual(shownDraft(checked).order, [1, 0]);
  const arranged = reduce(checked, { kind: "draft", draft: turned(shownDraft(checked)) });
  assert.deepEqual([shownDraft(arranged).order, arranged.draft.isArranged], [[0, 1], true]);
  const known = after({ kind: "opened", stack }, { kind: "check", check: { status: "done", ...found([1, 0]) } });
  assert.deepEqual(shownDraft(known).order, [0, 1]);
});

test("the way through the page: start, setup, run, result, and back", () => {
  assert.equal(stepOf(INITIAL), "start");
  assert.equal(stepOf(after({ kind: "opening", opening: { stage: "open", done: 0, of: 2 } })), "start");
  assert.equal(stepOf(after({ kind: "opened", stack })), "setup");
  assert.equal(stepOf(after({ kind: "opened", stack }, running)), "run");
  assert.equal(stepOf(after({ kind: "opened", stack }, running, { kind: "result", result, stack: 1 })), "result");
  assert.equal(
    stepOf(after({ kind: "opened", stack }, running, { kind: "result", result, stack: 1 }, { kind: "go", place: "setup" })),
    "setup",
  );
  assert.equal(stepOf(after({ kind: "opened", stack }, running, { kind: "run", progress: undefined })), "setup");
  assert.equal(stepOf(after({ kind: "opened", stack }, { kind: "go", place: "start" })), "start");
});

test("a bad drop takes nothing away: opened stack, result and place stay", () => {
  const shown = after({ kind: "opened", stack }, running, { kind: "result", result, stack: 1 });
  const dropped = [
    { kind: "opening", opening: { stage: "open", done: 0, of: 1 } },
    { kind: "problem", problem: { message: "no images" } },
  ] as const;
  const { problem, ...rest } = dropped.reduce<State>(reduce, shown);
  assert.equal(problem?.message, "no images");
  assert.deepEqual({ ...rest, problem: undefined }, shown);
});

test("another stack leaves the last result where it was, until there is a new one", () => {
  const other = after(
    { kind: "opened", stack },
    running,
    { kind: "result", result, stack: 1 },
    { kind: "opened", stack: { ...stack, id: 2 } },
  );
  assert.equal(stepOf(other), "setup");
  assert.equal(stepOf(reduce(other, { kind: "go", place: "result" })), "result");
  const gone = reduce(reduce(other, { kind: "go", place: "result" }), { kind: "forget" });
  assert.deepEqual([gone.place, gone.result, gone.stored.status], ["setup", undefined, "none"]);
});

test("nobody is led to where there is nothing to see", () => {
  assert.equal(after({ kind: "go", place: "result" }).place, "start");
  assert.equal(after({ kind: "opened", stack }, { kind: "go", place: "result" }).place, "setup");
});

test("a first look is shown while the run lasts, and not after it was cancelled", () => {
  const look = { depth: {}, seconds: 1 } as never;
  const looking = after({ kind: "opened", stack }, running, { kind: "firstLook", look });
  assert.ok(looking.firstLook);
  const cancelled = reduce(looking, { kind: "run", progress: undefined });
  assert.equal(cancelled.firstLook, undefined);
  assert.equal(reduce(cancelled, { kind: "firstLook", look }).firstLook, undefined);
});

test("images left out keep their distances while the others change", () => {
  const left = { ...stack, planes: stack.planes.slice(0, 1), leftOut: [{ file: "b.png", frame: 1 }] };
  const { draft } = after({ kind: "opened", stack }, { kind: "focused", stack: left });
  assert.deepEqual([draft.order, draft.leftOut, draft.texts], [[0], [1], { 0: "0.5", 1: "0.8" }]);
});

test("a run that fails goes back to the pictures and says why", () => {
  const state = after({ kind: "opened", stack }, running, { kind: "problem", problem: { message: "no memory" } });
  assert.equal(stepOf(state), "setup");
  assert.equal(state.problem?.message, "no memory");
  assert.equal(reduce(state, running).problem, undefined);
});

test("the network stays ready whatever is opened; the thumbnails of the last stack do not", () => {
  const engine = { status: "ready", device: "wasm", threads: 2, reason: "" } as const;
  const state = after(
    { kind: "engine", engine },
    { kind: "thumbnail", frame: 0, url: "blob:1" },
    { kind: "opening", opening: { stage: "open", done: 0, of: 2 } },
    { kind: "opened", stack },
  );
  assert.deepEqual(state.engine, engine);
  assert.deepEqual(state.thumbnails, {});
});

test("distances the worker took are the fields' new content, and must be checked again", () => {
  const edited = after({ kind: "opened", stack }, { kind: "check", check: { status: "done", ...found([0, 1]) } });
  const wrong = reduce(edited, { kind: "unfocused", problem: { message: "the same distance" } });
  assert.equal(wrong.draftProblem?.message, "the same distance");
  const planes = [
    { ...stack.planes[0], value: 900, source: "argument" as const },
    { ...stack.planes[1], value: 1000 },
  ] as never;
  const right = reduce(wrong, { kind: "focused", stack: { ...stack, unit: "mm", planes } });
  assert.deepEqual(right.draft, { unit: "mm", texts: { 0: "900", 1: "1000" }, order: [0, 1], leftOut: [], isArranged: false });
  assert.equal(right.draftProblem, undefined);
  assert.equal(right.check.status, "waiting");
});
