// How well the blur of NYU's protocol (A.2) determines depth, whatever the network: a pixel's blur in every plane is known to ± δ pixels of
// standard deviation, and its depth is taken as the middle of those that fit. RMSE over the hold-out, mean over images.
//   nice node --import tsx bench/blurInformation.ts --data DIR [--planes 5,10] [--deltas 0.02,0.05,0.1] [--every 5]
import { isHeldOut } from "../src/data/nyuHoldOut.ts";
import { openPairs } from "../src/data/pairs.ts";
import { blurPerDioptre } from "../src/optics/lens/thinLens.ts";
import { presetCamera } from "../src/optics/synthesize/cameras.ts";
import { spaced } from "../src/optics/synthesize/focus.ts";
import { option } from "./timing.ts";

const numbers = (name: string, fallback: string): number[] => option(name, fallback).split(",").map(Number);
const [counts, deltas, every] = [numbers("planes", "5,10"), numbers("deltas", "0.02,0.05,0.1"), Number(option("every", "5"))];
const camera = presetCamera("nyu", { width: 0, height: 0 }); // its lens does not depend on the image's size
const DEPTHS = 400; // candidates, evenly over an image's depth
const REACH = 3; // of the 7×7 window

/** Standard deviation of the kernel of blur radius c along one axis; 0 where the protocol copies the pixel. */
function deviation(c: number): number {
  if (c <= 1) return 0;
  let [sum, squares] = [0, 0];
  for (let y = -REACH; y <= REACH; y++)
    for (let x = -REACH; x <= REACH; x++) {
      const weight = Math.exp((-2 * (x * x + y * y)) / (c * c));
      sum += weight;
      squares += weight * x * x;
    }
  return Math.sqrt(squares / sum);
}

/** Squared error at each candidate depth. */
function squaredErrors(depths: readonly number[], { planes, delta }: { readonly planes: number; readonly delta: number }): number[] {
  const distances = spaced({ from: depths[0] as number, to: depths.at(-1) as number, planes });
  const blurs = depths.map((depth) => distances.map((f) => deviation((Math.abs(1 / depth - 1 / f) * blurPerDioptre(camera, f)) / 2)));
  const fits = (one: number, other: number): boolean =>
    (blurs[one] as number[]).every((blur, n) => Math.abs(blur - (blurs[other]?.[n] as number)) < delta);
  return depths.map((depth, i) => {
    let [first, last] = [i, i];
    while (first > 0 && fits(i, first - 1)) first--;
    while (last + 1 < depths.length && fits(i, last + 1)) last++;
    return (((depths[first] as number) + (depths[last] as number)) / 2 - depth) ** 2;
  });
}

const pairs = await openPairs("nyu", option("data", ""), { split: "train" });
const held = pairs.names.flatMap((name, i) => (isHeldOut(name) ? [i] : [])).filter((_, i) => i % every === 0);
const images: Float32Array[] = [];
for (const index of held) images.push((await pairs.stored(index)).depth.filter((metres, i) => metres > 0 && i % 16 === 0));
pairs.close();

for (const planes of counts)
  for (const delta of deltas) {
    const errors = images.map((metres) => {
      const [near, far] = [metres.reduce((a, b) => Math.min(a, b)), metres.reduce((a, b) => Math.max(a, b))];
      const squares = squaredErrors(spaced({ from: near, to: far, planes: DEPTHS }), { planes, delta });
      const square = (value: number): number => squares[Math.round(((value - near) / (far - near)) * (DEPTHS - 1))] as number;
      return Math.sqrt(metres.reduce((sum, value) => sum + square(value), 0) / metres.length);
    });
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    console.log(`${planes} planes, blur known to ± ${delta} px: RMSE ${mean.toFixed(3)} m over ${images.length} images`);
  }
