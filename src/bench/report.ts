import type { Bench, Growth, Measurement } from "./run.ts";

/** Markdown: the machine's limits, a row for each case, how time grows. */
export function formatBench({ description, ceilings, rows, growth }: Bench): string {
  const header = [
    ...["model", "planes", "size", "grid", "batch", "parameters M", "GMAC", "median ms", "p90 ms", "fastest ms", "stacks/s", "GFLOP/s"],
    ...["of the limit %", "memory MB"],
  ];
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  const table = [header, header.map((_, i) => (i === 0 ? "---" : "---:")), ...rows.map(cells)].map(line).join("");
  const machine = `${description}. Large products run at ${number(ceilings.products / 1e9)} GFLOP/s, plain sums at ${number(ceilings.copy / 1e9)} GB/s.`;
  return `${machine}\n\n${table}\n${growth.map(describeGrowth).join("")}`;
}

const number = (value: number): string => (value >= 1000 ? value.toFixed(0) : value.toPrecision(3));

function cells(row: Measurement): string[] {
  const { model, batch, planes, height, width, grid, parameters, multiplyAccumulates, peakMemory } = row;
  return [
    ...[model, String(planes), `${height}×${width}`, grid === undefined ? "–" : String(grid), String(batch)],
    ...[parameters / 1e6, multiplyAccumulates / 1e9, 1e3 * row.median, 1e3 * row.p90, 1e3 * row.least].map(number),
    ...[row.stacksPerSecond, row.rate / 1e9, 100 * row.ofLimit].map(number),
    peakMemory === undefined ? "–" : (peakMemory / 1e6).toFixed(0),
  ];
}

function describeGrowth({ model, ...exponents }: Growth): string {
  const known = Object.entries(exponents).flatMap(([name, value]) => (value === undefined ? [] : [`${name}^${value.toFixed(2)}`]));
  return known.length === 0 ? "" : `${model}: time grows as ${known.join(", ")}\n`;
}
