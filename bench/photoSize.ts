// What networks make of rendered stacks in the size of a photo: seen whole, reduced, and in two sizes as `dualfocus depth` does. RMSE in planes, mean over the scenes.
//   nice node --import tsx bench/photoSize.ts [--models small,fine] [--sets backdrop,phone,render] [--scenes 6] [--planes 5] [--side 768] [--seen 768,384] [--scenes-of benchmark]
import { createRenderer } from "../src/cli/renderHost.ts";
import { estimateDepth } from "../src/depth/estimate.ts";
import { depthMaps } from "../src/depth/maps.ts";
import { lookAt } from "../src/depth/twoSizes.ts";
import { openBackdrops } from "../src/evaluate/backdrops.ts";
import { measureImage, type ImageMetrics } from "../src/evaluate/imageMetrics.ts";
import type { Estimate } from "../src/evaluate/predictor.ts";
import { openPhone } from "../src/evaluate/renderedBenchmarks.ts";
import { openRendered } from "../src/evaluate/renderedSet.ts";
import { depthMap } from "../src/image/depthMap.ts";
import { resize } from "../src/image/resize.ts";
import { enlarge } from "../src/image/upsample.ts";
import type { DepthNetwork } from "../src/network/depthNetwork.ts";
import { openNetwork } from "../src/network/node/openNetwork.ts";
import type { FocalStack } from "../src/stack/focalStack.ts";
import { option } from "./timing.ts";

const METRICS = {
  rmsePlanes: "RMSE planes",
  rmsePlanesUntextured: "untextured third",
  rmsePlanesTextured: "textured third",
  boundaryF1: "boundary F1",
  rmseWall: "wall",
  rmseBeside: "beside objects",
  withinError: "within ± error %",
  withinErrorWall: "of the wall %",
} as const satisfies Partial<Record<keyof ImageMetrics, string>>;
type Metric = keyof typeof METRICS;
const metricNames = Object.keys(METRICS) as Metric[];

const side = Number(option("side", "768"));
const sides = option("seen", "768,384").split(",").map(Number);
const names = option("models", "small,fine").split(",");
/** Not the first scenes of each benchmark, on which the constants of src/depth/twoSizes.ts were chosen, unless they are asked for. */
const skipped = option("scenes-of", "own") === "benchmark" ? 0 : 100_000;
const settings = { planes: Number(option("planes", "5")), scenes: Number(option("scenes", "6")), size: side, createRenderer };
const SETS = {
  backdrop: () => openBackdrops({ ...settings, firstSeed: 8_000_000 + skipped }),
  phone: () => openPhone({ ...settings, firstSeed: 7_000_000 + skipped }),
  render: () => openRendered({ ...settings, firstSeed: 1_000_000 + skipped }),
} as const;

/** Reduced to this side, in one size, and enlarged again; blur, and so depth, is interpolated in dioptres. */
async function inOneSize(network: DepthNetwork, stack: FocalStack, to: number): Promise<Estimate> {
  const images = stack.images.map((image) => (to === side ? image : resize(image, { width: to, height: to, filter: "linear" })));
  const shown = { ...stack, images };
  const { probability, signs } = lookAt(await network.predict(shown), shown);
  const { depth, error, confidence } = depthMaps(probability, shown, { ...network, signs });
  const grown = (values: Float32Array): Float32Array =>
    to === side ? values : enlarge({ width: to, height: to, values }, { width: side, height: side });
  const values = grown(depth.map((metres) => 1 / metres)).map((each) => 1 / each);
  return { depth: depthMap({ width: side, height: side, values, space: stack.space }), error: grown(error), confidence: grown(confidence) };
}

type Look = (network: DepthNetwork, stack: FocalStack) => Promise<Estimate>;
const looks: readonly (readonly [string, Look])[] = [
  ...sides.map((to) => [String(to), (network: DepthNetwork, stack: FocalStack) => inOneSize(network, stack, to)] as const),
  ["both", (network, stack) => estimateDepth(stack, { network })],
];

const cell = (metric: Metric, mean: number): string => {
  if (!Number.isFinite(mean)) return "–";
  return METRICS[metric].endsWith("%") ? (100 * mean).toFixed(1) : mean.toPrecision(3);
};

const networks = await Promise.all(names.map((name) => openNetwork(name, { device: "cpu", threads: 2 })));
process.stdout.write(`| set | model | seen in | ${metricNames.map((name) => METRICS[name]).join(" | ")} |\n`);
process.stdout.write(`| --- | --- | --- |${" ---: |".repeat(metricNames.length)}\n`);
for (const name of option("sets", "backdrop,phone,render").split(",") as (keyof typeof SETS)[]) {
  const set = await SETS[name]();
  const rows = names.flatMap((model, i) =>
    looks.map(([seenAt, look]) => ({ model, network: networks[i] as DepthNetwork, seenAt, look, sums: metricNames.map(() => 0) })),
  );
  for (let i = 0; i < set.size; i++) {
    const sample = await set.sample(i);
    for (const { network, look, sums } of rows) {
      const metrics = measureImage(sample, await look(network, sample.stack), (column) => column);
      metricNames.forEach((metric, k) => (sums[k] = (sums[k] as number) + metrics[metric] / set.size));
    }
    process.stderr.write(`${name}: ${i + 1} of ${set.size}\n`);
  }
  for (const { model, seenAt, sums } of rows)
    process.stdout.write(`| ${name} | ${model} | ${seenAt} | ${sums.map((sum, k) => cell(metricNames[k] as Metric, sum)).join(" | ")} |\n`);
}
await Promise.all(networks.map((network) => network.dispose()));
