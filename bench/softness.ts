// How soft the images of a folder are at the scale of a pixel: the energy of the differences between neighbours over that of the differences
// between pixels two apart, 1 for white noise and 1/4 for an image without fine detail. Prints the 10th, 50th and 90th percentile of the images.
//   node --import tsx bench/softness.ts FOLDER [--images 60] [--blur 1.8]
// --blur: radius in pixels of a Gaussian as RGB-D stacks have it (optics/synthesize/gather.ts), applied to the images before.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Image } from "../src/image/image.ts";
import { luminance } from "../src/image/luminance.ts";
import { quantile } from "../src/image/quantile.ts";
import { gatherBlur } from "../src/optics/synthesize/gather.ts";
import { readImage } from "../src/stack/node/diskFiles.ts";
import { option } from "./timing.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined || folder.startsWith("--")) throw new Error("name a folder of images");
const names = (await readdir(folder)).filter((name) => /\.(jpe?g|png)$/i.test(name)).sort();
if (names.length === 0) throw new Error(`${folder} has no JPEG or PNG images`);
const count = Math.min(Number(option("images", "60")), names.length);
const radius = Number(option("blur", "0"));
const BORDER = 20; // some sets have a frame

function softness(image: Image): number {
  const { width, height, values } = luminance(image);
  const energy = (apart: number): number => {
    let sum = 0;
    for (let y = BORDER; y < height - BORDER; y++)
      for (let x = BORDER; x < width - BORDER - apart; x++)
        sum += ((values[y * width + x] as number) - (values[y * width + x + apart] as number)) ** 2;
    return sum;
  };
  return energy(1) / energy(2);
}

const found: number[] = [];
for (let i = 0; i < count; i++) {
  const image = await readImage(join(folder, names[Math.floor((i * names.length) / count)] as string));
  const blurRadius = new Float32Array(image.width * image.height).fill(radius);
  found.push(softness(gatherBlur({ image, blurRadius }, { exponent: 2, window: 9 })));
}
const shares = [0.1, 0.5, 0.9].map((share) => quantile(Float32Array.from(found), share).toFixed(3));
process.stdout.write(`${count} images, blurred by ${radius} pixels: ${shares.join(", ")}\n`);
