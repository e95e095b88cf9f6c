import assert from "node:assert/strict";
import { test } from "node:test";

import { draftOf, readDraft } from "../../../web/src/state/distances.ts";

const opened = {
  name: "desk",
  unit: "mm",
  width: 300,
  height: 200,
  notes: [],
  planes: [
    { file: "b.png", frame: 1, value: 60, source: "stack.json" },
    { file: "a.png", frame: 0, value: 61.5, source: "stack.json" },
  ],
} as const;

test("the fields begin with what was found, by the order of the names", () => {
  assert.deepEqual(draftOf(opened), { unit: "mm", texts: { 0: "61.5", 1: "60" } });
});

test("a stack in plane indices begins with empty fields", () => {
  assert.deepEqual(draftOf({ ...opened, unit: "index" }), { unit: "index", texts: {} });
});

test("what stands in the fields is read back in the order of the names", () => {
  assert.deepEqual(readDraft(draftOf(opened), 2), { choice: { unit: "mm", values: [61.5, 60] } });
});

test("commas, units beside the number and infinity are read as people mean them", () => {
  const read = (unit: "m" | "dpt", ...texts: string[]): unknown =>
    readDraft({ unit, texts: Object.fromEntries(texts.entries()) }, texts.length);
  assert.deepEqual(read("m", "0,5", "650 mm", " 1.2m ", "inf"), { choice: { unit: "m", values: [0.5, 0.65, 1.2, Infinity] } });
  assert.deepEqual(read("dpt", "2", "0.5 m", "∞"), { choice: { unit: "dpt", values: [2, 2, 0] } });
});

test("a field that is no distance is named; an empty one is only not finished", () => {
  assert.deepEqual(readDraft({ unit: "m", texts: { 0: "0.5", 1: "near" } }, 2), { wrong: 1, text: "near" });
  assert.deepEqual(readDraft({ unit: "m", texts: { 0: "0.5", 1: "-inf" } }, 2), { wrong: 1, text: "-inf" });
  assert.deepEqual(readDraft({ unit: "m", texts: { 0: "0.5" } }, 2), { unfinished: 1 });
});

test("“I don't know” needs no numbers", () => {
  assert.deepEqual(readDraft({ unit: "index", texts: { 0: "rubbish" } }, 2), { choice: { unit: "index" } });
});
