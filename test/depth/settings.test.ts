import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";

import { depthSettings } from "../../src/depth/settings.ts";

const LONG_TEXT = "1,".repeat(10_000);

const FORMS = "expected a list of numbers, or text such as 0.5,650mm,inf";
const MORE = "there are more than 1000 focus distances";

const refusals: readonly (readonly [name: string, distances: unknown, message: string])[] = [
  ["a word in a list", [1, "a", null], "focus distance 2: expected a number"],
  ["an infinite number in a list", [1, 2, Infinity], "focus distance 3: expected a number"],
  ["a number", 5, FORMS],
  ["an object", {}, FORMS],
  ["null", null, FORMS],
  ["an empty list", [], "the list of focus distances is empty"],
  ["1001 numbers", Array.from({ length: 1001 }, (_, n) => n), MORE],
  ["a text that is too long", LONG_TEXT, "the focus distances have more than 10000 characters"],
  ["a text of 1001 numbers", LONG_TEXT.slice(0, 2001), MORE],
  [
    "a word",
    "near",
    "“near” is not a focus distance; expected numbers such as 0.5 or 650mm, or a first one and a step such as 150mm+0.1mm",
  ],
];

for (const [name, distances, message] of refusals)
  test(`distances that are ${name} are refused with one message that says why`, () => {
    const { error } = depthSettings.safeParse({ distances });
    assert.deepEqual(
      error?.issues.map((issue) => [issue.message, issue.path]),
      [[message, ["distances"]]],
    );
  });

test("numbers and texts are taken as they are; only the images say whether they are distances or positions", () => {
  for (const distances of [[0.5, 0.7], [-1, 0, 1], "0.5,650mm,inf", "-3000um+2um", undefined])
    assert.deepEqual(depthSettings.parse({ distances }).distances, distances);
  assert.ok(!("distances" in depthSettings.parse({})));
});

test("the schema for clients names both forms of the distances", () => {
  const { properties } = z.toJSONSchema(depthSettings, { io: "input" });
  const { anyOf } = properties?.["distances"] as { anyOf: unknown };
  assert.deepEqual(anyOf, [
    { type: "array", items: { type: "number" }, minItems: 1, maxItems: 1000 },
    { type: "string", maxLength: 10_000 },
  ]);
});
