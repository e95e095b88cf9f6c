// How sharp the all-in-focus image of a photographed stack is against its sharpest aligned frame.
//   nice node --import tsx bench/stackSharpness.ts FOLDER [--model small] [--width 1400] [--height 1000] [--threshold 0.02]
// Prints the share of textured pixels with at least 0.95 of the sharpest frame's Laplacian energy (mean over 9×9 pixels), in a part of this size
// in the middle; textured are pixels where that energy is above the threshold² and four times the softest frame's.
import { alignImage } from "../src/align/alignedRows.ts";
import { resized } from "../src/align/similarity.ts";
import { runDepth } from "../src/depth/run.ts";
import { cropImage } from "../src/image/crop.ts";
import type { Image } from "../src/image/image.ts";
import { openNetwork } from "../src/network/node/openNetwork.ts";
import { openStack } from "../src/stack/node/openStack.ts";
import { laplacianEnergy, sharpShare } from "../test/helpers/laplacianEnergy.ts";
import { option } from "./timing.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined || folder.startsWith("--")) throw new Error("name the folder of a stack");
const network = await openNetwork(option("model", "small"), { device: "cpu", threads: 2 });
const run = await runDepth(await openStack(folder), { network });
await network.dispose();
const { result, source, aligned, planes, estimate } = run;
const { allInFocus } = result;
if (!allInFocus) throw new Error("there is no all-in-focus image");

const [width, height] = [
  Math.min(Number(option("width", "1400")), source.size.width),
  Math.min(Number(option("height", "1000")), source.size.height),
];
const part = { left: (source.size.width - width) >> 1, top: (source.size.height - height) >> 1, width, height };
const factor = source.size.width / estimate.probability.width;

/** The part of a frame as it was aligned. */
async function frameOf(plane: number): Promise<Image> {
  const image = await source.readPlane(plane);
  const frame = aligned?.report[plane];
  return cropImage(frame ? alignImage(image, { ...frame, transform: resized(frame.transform, factor) }) : image, part);
}

const frames: Float32Array[] = [];
for (const plane of planes) frames.push(laplacianEnergy(await frameOf(plane)));
const found = laplacianEnergy(cropImage(allInFocus, part));
const { sharp, textured } = sharpShare(found, frames, { threshold: Number(option("threshold", "0.02")) });
const mean = (values: Float32Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const round = (value: number): number => Number(value.toPrecision(4));
process.stdout.write(
  `${JSON.stringify({
    planes: planes.length,
    size: `${source.size.width}×${source.size.height}`,
    part: `${width}×${height}`,
    sharp: round(sharp),
    textured: round(textured),
    energy: { allInFocus: round(mean(found)), frames: frames.map((frame) => round(mean(frame))) },
  })}\n`,
);
