// Whether networks see small photos better enlarged: the shipped examples with focus distances, interpolated beforehand by each factor. AbsRel of the finished depth, brought back to the size of the photos.
//   nice node --import tsx bench/enlargement.ts [--models small,fine] [--examples desk,macro] [--factors 1,1.5,2,2.5]
import { join } from "node:path";
import { readDepth } from "../src/data/readDepth.ts";
import { estimateDepth } from "../src/depth/estimate.ts";
import { finishDepth } from "../src/depth/finish.ts";
import { compareWithTruth } from "../src/depth/node/truth.ts";
import { depthMap } from "../src/image/depthMap.ts";
import { resize } from "../src/image/resize.ts";
import { openNetwork } from "../src/network/node/openNetwork.ts";
import type { FocalStack } from "../src/stack/focalStack.ts";
import { openStack } from "../src/stack/node/openStack.ts";
import { option } from "./timing.ts";

const factors = option("factors", "1,1.5,2,2.5").split(",").map(Number);
const examples = option("examples", "desk,macro").split(",");

async function stackOf(example: string): Promise<FocalStack> {
  const source = await openStack([join("examples", example)]);
  const images = await Promise.all(source.files.map((_, plane) => source.readScaled(plane, Infinity)));
  return { images, focusDistances: source.focusDistances, space: source.space };
}

process.stdout.write(
  `| model | stack | ${factors.map((factor) => `× ${factor}`).join(" | ")} |\n| --- | --- |${" ---: |".repeat(factors.length)}\n`,
);
for (const model of option("models", "small,fine").split(",")) {
  const network = await openNetwork(model, { device: "cpu", threads: 2 });
  for (const example of examples) {
    const stack = await stackOf(example);
    const trueDepth = await readDepth(join("examples", example, "depth.npy"), stack.space);
    const { width, height } = trueDepth;
    const cells: string[] = [];
    for (const factor of factors) {
      const size = { width: Math.round(factor * width), height: Math.round(factor * height) };
      const images = factor === 1 ? stack.images : stack.images.map((image) => resize(image, { ...size, filter: "lanczos" }));
      const { depth } = finishDepth(await estimateDepth({ ...stack, images }, { network }));
      const { data } = resize({ ...size, channels: 1, data: depth.values }, { width, height, filter: "linear" });
      cells.push(compareWithTruth(depthMap({ width, height, values: data, space: "depth" }), trueDepth, example).absRel.toFixed(4));
    }
    process.stdout.write(`| ${model} | ${example} | ${cells.join(" | ")} |\n`);
  }
  await network.dispose();
}
