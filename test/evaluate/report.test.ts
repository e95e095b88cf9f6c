import assert from "node:assert/strict";
import test from "node:test";
import { type ImageMetrics, METRIC_NAMES } from "../../src/evaluate/imageMetrics.ts";
import { claimsTable, csvTable, jsonEntry, markdownTable } from "../../src/evaluate/report.ts";
import type { Evaluation } from "../../src/evaluate/run.ts";
import { depthColour, errorColour } from "../../src/evaluate/colours.ts";

const metrics = {
  ...(Object.fromEntries(METRIC_NAMES.map((name) => [name, NaN])) as unknown as ImageMetrics),
  ...{ rmse: 0.12345, badPix: 0.256 },
};
const evaluation: Evaluation = {
  ...{ dataset: "hci", split: "all", protocol: "p", model: "m", images: 1, planes: 10, metrics, secondsPerImage: 1.26 },
  perImage: [{ index: 0, name: 'a "b", c', planes: 10, metrics, seconds: 1.26 }],
};

test("a table leaves out what is nowhere defined and gives shares in percent", () => {
  assert.equal(
    markdownTable([evaluation]),
    "| model | planes | images | RMSE | BadPix % | s/image |\n| --- | ---: | ---: | ---: | ---: | ---: |\n| m | 10 | 1 | 0.123 | 25.6 | 1.3 |\n",
  );
});

test("the table of objects has what they were made to show, and nothing else", () => {
  const all = Object.fromEntries(METRIC_NAMES.map((name) => [name, 0.5])) as unknown as ImageMetrics;
  assert.equal(
    markdownTable([{ ...evaluation, dataset: "object", metrics: all }]).split("\n")[0],
    "| model | planes | images | RMSE planes | silhouette | off by > 3 planes % | inside | fattening % | invalid trend % | s/image |",
  );
});

test("the tables of walls behind objects have the wall's columns, which no other set has", () => {
  const all = Object.fromEntries(METRIC_NAMES.map((name) => [name, 0.5])) as unknown as ImageMetrics;
  const walls = { ...evaluation, dataset: "backdrop", metrics: all };
  assert.equal(
    markdownTable([walls]).split("\n")[0],
    "| model | planes | images | boundary F1 | RMSE planes | textured third | wall | beside | invalid trend % | s/image |",
  );
  const claims = claimsTable([walls]);
  assert.ok(claims.includes("| untextured third | wall % | beside % | claimed planes, wall | beside |"), claims);
  assert.ok(claims.includes("| RMSE planes, wall | finished | RMSE planes, beside | finished |"), claims);
  const wallNames = METRIC_NAMES.filter((name) => /Wall|Beside/.test(name));
  assert.equal(wallNames.length, 8);
  const none = { ...all, ...Object.fromEntries(wallNames.map((name) => [name, NaN])) };
  const others = { ...evaluation, metrics: none };
  assert.doesNotMatch(markdownTable([others]) + claimsTable([others]), /wall|beside/);
});

test("a second table has what networks claim, and nothing of other methods", () => {
  const claims = { ...metrics, withinError: 0.684, sparsification: 0.5, rmseFinished: 0.12 };
  assert.equal(
    claimsTable([evaluation, { ...evaluation, model: "net", metrics: claims }]),
    "| model | planes | images | within ± error % | sparsification | RMSE | finished | s/image |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n" +
      "| net | 10 | 1 | 68.4 | 0.500 | 0.123 | 0.120 | 1.3 |\n",
  );
  assert.equal(claimsTable([evaluation]), "");
});

test("what is not defined is null in JSON and empty in CSV; names are quoted", () => {
  const entry = JSON.parse(JSON.stringify(jsonEntry(evaluation, { perImage: false }))) as { metrics: Record<string, number | null> };
  assert.deepEqual([entry.metrics["rmse"], entry.metrics["absRel"], "perImage" in entry], [0.12345, null, false]);
  assert.ok("perImage" in jsonEntry(evaluation, { perImage: true }));
  const [header = "", row = ""] = csvTable([evaluation]).split("\n");
  assert.equal(header.split(",").length, 6 + METRIC_NAMES.length);
  assert.ok(row.startsWith('hci,m,10,0,"a ""b"", c",,0.12345,'));
});

test("colour scales start and end where they should and are cut outside", () => {
  assert.deepEqual(errorColour(-1), [0, 0, 0]);
  assert.deepEqual(depthColour(2), depthColour(1));
  assert.ok(depthColour(0)[0] > depthColour(0)[2] && depthColour(6 / 7)[2] > depthColour(6 / 7)[0]); // near is red, far is blue
});
