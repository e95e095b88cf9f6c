import assert from "node:assert/strict";
import { test } from "node:test";

import type { ViewResult } from "../../../web/src/contract.ts";
import { INITIAL, reduce, stepOf, type Action, type State } from "../../../web/src/state/state.ts";
import type { OpenedStack } from "../../../web/src/worker/protocol.ts";

const stack: OpenedStack = {
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
const running: Action = { kind: "run", progress: { stage: "infer", done: 0, of: 1 } };

test("the way through the page: start, setup, run, result, and back", () => {
  assert.equal(stepOf(INITIAL), "start");
  assert.equal(stepOf(after({ kind: "opening", opening: { done: 0, of: 2 } })), "start");
  assert.equal(stepOf(after({ kind: "opened", stack })), "setup");
  assert.equal(stepOf(after({ kind: "opened", stack }, running)), "run");
  assert.equal(stepOf(after({ kind: "opened", stack }, running, { kind: "result", result })), "result");
  assert.equal(stepOf(after({ kind: "opened", stack }, running, { kind: "result", result }, { kind: "back" })), "setup");
  assert.equal(stepOf(after({ kind: "opened", stack }, running, { kind: "run", progress: undefined })), "setup");
  assert.equal(stepOf(after({ kind: "opened", stack }, { kind: "startOver" })), "start");
});

test("a run that fails goes back to the pictures and says why", () => {
  const state = after({ kind: "opened", stack }, running, { kind: "problem", problem: { message: "no memory" } });
  assert.equal(stepOf(state), "setup");
  assert.equal(state.problem?.message, "no memory");
  assert.equal(reduce(state, running).problem, undefined);
});

test("the network stays ready whatever is opened; the pictures of the last stack do not", () => {
  const engine = { status: "ready", device: "wasm", threads: 2, reason: "" } as const;
  const state = after(
    { kind: "engine", engine },
    { kind: "thumbnail", frame: 0, url: "blob:1" },
    { kind: "opening", opening: { done: 0, of: 2 } },
  );
  assert.deepEqual(state.engine, engine);
  assert.deepEqual(state.thumbnails, {});
});

test("distances the worker took are the fields' new content, and must be checked again", () => {
  const edited = after({ kind: "opened", stack }, { kind: "check", check: { status: "done", findings: [] } });
  const wrong = reduce(edited, { kind: "unfocused", problem: { message: "the same distance" } });
  assert.equal(wrong.draftProblem?.message, "the same distance");
  const planes = [
    { ...stack.planes[0], value: 900, source: "argument" as const },
    { ...stack.planes[1], value: 1000 },
  ] as never;
  const right = reduce(wrong, { kind: "focused", stack: { ...stack, unit: "mm", planes } });
  assert.deepEqual(right.draft, { unit: "mm", texts: { 0: "900", 1: "1000" } });
  assert.equal(right.draftProblem, undefined);
  assert.equal(right.check.status, "waiting");
});
