// How accurate alignment is on rendered stacks with breathing, drift and rotation, and what it costs on large images.
//   node --import tsx bench/align.ts [--scenes 6] [--megapixels 12] [--planes 5]
// Prints one JSON document: errors in pixels from the true motion (root mean square over the image), times in seconds.
import { alignStack } from "../src/align/align.ts";
import { alignImage } from "../src/align/alignedRows.ts";
import { estimateAlignment } from "../src/align/estimate.ts";
import { distance, IDENTITY, type Similarity } from "../src/align/similarity.ts";
import { workingFrame } from "../src/align/workingFrame.ts";
import type { Image } from "../src/image/image.ts";
import { movedStack, SIZE } from "../test/align/motion.ts";
import { texture } from "../test/helpers/texturedStack.ts";
import { option } from "./timing.ts";

const themes = ["desk", "room", "macro", "slope", "clutter", "foliage", "terrain", "board", "plain"] as const;
const rounded = (value: number): number => Number(value.toPrecision(3));
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

async function accuracy(seed: number): Promise<object> {
  const theme = themes[seed % themes.length] as (typeof themes)[number];
  const [moved, still] = [movedStack(seed, { amount: 1, theme }), movedStack(seed, { amount: 0, theme })];
  const found = await alignStack(moved.stack).catch((error: unknown) => String(error));
  if (typeof found === "string") return { seed, theme, failed: found };
  const errors = found.planes.map((n) => distance(found.transforms[n] as Similarity, moved.motion[n] as Similarity, SIZE));
  const gains = found.report.map(({ gain }, n) => Math.abs((gain[1] as number) * (moved.exposure[n] as number) - 1));
  const left = (await alignStack(still.stack)).transforms.map((transform) => distance(transform, IDENTITY, SIZE));
  return {
    ...{ seed, theme, meanError: rounded(mean(errors)), worstError: rounded(Math.max(...errors)) },
    ...{ worstGain: rounded(Math.max(...gains)), aligned: found.planes.length, stillMoved: rounded(Math.max(...left)) },
  };
}

/** Seconds of `work`. */
async function timed<T>(work: () => T | Promise<T>): Promise<{ result: T; seconds: number }> {
  const start = performance.now();
  const result = await work();
  return { result, seconds: rounded((performance.now() - start) / 1000) };
}

async function cost({ megapixels, planes }: { megapixels: number; planes: number }): Promise<object> {
  const width = Math.round(Math.sqrt(megapixels * 1e6 * 1.5));
  const picture: Image = texture({ width, height: Math.round(width / 1.5) });
  const working = await timed(() => Array.from({ length: planes }, () => workingFrame(picture)));
  const options = { focusDistances: Array.from({ length: planes }, (_, n) => n), space: "index" } as const;
  const estimate = await timed(() => estimateAlignment(working.result, options));
  const transform: Similarity = { scale: 1.01, angle: 0.003, shift: [5.3, -2.8] };
  const warp = await timed(() => alignImage(picture, { transform, gain: [1.02, 1, 0.99], ok: true }));
  return { megapixels, planes, prepare: working.seconds, estimate: estimate.seconds, warpPerFrame: warp.seconds };
}

const scenes = Array.from({ length: Number(option("scenes", "6")) }, (_, i) => i + 1);
const accuracies: object[] = [];
for (const seed of scenes) accuracies.push(await accuracy(seed));
const costs = await cost({ megapixels: Number(option("megapixels", "12")), planes: Number(option("planes", "5")) });
console.log(JSON.stringify({ accuracy: accuracies, cost: costs }, undefined, 1));
