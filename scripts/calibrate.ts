// Fits the error model of a network (docs/confidence.md) on rendered stacks, some of them as by phones and some of those with parts or a wall that show nothing of focus, HCI light fields and
// NYU pairs outside the hold-out: on each half of the stacks, to measure it on the other, on all kinds but one, and on all, which is the model to use. With --write it is stored in the weights file.
// nice node --import tsx scripts/calibrate.ts --hci DIR --nyu DIR [--model small] [--limit 16] [--device cpu] [--cache DIR] [--write] [-o FILE.svg]
// Rendered stacks are kept in the cache (500 MB), so that a second network takes half of the time.
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { focusSigns } from "../src/check/evidence.ts";
import { depthMaps, errorCues } from "../src/depth/maps.ts";
import { claimedErrors, COVERAGE, fitErrorModel, type CalibrationPixels } from "../src/evaluate/errorCalibration.ts";
import { inPlanes, planeIndexOf } from "../src/evaluate/planeUnits.ts";
import { textureStrength, textureThirds } from "../src/evaluate/untextured.ts";
import { luminance } from "../src/image/luminance.ts";
import { sparsificationArea } from "../src/metrics/sparsification.ts";
import type { DepthNetwork } from "../src/network/depthNetwork.ts";
import { byCue, CUES, NO_FACTOR, type Cue, type ErrorModel } from "../src/network/facts.ts";
import type { DeviceName } from "../src/network/node/devices.ts";
import { loadModel } from "../src/network/node/loadModel.ts";
import { openNetwork } from "../src/network/node/openNetwork.ts";
import { replaceFacts } from "../src/network/weightsFile.ts";
import { writeAtomically } from "../src/system/atomicFile.ts";
import { renderedStacks, stacksOf, type CalibrationStack } from "./calibrationStacks.ts";

const { values } = parseArgs({
  options: {
    model: { type: "string", default: "small" },
    hci: { type: "string" },
    nyu: { type: "string" },
    limit: { type: "string", default: "16" },
    device: { type: "string", default: "cpu" },
    cache: { type: "string", default: join(tmpdir(), "dualfocus-calibration") },
    write: { type: "boolean", default: false },
    output: { type: "string", short: "o" },
  },
});
/** One of this many pixels is kept; a prime, so that they do not form columns. */
const STRIDE = 61;
const CLAIMS = [0.05, 0.08, 0.125, 0.2, 0.32, 0.5, 0.8, 1.25, 2, 4];

/** One pixel with what is known of it. */
interface Pixel extends Readonly<Record<Cue, number>> {
  readonly kind: string;
  readonly planes: number;
  readonly half: number;
  /** Of the planes of its stack. */
  readonly mismatch: number;
  /** Whether its true depth is known and within the planes. */
  readonly known: boolean;
  /** |depth − truth| in planes: divided by the distance between the planes there. */
  readonly off: number;
  readonly texture: "textured" | "untextured" | "between";
}

/** A mark of being beyond the planes, and how far beyond, in planes, the pixel truly is; negative: within. */
interface Mark {
  readonly end: "nearer" | "farther";
  readonly marked: boolean;
  readonly outside: number;
}

const say = (line: string): boolean => process.stdout.write(`${line}\n`);
const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;
const share = <T>(list: readonly T[], holds: (each: T) => boolean): number => list.filter(holds).length / list.length;

/** An error of one plane, whatever the cues: divides errors by the distance between the planes. */
const ONE_PLANE: ErrorModel = { planes: 1, ...byCue(() => ({ at: [1e9], factor: [1] })), stack: NO_FACTOR, mismatch: NO_FACTOR };

async function pixelsOf(network: DepthNetwork, given: CalibrationStack, marks: Mark[]): Promise<Pixel[]> {
  const { kind, half, stack, trueDepth } = given;
  const probability = await network.predict(stack);
  const signs = focusSigns(stack.images.map(luminance));
  const { depth, error: step, beyond } = depthMaps(probability, stack, { average: network.average, errorModel: ONE_PLANE, signs });
  const cues = errorCues(probability, signs);
  const claimed = inPlanes(trueDepth, stack.focusDistances, { within: 0.5 });
  const strength = textureStrength(stack);
  const [least, , most] = textureThirds(claimed, strength);
  const pixels: Pixel[] = [];
  for (let i = half; i < depth.length; i += STRIDE) {
    const truth = trueDepth.values[i] as number;
    if (kind === "rendered" && trueDepth.valid[i]) {
      const index = planeIndexOf(stack.focusDistances, truth);
      marks.push({ end: "nearer", marked: beyond[i] === -1, outside: -index });
      marks.push({ end: "farther", marked: beyond[i] === 1, outside: index - (stack.images.length - 1) });
    }
    const known = claimed.valid[i] === 1;
    const off = known ? Math.abs((depth[i] as number) - truth) / (step[i] as number) : 0;
    pixels.push({
      ...byCue((cue) => cues[cue][i] as number),
      kind,
      planes: stack.images.length,
      half,
      mismatch: signs.mismatch,
      known,
      off,
      texture: most.valid[i] ? "textured" : least.valid[i] ? "untextured" : "between",
    });
  }
  return pixels;
}

