import assert from "node:assert/strict";
import { test } from "node:test";

import type { Finding } from "../../../src/check/finding.ts";
import {
  checkSummary,
  depthText,
  engineWords,
  errorText,
  findingRemedy,
  problemWords,
  sentence,
  shareLoaded,
  timeLeftWords,
} from "../../../web/src/state/words.ts";

test("errors and findings come as sentences that name the page's own fields", () => {
  const { message, remedy } = problemWords({ code: "distances-invalid", message: "a.png and b.png have the same distance", facts: {} });
  assert.equal(message, "a.png and b.png have the same distance.", "the name of a file stays as it is");
  assert.equal(remedy, "Correct the focus distances beside the images, or choose “I don’t know” to go by the order of the files.");
  assert.equal(findingRemedy({ ...finding("note"), code: "missing-distances" }), "Enter them beside the images.");
  assert.equal(findingRemedy({ ...finding("warning"), code: "unaligned", remedy: "remove it" }), "Remove it.");
  assert.match(findingRemedy({ ...finding("error"), code: "unaligned" }), /untick “Align the images”\.$/);
  assert.equal(sentence("is that so?"), "Is that so?");
});

test("an image that cannot be read is named, and can be left out; a list of distances cannot", () => {
  const words = (file: string): ReturnType<typeof problemWords> => problemWords({ code: "bad-file", message: "m", facts: { file } });
  assert.equal(words("p4.jpg").file, "p4.jpg");
  assert.match(words("p4.jpg").remedy ?? "", /it can be left out\.$/);
  assert.doesNotMatch(words("stack.json").remedy ?? "", /left out/);
});

const finding = (severity: Finding["severity"]): Finding => ({ code: "shake", severity, message: "m", remedy: "r" });

test("the check is summarised in one sentence, the worst first", () => {
  assert.equal(checkSummary([]), "This stack looks good.");
  assert.equal(checkSummary([finding("note")]), "This stack looks good; see the notes.");
  assert.equal(checkSummary([finding("note"), finding("warning")]), "One problem may make depth less accurate.");
  assert.equal(checkSummary([finding("warning"), finding("error"), finding("error")]), "2 problems must be fixed first.");
});

test("a depth comes with the unit that reads best; planes are counted from one", () => {
  assert.equal(depthText(0.70852, { unit: "m", largest: 1.5 }), "0.7085 m");
  assert.equal(depthText(0.0612, { unit: "m", largest: 0.067 }), "61.2 mm");
  assert.equal(depthText(1.5, { unit: "index", largest: 4 }), "plane 2.50");
  assert.equal(depthText(1.25, { unit: "dpt", largest: 2 }), "1.25 dpt");
  assert.equal(errorText(0.0123, { unit: "m", largest: 1.5 }), "± 0.012 m");
  assert.equal(errorText(0.0123, { unit: "m", largest: 0.5 }), "± 12 mm");
  assert.equal(errorText(0.31, { unit: "index", largest: 4 }), "± 0.31 planes");
});

test("the time left is said in words that are no more exact than it is", () => {
  const cases = [undefined, 0.4, 4.2, 33, 89, 150];
  assert.deepEqual(cases.map(timeLeftWords), [
    "",
    "about a second left",
    "about 4 s left",
    "about 35 s left",
    "about 90 s left",
    "about 3 min left",
  ]);
});

test("loading the model only moves forward", () => {
  const shares = (["runtime", "weights", "graph"] as const).flatMap((stage) =>
    [0, 1, 2].map((done) => shareLoaded({ stage, done, of: 2 })),
  );
  assert.deepEqual(
    shares,
    [...shares].sort((a, b) => a - b),
  );
  assert.equal(shares.at(-1), 1);
  assert.equal(shareLoaded({ stage: "runtime", done: 0, of: 0 }), 0);
});

test("the page says where it computes", () => {
  assert.equal(engineWords({ status: "ready", device: "wasm", threads: 1, reason: "" }), "Ready: processor, 1 thread");
  assert.equal(engineWords({ status: "ready", device: "webgpu", threads: 1, reason: "" }), "Ready: graphics card");
  assert.equal(engineWords({ status: "loading", progress: { stage: "weights", done: 1, of: 2 } }), "Loading the model …");
});
