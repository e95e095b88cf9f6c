import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import type { Finding } from "../../../src/check/finding.ts";
import { checkSummary, depthText, engineWords, errorText, inPageWords, shareDone } from "../../../web/src/state/words.ts";

test("advice for the command becomes advice for the page", () => {
  assert.equal(
    inPageWords("correct the focus distances, give others with --distances, or --unit index to go by the order of the files"),
    "Correct the focus distances, enter others beside the pictures, or choose “I don’t know” to go by the order of the files.",
  );
  assert.equal(
    inPageWords("check that they show one still scene; give --align off if they need no aligning"),
    "Check that they show one still scene; if they need no aligning, untick “Align the pictures”.",
  );
  assert.equal(inPageWords("replace or remove the file"), "Replace or remove the file.");
});

test("no advice of the library names an option of the command", () => {
  const root = join(import.meta.dirname, "..", "..", "..", "src");
  const texts = ["check", "stack", "align"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) =>
        [...readFileSync(join(root, folder, file), "utf8").matchAll(/"([^"\n]*\s--[a-z][^"\n]*)"/g)].map(([, text]) => text as string),
      ),
  );
  assert.ok(texts.length >= 5, `only ${texts.length} found`);
  assert.deepEqual(
    texts.filter((text) => inPageWords(text).includes("--")),
    [],
  );
});

const finding = (severity: Finding["severity"]): Finding => ({ code: "shake", severity, message: "m", remedy: "r" });

test("the check is told in one sentence, the worst first", () => {
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

test("progress only grows from stage to stage, and ends at one", () => {
  const shares = (["read", "align", "check", "infer", "enlarge"] as const).flatMap((stage) =>
    [0, 1, 2].map((done) => shareDone({ stage, done, of: 2 })),
  );
  assert.deepEqual(
    shares,
    [...shares].sort((a, b) => a - b),
  );
  assert.equal(shares.at(-1), 1);
  assert.equal(shareDone({ stage: "weights", done: 0, of: 0 }), 0);
});

test("the page says where it computes", () => {
  assert.equal(engineWords({ status: "ready", device: "wasm", threads: 1, reason: "" }), "Ready: processor, 1 thread");
  assert.equal(engineWords({ status: "ready", device: "webgpu", threads: 1, reason: "" }), "Ready: graphics card");
  assert.equal(engineWords({ status: "loading", progress: { stage: "weights", done: 1, of: 2 } }), "Loading the model …");
});
