// How the size in which a network sees a stack decides about plain walls: `evaluate --dataset backdrop` in the size of a photo, seen whole and reduced. RMSE in planes, mean over the scenes.
//   nice node --import tsx bench/wallScale.ts [--models small,fine] [--scenes 6] [--planes 5] [--side 768] [--seen 768,512,384,256]
import { createRenderer } from "../src/cli/renderHost.ts";
import { estimateDepth } from "../src/depth/estimate.ts";
import { openBackdrops } from "../src/evaluate/backdrops.ts";
import { measureImage } from "../src/evaluate/imageMetrics.ts";
import { depthMap, type DepthMap } from "../src/image/depthMap.ts";
import { resize } from "../src/image/resize.ts";
import { enlarge } from "../src/image/upsample.ts";
import type { DepthNetwork } from "../src/network/depthNetwork.ts";
import { openNetwork } from "../src/network/node/openNetwork.ts";
import type { FocalStack } from "../src/stack/focalStack.ts";
import { option } from "./timing.ts";

const METRICS = ["rmsePlanes", "rmseWall", "rmseBeside"] as const;
const side = Number(option("side", "768"));
const sides = option("seen", "768,512,384,256").split(",").map(Number);
const names = option("models", "small,fine").split(",");

const reduced = (stack: FocalStack, to: number): FocalStack => ({
  ...stack,
  images: stack.images.map((image) => (to === side ? image : resize(image, { width: to, height: to, filter: "linear" }))),
});

/** In the size of the truth; blur, and so depth, is interpolated in dioptres. */
function enlarged(depth: DepthMap): DepthMap {
  const dioptres = enlarge({ ...depth, values: depth.values.map((metres) => 1 / metres) }, { width: side, height: side });
  return depthMap({ width: side, height: side, values: dioptres.map((each) => 1 / each), space: depth.space });
}

const set = openBackdrops({ planes: Number(option("planes", "5")), scenes: Number(option("scenes", "6")), size: side, createRenderer });
const networks = await Promise.all(names.map((name) => openNetwork(name, { device: "cpu", threads: 2 })));
const rows = names.flatMap((name, i) =>
  sides.map((seen) => ({ name, network: networks[i] as DepthNetwork, seen, sums: METRICS.map(() => 0) })),
);
for (let i = 0; i < set.size; i++) {
  const sample = await set.sample(i);
  for (const { network, seen, sums } of rows) {
    const { depth } = await estimateDepth(reduced(sample.stack, seen), { network });
    const metrics = measureImage(sample, { depth: enlarged(depth) }, (column) => column);
    METRICS.forEach((metric, k) => (sums[k] = (sums[k] as number) + metrics[metric] / set.size));
  }
  process.stderr.write(`${i + 1} of ${set.size}\n`);
}
process.stdout.write("| model | seen at | RMSE planes | wall | beside |\n| --- | ---: | ---: | ---: | ---: |\n");
for (const { name, seen, sums } of rows)
  process.stdout.write(`| ${name} | ${seen} | ${sums.map((sum) => sum.toPrecision(3)).join(" | ")} |\n`);
await Promise.all(networks.map((network) => network.dispose()));
