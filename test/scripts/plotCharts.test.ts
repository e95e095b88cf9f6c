import assert from "node:assert/strict";
import { test } from "node:test";
import { base, small } from "../../src/model/config.ts";
import { countMultiplyAccumulates } from "../../src/model/state.ts";
import { accuracyChart, planesChart, timeChart } from "../../scripts/plotCharts.ts";

const result = (model: string, planes: number, error: number) => ({
  model,
  planes,
  images: 4,
  metrics: { rmsePlanes: error, absRel: error / 10 },
});
const printed = {
  results: [3, 5].flatMap((N) => [result("base", N, 1 / N), result("small", N, 2 / N), result("rdf", N, 4 / N)]),
};

test("networks stand at their work, the classical method goes across", () => {
  const { series } = accuracyChart(printed);
  const size = { planes: 5, height: 256, width: 256 };
  const [ours, least] = [base, small].map((config) => countMultiplyAccumulates(config, size) / 1e9) as [number, number];
  assert.deepEqual(series, [
    { name: "base", points: [[ours, 0.2]] },
    { name: "small", points: [[least, 0.4]] },
    { name: "rdf", points: [[least, 0.8], [ours, 0.8]] }, // prettier-ignore
  ]);
});

test("each model has one point for each number of planes", () => {
  const { series, title } = planesChart(printed);
  assert.match(title, /4 rendered stacks/);
  assert.deepEqual(series[1], { name: "small", points: [[3, 100 * (2 / 3 / 10)], [5, 4]] }); // prettier-ignore
});

test("times are those of five planes and the network's own grid, one stack at a time", () => {
  const row = { model: "small", planes: 5, height: 100, width: 200, median: 0.5 };
  const rows = [row, { ...row, planes: 3 }, { ...row, grid: 28 }, { ...row, batch: 8 }, { ...row, height: 200, median: 1 }];
  const { series, title } = timeChart({ description: "a machine", rows });
  assert.deepEqual(series, [{ name: "small", points: [[0.02, 0.5], [0.04, 1]] }]); // prettier-ignore
  assert.match(title, /5 planes, a machine/);
});

test("what a command did not print is refused", () => {
  assert.throws(() => planesChart({ results: [{ model: "base" }] }), /planes/);
});
