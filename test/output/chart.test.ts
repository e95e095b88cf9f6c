import assert from "node:assert/strict";
import { test } from "node:test";
import { chartFile, drawChart, type Chart } from "../../src/output/chart.ts";

const chart: Chart = {
  title: "a < b",
  x: { title: "steps", from: 0 },
  y: { title: "error" },
  series: [{ name: "one", points: [[0, 1], [5, 3], [10, 2]] }], // prettier-ignore
};

/** The corners of the plane are (64, 274) and (450, 30). */
const points = (svg: string): number[][] =>
  [...svg.matchAll(/points="([^"]*)"/g)].map(([, text = ""]) => text.split(/[ ,]/).map(Number)); // prettier-ignore

test("values land where the axes say, worked by hand", () => {
  assert.deepEqual(points(drawChart(chart)), [[64, 274, 257, 30, 450, 152]]); // 1 is the lowest, 3 the highest, 2 halfway
  assert.match(drawChart(chart), /a &#60; b/);
  assert.equal(drawChart(chart).match(/<circle/g), null);
  assert.equal(drawChart({ ...chart, marks: true }).match(/<circle/g)?.length, 3);
});

test("equal factors are equal steps on a logarithmic axis, and what has no logarithm is left out", () => {
  const series = [{ name: "power", points: [[1, 0], [1, 1], [10, 10], [100, 100], [-5, 1]] as const }]; // prettier-ignore
  const [[x0, y0, x1, y1, x2, y2] = []] = points(
    drawChart({ ...chart, x: { title: "", logarithmic: true }, y: { title: "", logarithmic: true }, series }),
  );
  assert.deepEqual([x0, y0, x1, y1, x2, y2], [64, 274, 257, 152, 450, 30]);
});

test("a logarithmic axis starts and ends at round values", () => {
  const series = [{ name: "", points: [[3, 1], [40, 2]] as const }]; // prettier-ignore
  const svg = drawChart({ ...chart, x: { title: "", logarithmic: true }, series });
  const labels = [...svg.matchAll(/text-anchor="middle">([\d.]+)</g)].map(([, label]) => label);
  assert.deepEqual(labels, ["2", "5", "10", "20", "50"]);
});

test("values to be written can be given", () => {
  const svg = drawChart({ ...chart, x: { title: "", at: [0, 5] } });
  assert.deepEqual(
    [...svg.matchAll(/x="([\d.]+)" y="290" text-anchor="middle">(\d+)</g)].map(([, x, label]) => [x, label]),
    [
      ["64.0", "0"],
      ["257.0", "5"],
    ],
  );
});

test("names that would overlap are pushed apart", () => {
  const series = ["a", "b"].map((name) => ({ name, points: [[0, 0], [1, 1]] as const })); // prettier-ignore
  const svg = drawChart({ ...chart, series });
  const heights = [...svg.matchAll(/y="([\d.]+)" fill="#\w+">[ab]</g)].map(([, y]) => Number(y));
  assert.deepEqual(heights, [34, 47]);
});

test("nothing to draw is nothing; one value alone is drawn; a file names its format", () => {
  assert.equal(drawChart({ ...chart, series: [{ name: "x", points: [[NaN, 1]] }] }), "");
  const one = chartFile({ ...chart, series: [{ name: "x", points: [[2, 5]] }] });
  assert.doesNotMatch(one, /NaN|Infinity/);
  assert.match(one, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox/);
});