/**
 * How much a kind of stack counts, however many pixels it has; others count 1. Where nothing can be measured errors are several times those elsewhere: counted fully, such pixels
 * raise the claims of others as well.
 */
const KIND_WEIGHTS: Readonly<Record<string, number>> = { bare: 0.5, backdrop: 0.5 };

function calibrationPixels(stacks: readonly (readonly Pixel[])[]): CalibrationPixels {
  const pixels = stacks.flat();
  const counts = new Map<string, number>();
  for (const { kind, known } of pixels) if (known) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const weightOf = ({ kind, known }: Pixel): number => (known ? (1e4 * (KIND_WEIGHTS[kind] ?? 1)) / (counts.get(kind) as number) : 0);
  return {
    cues: byCue((cue) => Float32Array.from(pixels, (pixel) => pixel[cue])),
    stacks: stacks.map((own) => ({ pixels: own.length, planes: (own[0] as Pixel).planes, mismatch: (own[0] as Pixel).mismatch })),
    off: Float32Array.from(pixels, ({ off }) => off),
    weights: Float32Array.from(pixels, weightOf),
  };
}

interface Claim extends Pixel {
  /** In planes. */
  readonly claimed: number;
}

/** Each part of the stacks with the claims of the model fitted on the others, where the truth is known. */
function crossChecked(stacks: readonly (readonly Pixel[])[], partOf: (pixel: Pixel) => number | string): Claim[] {
  const parts = stacks.map((own) => partOf(own[0] as Pixel));
  return [...new Set(parts)].flatMap((part) => {
    const model = fitErrorModel(calibrationPixels(stacks.filter((_, i) => parts[i] !== part)));
    const others = stacks.filter((_, i) => parts[i] === part);
    const claimed = claimedErrors(model, calibrationPixels(others));
    return others
      .flat()
      .map((pixel, i) => ({ ...pixel, claimed: claimed[i] as number }))
      .filter(({ known }) => known);
  });
}

