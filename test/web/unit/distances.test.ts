import assert from "node:assert/strict";
import { test } from "node:test";

import { draftOf, inFileOrder, moved, readDraft, turned, withFrame, withoutFrame, type Draft } from "../../../web/src/state/distances.ts";
import { entered } from "../../../web/src/state/enteredDistances.ts";

const opened = {
  id: 1,
  leftOut: [],
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
  assert.deepEqual(draftOf(opened), { unit: "mm", texts: { 0: "61.5", 1: "60" }, order: [1, 0], leftOut: [], isArranged: false });
});

test("positions far from zero stay apart in the fields, without the digits of rounding errors", () => {
  const values = [12000.05, 12000.1, 12000.15, 0.1 + 0.2];
  const planes = values.map((value, frame) => ({ file: "cells.ome.tif", frame, value, source: "OME-TIFF" as const }));
  const draft = draftOf({ ...opened, unit: "um", planes });
  assert.deepEqual(Object.values(draft.texts), ["12000.05", "12000.1", "12000.15", "0.3"]);
  assert.deepEqual(readDraft(withoutFrame(draft, 3)), {
    choice: { unit: "um", values: { 0: 12000.05, 1: 12000.1, 2: 12000.15 }, leftOut: [3] },
  });
});

test("a stack in plane indices begins with empty fields", () => {
  assert.deepEqual(draftOf({ ...opened, unit: "index" }), { unit: "index", texts: {}, order: [1, 0], leftOut: [], isArranged: false });
});

test("what stands in the fields is read back in the order of the names", () => {
  assert.deepEqual(readDraft(draftOf(opened)), { choice: { unit: "mm", values: { 0: 61.5, 1: 60 }, leftOut: [] } });
});

const draft = (unit: Draft["unit"], ...texts: string[]): Draft => ({
  unit,
  texts: Object.fromEntries(texts.entries()),
  order: [...texts.keys()],
  leftOut: [],
  isArranged: false,
});

test("commas, units beside the number and infinity are read as people mean them", () => {
  const read = (unit: "m" | "dpt", ...texts: string[]): unknown => {
    const found = readDraft(draft(unit, ...texts));
    return "choice" in found ? Object.values(found.choice.values ?? {}) : found;
  };
  assert.deepEqual(read("m", "0,5", "650 mm", " 1.2m ", "inf"), [0.5, 0.65, 1.2, Infinity]);
  assert.deepEqual(read("dpt", "2", "0.5 m", "∞"), [2, 2, 0]);
});

test("what the command takes for a whole stack fills all fields, in the order of the file names", () => {
  const empty = { ...draft("mm", "", "", ""), order: [2, 0, 1], leftOut: [3] };
  const fields = ({ unit, texts }: Draft): unknown => [unit, ...Object.values(texts)];
  assert.deepEqual(fields(entered(empty, 0, "150mm+0.1mm")), ["mm", "150", "150.1", "150.2"]);
  assert.deepEqual(fields(entered(empty, 2, "60+-1.5")), ["mm", "60", "58.5", "57"]);
  assert.deepEqual(fields(entered(empty, 1, "50cm, 0.7m, 900mm")), ["m", "0.5", "0.7", "0.9"]);
  assert.deepEqual(fields(entered(empty, 1, "60 61 63")), ["mm", "60", "61", "63"]);
  assert.deepEqual(fields(entered(empty, 1, "0.5m 1m inf")), ["dpt", "2", "1", "0"]);
  // One distance, a decimal comma too, is that of its image alone; so is what is not one for each image, which readDraft then names.
  for (const text of ["61,5", "0.06 m", "60, 61", "0,5;0,7;1,0", "near", "1m 2dpt 3index"])
    assert.deepEqual(fields(entered(empty, 1, text)), ["mm", "", text, ""]);
  assert.deepEqual(readDraft(entered(draft("m", "1", "2"), 0, "1 2 3")), { wrong: 0, text: "1 2 3" });
});

test("a unit beside a number is converted to centimetres, too", () => {
  assert.deepEqual(readDraft(draft("cm", "50", "0.7 m", "900mm")), {
    choice: { unit: "cm", values: { 0: 50, 1: 70, 2: 90 }, leftOut: [] },
  });
});

test("a field that is no distance is named; an empty one is only not finished", () => {
  assert.deepEqual(readDraft(draft("m", "0.5", "near")), { wrong: 1, text: "near" });
  assert.deepEqual(readDraft(draft("m", "0.5", "-inf")), { wrong: 1, text: "-inf" });
  assert.deepEqual(readDraft(draft("m", "0.5", "")), { unfinished: 1 });
});

test("“I don't know” needs no numbers; an order that is not that of the names is passed on", () => {
  assert.deepEqual(readDraft(draft("index", "rubbish", "")), { choice: { unit: "index", leftOut: [] } });
  const backwards = turned(draft("index", "", "", ""));
  assert.deepEqual(readDraft(backwards), { choice: { unit: "index", leftOut: [], order: [2, 1, 0] } });
  assert.deepEqual(inFileOrder(backwards).order, [0, 1, 2]);
});

test("images move, and the distances stay at their places", () => {
  const three = draft("m", "1", "2", "3");
  const front = moved(three, 2, 0);
  assert.deepEqual([front.order, front.texts], [[2, 0, 1], { 2: "1", 0: "2", 1: "3" }]);
  assert.deepEqual(moved(front, 2, 2), { ...three, isArranged: true });
  assert.deepEqual(turned(three).texts, { 2: "1", 1: "2", 0: "3" });
});

test("an image that is left out keeps its distance, and comes back to its place", () => {
  const three = draft("m", "1", "2", "3");
  const two = withoutFrame(three, 1);
  assert.deepEqual(readDraft(two), { choice: { unit: "m", values: { 0: 1, 2: 3 }, leftOut: [1] } });
  assert.deepEqual(withFrame(two, 1), three);
  const falling = turned(draft("index", "", "", ""));
  assert.deepEqual(withFrame(withoutFrame(falling, 0), 0).order, [2, 1, 0]);
});
