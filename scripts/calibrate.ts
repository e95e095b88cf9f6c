// Measures the error of depth on rendered scenes, fits the error tables of networks on one half of them, checks them on the other, and
// draws docs/confidence.svg. With --write the tables are stored in the weights files.
// nice node --import tsx scripts/calibrate.ts [--models small,base] [--scenes 40] [--write] [-o FILE]
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { loadModel } from "../src/network/node/loadModel.ts";
import { expectedError, type ErrorTable } from "../src/network/facts.ts";
import { openNetwork } from "../src/network/node/openNetwork.ts";
import { replaceFacts } from "../src/network/weightsFile.ts";
import { createScenes, isClaimed, isWithin, type Finding } from "./calibrationScenes.ts";

const { values } = parseArgs({
  options: {
    models: { type: "string", default: "small,base" },
    scenes: { type: "string", default: "40" },
    seed: { type: "string", default: "3000000" },
    side: { type: "string", default: "224" },
    samples: { type: "string", default: "32" },
    write: { type: "boolean", default: false },
    output: { type: "string", short: "o", default: "docs/confidence.svg" },
  },
});
const COVERAGE = 0.68;
const KNOTS = [0.5, 0.6, 0.7, 0.8, 1, 1.25, 1.75, 2.5];
const CLAIMS = [0.1, 0.16, 0.25, 0.4, 0.63, 1, 1.6, 2.5, 4];

const say = (line: string): boolean => process.stdout.write(`${line}\n`);
const share = (list: readonly Finding[], holds: (finding: Finding) => boolean): number => list.filter(holds).length / list.length;
const mean = (list: readonly number[]): number => list.reduce((sum, value) => sum + value, 0) / list.length;

function quantile(list: readonly number[], at: number): number {
  const sorted = Float64Array.from(list).sort();
  return sorted[Math.min(Math.floor(at * sorted.length), sorted.length - 1)] as number;
}

/** The error that 68 % of the pixels around each knot stay within, non-decreasing. */
function fitTable(findings: readonly Finding[]): ErrorTable {
  let least = 0;
  const error = KNOTS.map((knot, k) => {
    const from = k === 0 ? 0 : ((KNOTS[k - 1] as number) + knot) / 2;
    const to = k === KNOTS.length - 1 ? Infinity : ((KNOTS[k + 1] as number) + knot) / 2;
    const near = findings.filter(({ spread }) => spread >= from && spread < to).map(({ off }) => off);
    least = Math.max(least, near.length > 0 ? quantile(near, COVERAGE) : least);
    return Number(least.toPrecision(2));
  });
  return { spread: KNOTS, error };
}

interface CurvePoint {
  readonly claimed: number;
  readonly observed: number;
  readonly coverage: number;
  readonly pixels: number;
}

/** For pixels with about the same claimed error: the error that 68 % of them stay within, and the share within the claim. */
function calibrationCurve(findings: readonly Finding[], table: ErrorTable): CurvePoint[] {
  const claims = findings.map((finding) => ({ ...finding, claimed: expectedError(table, finding.spread) }));
  return CLAIMS.slice(1).flatMap((to, k) => {
    const inBin = claims.filter(({ claimed }) => claimed >= (CLAIMS[k] as number) && claimed < to);
    if (inBin.length < 300) return [];
    return {
      claimed: mean(inBin.map(({ claimed }) => claimed)),
      observed: quantile(inBin.map(({ off }) => off), COVERAGE), // prettier-ignore
      coverage: share(inBin, ({ off, claimed }) => off <= claimed),
      pixels: inBin.length,
    };
  });
}

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;

function reportBeyond(findings: readonly Finding[]): void {
  for (const [end, sign, isBeyond, isFar] of [
    ["nearer than the first", -1, (f: Finding) => f.truePlane < 0, (f: Finding) => f.truePlane < -0.5],
    ["farther than the last", 1, (f: Finding) => f.truePlane > f.planes - 1, (f: Finding) => f.truePlane > f.planes - 0.5],
  ] as const) {
    const marked = findings.filter(({ beyond }) => beyond === sign);
    const inner = (f: Finding): boolean => (sign < 0 ? f.truePlane > 0.25 : f.truePlane < f.planes - 1.25);
    const found = (list: readonly Finding[]): string => percent(share(list, ({ beyond }) => beyond === sign));
    say(
      `  ${end}: precision ${percent(share(marked, isBeyond))}, recall ${found(findings.filter(isBeyond))} ` +
        `(more than half a plane: ${found(findings.filter(isFar))}), marked though more than a quarter plane inside ${percent(share(marked, inner))}`,
    );
  }
}

