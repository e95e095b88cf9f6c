import assert from "node:assert/strict";
import { test } from "node:test";

import { DualFocusError, ERRORS, remedies, type ErrorCode, type OwnRemedies, type Remedy } from "../src/errors.ts";

test("an error carries its code, its facts and the kind that its code has", () => {
  const cause = new Error("from below");
  const error = new DualFocusError("sizes-differ", "a.png is 4×4, b.png 5×5", { facts: { file: "b.png" }, cause });
  assert.deepEqual([error.code, error.kind, error.facts, error.cause], ["sizes-differ", "input", { file: "b.png" }, cause]);
  assert.ok(error instanceof Error);
  assert.equal(new DualFocusError("distances-missing", "m").kind, "metadata");
});

test("codes are kebab-case, and what all faces share names no option", () => {
  for (const [code, entry] of Object.entries(ERRORS)) {
    assert.match(code, /^[a-z]+(-[a-z]+)*$/);
    if ("remedy" in entry) assert.doesNotMatch(entry.remedy, /(^|\s)--?[a-z]/, code);
  }
});

test("a face's own words come before the shared ones, and may use the facts", () => {
  const missing = Object.entries(ERRORS).flatMap(([code, entry]): [string, Remedy][] => ("remedy" in entry ? [] : [[code, "own"]]));
  const own: Record<string, Remedy> = { ...Object.fromEntries(missing), "sizes-differ": ({ file }) => `remove ${String(file)}` };
  const remedyOf = remedies(own as OwnRemedies);
  const say = (code: ErrorCode): string => remedyOf({ code, facts: { file: "b.png" } });
  assert.deepEqual([say("sizes-differ"), say("no-stack"), say("units-mixed")], ["remove b.png", "own", ERRORS["units-mixed"].remedy]);
});
