// Draws the plots of docs/results.md into docs/plots from the JSON files that the commands there write; a plot without its file is skipped.
//   node --import tsx scripts/plots.ts
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { chartFile } from "../src/output/chart.ts";
import { accuracyChart, planesChart, timeChart } from "./plotCharts.ts";

const folder = join(import.meta.dirname, "..", "docs", "plots");

const plots = [
  { from: "render.json", to: "accuracy.svg", draw: accuracyChart },
  { from: "render.json", to: "planes.svg", draw: planesChart },
  { from: "bench.json", to: "time.svg", draw: timeChart },
];
for (const { from, to, draw } of plots)
  if (existsSync(join(folder, from)))
    writeFileSync(join(folder, to), chartFile(draw(JSON.parse(readFileSync(join(folder, from), "utf8")))));
