// Draws the plots of docs/results.md into docs/plots from what the commands there print:
//   node --import tsx scripts/plots.ts
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { chartFile } from "../src/output/chart.ts";
import { accuracyChart, planesChart, timeChart } from "../src/reproduce/plots.ts";

const folder = join(import.meta.dirname, "..", "docs", "plots");
const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), "utf8"));

const charts = {
  "accuracy.svg": accuracyChart(read("render.json")),
  "planes.svg": planesChart(read("render.json")),
  "time.svg": timeChart(read("bench.json")),
};
for (const [name, chart] of Object.entries(charts)) writeFileSync(join(folder, name), chartFile(chart));
