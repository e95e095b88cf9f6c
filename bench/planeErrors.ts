// Where along the planes a network errs: of the pixels around each half plane of the true depth, their share, the mean error and the RMSE, in planes.
//   nice node --import tsx bench/planeErrors.ts DATASET [FOLDER] [--planes 5] [--limit 25] [--model small] [--split val] [--photos FOLDER]
// --photos, of nyu: photographs in place of the set's own images, blurred by the same depth maps. What stays the same is not due to the images.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Split } from "../src/data/dataset.ts";
import { estimateDepth } from "../src/depth/estimate.ts";
import { planeIndexOf } from "../src/evaluate/planeUnits.ts";
import { EVALUATION_SETS, openEvaluationSet, type EvaluationSetName } from "../src/evaluate/protocol.ts";
import { spreadIndices } from "../src/evaluate/run.ts";
import { cropImage } from "../src/image/crop.ts";
import type { DepthMap } from "../src/image/depthMap.ts";
import type { Image, Size } from "../src/image/image.ts";
import { openNetwork } from "../src/network/node/openNetwork.ts";
import { presetCamera } from "../src/optics/synthesize/cameras.ts";
import { synthesize } from "../src/optics/synthesize/synthesize.ts";
import type { FocalStack } from "../src/stack/focalStack.ts";
import { readImage } from "../src/stack/node/diskFiles.ts";
import { option } from "./timing.ts";

const TILE = 128; // pixels; photographs must not be smaller

const [dataset, folder = "--"] = process.argv.slice(2);
const isSet = (name: string | undefined): name is EvaluationSetName => EVALUATION_SETS.some((each) => each === name);
if (!isSet(dataset)) throw new Error(`name a set: ${EVALUATION_SETS.join(", ")}`);
const [planes, split, photos] = [Number(option("planes", "5")), option("split", ""), option("photos", "")];
const data = folder.startsWith("--") ? undefined : folder;
const set = await openEvaluationSet({ dataset, data, planes, ...(split && { split: split as Split }) });
const names = photos ? (await readdir(photos)).filter((name) => /\.(jpe?g|png)$/i.test(name)).sort() : [];
if (photos && (dataset !== "nyu" || names.length === 0)) throw new Error("--photos takes a folder of JPEG or PNG images, for nyu");

/** Photographs in their own size, side by side, as an image of this size. */
async function mosaic({ width, height }: Size, first: number): Promise<Image> {
  const data = new Float32Array(3 * width * height);
  let next = first;
  for (let top = 0; top < height; top += TILE)
    for (let left = 0; left < width; left += TILE) {
      const photo = await readImage(join(photos, names[next++ % names.length] as string));
      const [across, down] = [Math.min(TILE, width - left), Math.min(TILE, height - top)];
      const { data: tile } = cropImage(photo, { left: 0, top: 0, width: across, height: down });
      for (let y = 0; y < down; y++) data.set(tile.subarray(3 * y * across, 3 * (y + 1) * across), 3 * ((top + y) * width + left));
    }
  return { width, height, channels: 3, data };
}

/** A stack of the NYU protocol of photographs, whose depth is not their own. */
async function photoStack(depth: DepthMap, index: number): Promise<FocalStack> {
  const image = await mosaic(depth, 37 * index);
  return synthesize({ image, depth }, { camera: presetCamera("nyu", depth), focus: { kind: "linear", planes } }).stack;
}

const network = await openNetwork(option("model", "small"), { device: "cpu", threads: 2 });
const halves = Array.from({ length: 2 * planes - 1 }, () => ({ pixels: 0, sum: 0, squares: 0 }));
const indices = spreadIndices(set.size, Number(option("limit", "25")));
let roots = 0;
for (const index of indices) {
  const { stack: own, trueDepth } = await set.sample(index);
  const stack = photos ? await photoStack(trueDepth, index) : own;
  const { depth } = await estimateDepth(stack, { network });
  let [squares, pixels] = [0, 0];
  trueDepth.values.forEach((truth, i) => {
    const plane = planeIndexOf(stack.focusDistances, truth);
    const half = trueDepth.valid[i] ? halves[Math.round(2 * plane)] : undefined; // none beyond the planes
    if (!half) return;
    const error = planeIndexOf(stack.focusDistances, depth.values[i] as number) - plane;
    half.pixels += 1;
    half.sum += error;
    half.squares += error ** 2;
    squares += error ** 2;
    pixels += 1;
  });
  roots += Math.sqrt(squares / pixels) / indices.length;
}
await network.dispose();
set.close();
const total = halves.reduce((sum, { pixels }) => sum + pixels, 0);
process.stdout.write("true plane  share %  mean error   RMSE\n");
halves.forEach(({ pixels, sum, squares }, n) => {
  const cells = [
    (n / 2).toFixed(1),
    ((100 * pixels) / total).toFixed(1),
    (sum / pixels).toFixed(3),
    Math.sqrt(squares / pixels).toFixed(3),
  ];
  process.stdout.write(`${cells.map((cell, i) => cell.padStart([10, 8, 11, 6][i] as number)).join(" ")}\n`);
});
process.stdout.write(`RMSE of an image, mean of ${indices.length}: ${roots.toFixed(3)} planes\n`);