function reportKinds(claims: readonly Claim[]): void {
  say(
    "| stacks | planes | pixels | within the claim | textured third | untextured third | area under sparsification | by the spread of p |",
  );
  say("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
  const counts = [...new Set(claims.map(({ planes }) => planes))];
  for (const kind of new Set(claims.map((claim) => claim.kind)))
    for (const among of [...counts.map((planes) => [planes]), counts])
      reportRow([kind, among.length > 1 ? "all" : String(among[0])], claims.filter((claim) => claim.kind === kind && among.includes(claim.planes))); // prettier-ignore
}

function reportRow(names: readonly string[], own: readonly Claim[]): void {
  const held = (list: readonly Claim[]): string => percent(share(list, ({ off, claimed }) => off <= claimed));
  const part = (texture: Pixel["texture"]): string => held(own.filter((claim) => claim.texture === texture));
  const area = (doubt: (claim: Claim) => number): string => sparsificationArea(own.map(({ off }) => off), own.map(doubt)).toFixed(3); // prettier-ignore
  const areas = [area(({ claimed }) => claimed), area(({ spread }) => spread)];
  say(`| ${[...names, own.length, held(own), part("textured"), part("untextured"), ...areas].join(" | ")} |`);
}

interface CurvePoint {
  readonly claimed: number;
  /** `COVERAGE` of the pixels are within. */
  readonly observed: number;
}

/** For pixels with about the same claimed error: the error that 68 % of them stay within. */
function calibrationCurve(claims: readonly Claim[]): CurvePoint[] {
  return CLAIMS.slice(1).flatMap((to, k) => {
    const inBin = claims.filter(({ claimed }) => claimed >= (CLAIMS[k] as number) && claimed < to);
    if (inBin.length < 300) return [];
    const sorted = Float64Array.from(inBin, ({ off }) => off).sort();
    const mean = inBin.reduce((sum, { claimed }) => sum + claimed, 0) / inBin.length;
    return { claimed: mean, observed: sorted[Math.floor(COVERAGE * sorted.length)] as number };
  });
}

function reportMarks(marks: readonly Mark[]): void {
  for (const end of ["nearer", "farther"] as const) {
    const own = marks.filter((mark) => mark.end === end);
    const marked = own.filter((mark) => mark.marked);
    const beyond = own.filter(({ outside }) => outside > 0);
    say(
      `marked as ${end} than every plane: precision ${percent(share(marked, ({ outside }) => outside > 0))}, ` +
        `within half a plane of the end or beyond ${percent(share(marked, ({ outside }) => outside > -0.5))}, recall ${percent(share(beyond, (mark) => mark.marked))}`,
    );
  }
}

const SIZE = 420;
const MARGIN = 56;
const INKS = ["#b5442e", "#2f6f8f", "#5b8a3c", "#7a4f9a", "#8a6d1f", "#555555"];

/** Observed over claimed error, both in planes, both logarithmic; on the diagonal the claim is exact. */
function drawCurves(curves: Readonly<Record<string, readonly CurvePoint[]>>): string {
  const [low, high] = [0.04, 8];
  const along = (value: number): number => (Math.log(value / low) / Math.log(high / low)) * (SIZE - 2 * MARGIN);
  const at = ({ claimed, observed }: CurvePoint): [string, string] => [
    (MARGIN + along(claimed)).toFixed(1),
    (SIZE - MARGIN - along(observed)).toFixed(1),
  ];
  const ticks = [0.05, 0.1, 0.2, 0.5, 1, 2, 5].map((value) => {
    const [x, y] = [MARGIN + along(value), SIZE - MARGIN - along(value)].map((place) => place.toFixed(1)) as [string, string];
    return (
      `<path d="M${x} ${MARGIN}V${SIZE - MARGIN}M${MARGIN} ${y}H${SIZE - MARGIN}" stroke="#ddd"/>` +
      `<text x="${x}" y="${SIZE - MARGIN + 16}" text-anchor="middle">${value}</text><text x="${MARGIN - 6}" y="${y}" dy="4" text-anchor="end">${value}</text>`
    );
  });
  const lines = Object.entries(curves).map(([name, points], i) => {
    const ink = INKS[i % INKS.length] as string;
    const dots = points.map(at).map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3.5" fill="${ink}"/>`);
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

/** Stores the model in the network's weights file, whose tensors stay as they are. */
async function store(errorModel: ErrorModel): Promise<void> {
  const { file, facts } = loadModel(values.model);
  await writeAtomically(file, replaceFacts(readFileSync(file), { ...facts, errorModel }, file));
  say(`stored in ${file}`);
}

/** Scenes of each kind of rendered stack; of pairs, which are larger, three quarters. */
const scenes = Number(values.limit);
if (!(Number.isInteger(scenes) && scenes >= 4)) throw new RangeError(`--limit ${values.limit}: expected a whole number, 4 or more`);
const limit = Math.ceil(0.75 * scenes);
const started = performance.now();
const network = await openNetwork(values.model, { device: values.device as DeviceName, many: true });
if (values.hci === undefined || values.nyu === undefined)
  process.stderr.write("without --hci and --nyu the model rests on rendered stacks alone\n");
const sources = [
  ...(values.hci === undefined ? [] : [stacksOf("hci", { data: values.hci, split: "all", limit })]), // first: a wrong folder shows at once
  ...(values.nyu === undefined ? [] : [stacksOf("nyu", { data: values.nyu, split: "train", limit })]),
  renderedStacks("rendered", { scenes, cache: values.cache }),
  renderedStacks("phone", { scenes, cache: values.cache }),
  renderedStacks("bare", { scenes, cache: values.cache }),
  renderedStacks("backdrop", { scenes, cache: values.cache }),
];
const [stacks, marks]: [Pixel[][], Mark[]] = [[], []];
for (const source of sources)
  for await (const stack of source) {
    stacks.push(await pixelsOf(network, stack, marks));
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    process.stderr.write(`${stack.kind}, ${stack.stack.images.length} planes: ${stacks.length} stacks after ${seconds} s\n`);
  }
await network.dispose();
const claims = crossChecked(stacks, ({ half }) => half);
reportKinds(claims);
say("\nEach kind by the model fitted on the other kinds; the three of phones count as one:\n");
reportKinds(crossChecked(stacks, ({ kind }) => (kind === "bare" || kind === "backdrop" ? "phone" : kind)));
reportMarks(marks);
const model = fitErrorModel(calibrationPixels(stacks));
for (const name of [...CUES, "stack", "mismatch"] as const)
  say(`| ${name} | ${model[name].at.map((at, k) => `${at}: ${model[name].factor[k] as number}`).join(" · ")} |`);
say(JSON.stringify(model));
const kinds = [...new Set(claims.map(({ kind }) => kind))];
const curveOf = (kind: string): CurvePoint[] => calibrationCurve(claims.filter((claim) => claim.kind === kind));
if (values.output !== undefined) writeFileSync(values.output, drawCurves(Object.fromEntries(kinds.map((kind) => [kind, curveOf(kind)]))));
if (values.write) await store(model);
