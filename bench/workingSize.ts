// In which size a network should see photos, and what becomes of depth edges in full size: rendered stacks in 1536×1536, the whole way of `dualfocus depth --size PX` without alignment. RMSE in planes
// and boundary F1 of the depth that is saved, in full size, mean over the scenes; beside it the F1 that interpolating it from the working size would have.
//   nice node --import tsx bench/workingSize.ts [--models small] [--sets backdrop,phone,render] [--scenes 4] [--planes 5] [--photo 1536] [--seen 512,768,1088,1536,auto]
import { createRenderer } from "../src/cli/renderHost.ts";
import { runDepth } from "../src/depth/run.ts";
import { openBackdrops } from "../src/evaluate/backdrops.ts";
import { measureImage } from "../src/evaluate/imageMetrics.ts";
import { openPhone } from "../src/evaluate/renderedBenchmarks.ts";
import { openRendered } from "../src/evaluate/renderedSet.ts";
import type { Sample } from "../src/data/dataset.ts";
import type { Image } from "../src/image/image.ts";
import { resize } from "../src/image/resize.ts";
import { enlarge } from "../src/image/upsample.ts";
import { boundaryF1 } from "../src/metrics/boundary.ts";
import type { DepthNetwork } from "../src/network/depthNetwork.ts";
import { openNetwork } from "../src/network/node/openNetwork.ts";
import type { DepthResult } from "../src/output/result.ts";
import { scaledSize, type StackSource } from "../src/stack/stackSource.ts";
import { arraySource } from "../test/helpers/arraySource.ts";
import { option } from "./timing.ts";

const size = Number(option("photo", "1536"));
const sides = option("seen", "512,768,1088,1536,auto")
  .split(",")
  .map((side) => (side === "auto" ? ("auto" as const) : Number(side)));
const names = option("models", "small").split(",");
const settings = { planes: Number(option("planes", "5")), scenes: Number(option("scenes", "4")), size, createRenderer };
const SETS = {
  backdrop: () => openBackdrops({ ...settings, firstSeed: 8_200_000 }),
  phone: () => openPhone({ ...settings, firstSeed: 7_200_000 }),
  render: () => openRendered({ ...settings, firstSeed: 1_200_000, samples: 64 }),
} as const;

/** The stack as files give it: in any size up to its own. */
function photos({ stack }: Sample): StackSource {
  const source = arraySource(stack);
  const readScaled = (plane: number, pixels: number): Promise<Image> => {
    const image = stack.images[plane] as Image;
    return Promise.resolve({ ...image, ...resize(image, { ...scaledSize(image, pixels), filter: "linear" }) });
  };
  return { ...source, readScaled };
}

async function measures(network: DepthNetwork, sample: Sample, workingSide: number | "auto"): Promise<Record<string, number>> {
  const { result, finished } = await runDepth(photos(sample), { network, workingSide, align: "off" });
  const { depth, error, confidence } = result as Required<DepthResult>;
  const { rmsePlanes, rmsePlanesUntextured, rmsePlanesTextured, withinError, ...all } = measureImage(
    sample,
    { depth, error, confidence },
    (pair) => pair,
  );
  const interpolated = finished && { ...depth, values: enlarge(finished.depth, depth) };
  return {
    "seen in, mean": finished?.depth.width ?? NaN,
    "RMSE planes": rmsePlanes,
    "untextured third": rmsePlanesUntextured,
    "textured third": rmsePlanesTextured,
    "boundary F1": all.boundaryF1,
    interpolated: interpolated ? boundaryF1({ depth: interpolated, trueDepth: sample.trueDepth }) : NaN,
    "within ± error %": 100 * withinError,
  };
}

const networks = await Promise.all(names.map((name) => openNetwork(name, { device: "cpu", threads: 2 })));
let hasHead = false;
for (const name of option("sets", "backdrop,phone,render").split(",") as (keyof typeof SETS)[]) {
  const set = await SETS[name]();
  const rows = names.flatMap((model, k) =>
    sides.map((side) => ({ model, side, network: networks[k] as DepthNetwork, sums: new Map<string, number>() })),
  );
  for (let i = 0; i < set.size; i++) {
    const sample = await set.sample(i);
    for (const { network, side, sums } of rows)
      for (const [column, value] of Object.entries(await measures(network, sample, side)))
        sums.set(column, (sums.get(column) ?? 0) + value / set.size);
    process.stderr.write(`${name}: ${i + 1} of ${set.size}\n`);
  }
  for (const { model, side, sums } of rows) {
    if (!hasHead) {
      process.stdout.write(
        `| set | model | --size | ${[...sums.keys()].join(" | ")} |\n| --- | --- | --- |${" ---: |".repeat(sums.size)}\n`,
      );
      hasHead = true;
    }
    process.stdout.write(
      `| ${name} | ${model} | ${side} | ${[...sums.values()].map((mean) => (mean >= 20 ? mean.toFixed(0) : mean.toPrecision(3))).join(" | ")} |\n`,
    );
  }
}
await Promise.all(networks.map((network) => network.dispose()));