function reportAccuracy(scenes: readonly (readonly Finding[])[]): void {
  const within = scenes.map((scene) => scene.filter(isWithin)).filter(({ length }) => length > 0);
  const absRel = (of: (finding: Finding) => number): string => mean(within.map((scene) => mean(scene.map(of)))).toFixed(4);
  say(`  AbsRel within the planes: ${absRel((f) => f.relative)} averaged in dioptres, ${absRel((f) => f.relativeInMetres)} in metres`);
}

const SIZE = 420;
const MARGIN = 56;
const INKS = ["#b5442e", "#2f6f8f", "#5b8a3c"];

/** Observed over claimed error, both in planes, both logarithmic; on the diagonal the claim is exact. */
function drawCurves(curves: Readonly<Record<string, readonly CurvePoint[]>>): string {
  const [low, high] = [0.1, 10];
  const along = (value: number): number => (Math.log(value / low) / Math.log(high / low)) * (SIZE - 2 * MARGIN);
  const at = ({ claimed, observed }: CurvePoint): string =>
    `${(MARGIN + along(claimed)).toFixed(1)},${(SIZE - MARGIN - along(observed)).toFixed(1)}`;
  const ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10].map((value) => {
    const [x, y] = [MARGIN + along(value), SIZE - MARGIN - along(value)];
    return (
      `<path d="M${x} ${MARGIN}V${SIZE - MARGIN}M${MARGIN} ${y}H${SIZE - MARGIN}" stroke="#ddd"/>` +
      `<text x="${x}" y="${SIZE - MARGIN + 16}" text-anchor="middle">${value}</text><text x="${MARGIN - 6}" y="${y + 4}" text-anchor="end">${value}</text>`
    );
  });
  const lines = Object.entries(curves).map(([name, points], i) => {
    const ink = INKS[i % INKS.length] as string;
    const dots = points.map(
      (point) => `<circle cx="${at(point).split(",")[0] as string}" cy="${at(point).split(",")[1] as string}" r="3.5" fill="${ink}"/>`,
    );
    const legend = `<text x="${MARGIN + 12}" y="${MARGIN + 18 + 16 * i}" fill="${ink}">${name}</text>`;
    return `<polyline points="${points.map(at).join(" ")}" fill="none" stroke="${ink}" stroke-width="2"/>${dots.join("")}${legend}`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE} ${SIZE}" font-family="sans-serif" font-size="12">` +
    `<rect width="${SIZE}" height="${SIZE}" fill="#fff"/>${ticks.join("")}` +
    `<path d="M${MARGIN} ${SIZE - MARGIN}L${SIZE - MARGIN} ${MARGIN}" stroke="#888" stroke-dasharray="5 4"/>${lines.join("")}` +
    `<text x="${SIZE / 2}" y="${SIZE - 14}" text-anchor="middle">claimed error, planes</text>` +
    `<text transform="translate(16 ${SIZE / 2}) rotate(-90)" text-anchor="middle">68 % of the pixels are within, planes</text></svg>\n`
  );
}

/** Stores the table in the network's weights file, whose tensors stay as they are. */
function store(name: string, errorTable: ErrorTable): void {
  const { file, facts } = loadModel(name);
  writeFileSync(file, replaceFacts(readFileSync(file), { ...facts, errorTable }, file));
  say(`  stored in ${file}`);
}

const names = values.models.split(",");
const networks = Object.fromEntries(
  await Promise.all(names.map(async (name) => [name, await openNetwork(name, { device: "cpu", threads: 2 })] as const)),
);
const render = createScenes({ networks, side: Number(values.side), samples: Number(values.samples) });
const scenes: Record<string, Finding[]>[] = [];
for (let i = 0; i < Number(values.scenes); i++) {
  scenes.push(await render(Number(values.seed) + i));
  process.stderr.write(`scene ${i + 1} of ${values.scenes}\n`);
}
const curves: Record<string, CurvePoint[]> = {};
for (const name of names) {
  const all = scenes.map((scene) => scene[name] as Finding[]);
  const half = (odd: number): Finding[] => all.filter((_, i) => (i >> 2) % 2 === odd).flat().filter(isClaimed); // prettier-ignore
  const table = fitTable(half(0));
  const held = half(1);
  curves[name] = calibrationCurve(held, table);
  say(name);
  say(`  ${JSON.stringify(table)}`);
  for (const point of curves[name])
    say(
      `  claimed ±${point.claimed.toFixed(2)}: 68 % within ${point.observed.toFixed(2)}, ${percent(point.coverage)} within the claim, ${point.pixels} pixels`,
    );
  say(`  other half of the scenes: ${percent(share(held, ({ off, spread }) => off <= expectedError(table, spread)))} within the new table's claim, ` + `${percent(share(held, ({ off, claimed }) => off <= claimed))} within that of the table in use`); // prettier-ignore
  reportAccuracy(all);
  reportBeyond(all.flat());
  if (values.write) store(name, table);
}
writeFileSync(values.output, drawCurves(curves));
