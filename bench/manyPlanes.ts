// Depth of stacks with many planes against ten of the same planes, on rendered scenes with exact depth.
//   nice node --import tsx bench/manyPlanes.ts [--models small,fine] [--planes 12,24,32,60] [--scenes 4] [--objects 3] [--size 256]
// Errors are in percent of the stack's range in dioptres, so that numbers of planes compare; "bad" is the share of pixels above 5 %.
import { renderHost } from "../src/cli/renderHost.ts";
import { estimateDepth } from "../src/depth/estimate.ts";
import type { DepthNetwork } from "../src/network/depthNetwork.ts";
import { openNetwork } from "../src/network/node/openNetwork.ts";
import type { Rendering } from "../src/optics/render/render.ts";
import { randomScene } from "../src/optics/scene/random.ts";
import type { Scene } from "../src/optics/scene/scene.ts";
import { generateTextures, splitTextures } from "../src/optics/texture/texture.ts";
import { choosePlanes, selectPlanes, type FocalStack } from "../src/stack/focalStack.ts";
import { option } from "./timing.ts";

const list = (name: string, fallback: string): string[] => option(name, fallback).split(",");
const [scenes, objects, size] = [Number(option("scenes", "4")), Number(option("objects", "3")), Number(option("size", "256"))];
const counts = list("planes", "12,24,32,60").map(Number);
const [samples, firstSeed] = [Number(option("samples", "48")), 2_000_000];

/** The same scene and lens with other planes, evenly spaced in dioptres over the same range. */
function withPlanes(scene: Scene, planes: number): Scene {
  const [first, last] = [1 / (scene.focusDistances[0] as number), 1 / (scene.focusDistances.at(-1) as number)];
  const focusDistances = Array.from({ length: planes }, (_, n) => 1 / (first + ((last - first) * n) / (planes - 1)));
  return { ...scene, focusDistances };
}

interface Errors {
  readonly mean: number;
  readonly rmse: number;
  readonly bad: number;
}

/** Over the pixels whose true depth is within the planes. */
function errorsOf(depth: Float32Array, { trueDepth, stack }: { trueDepth: Rendering["depth"]; stack: FocalStack }): Errors {
  const [first, last] = [1 / (stack.focusDistances[0] as number), 1 / (stack.focusDistances.at(-1) as number)];
  let [count, sum, squares, bad] = [0, 0, 0, 0];
  trueDepth.values.forEach((value, i) => {
    const truth = 1 / value;
    if (!trueDepth.valid[i] || truth > first || truth < last) return;
    const error = (100 * Math.abs(1 / (depth[i] as number) - truth)) / (first - last);
    [count, sum, squares, bad] = [count + 1, sum + error, squares + error ** 2, bad + (error > 5 ? 1 : 0)];
  });
  return { mean: sum / count, rmse: Math.sqrt(squares / count), bad: (100 * bad) / count };
}

async function measure(network: DepthNetwork, stack: FocalStack, trueDepth: Rendering["depth"]): Promise<Errors> {
  const { depth } = await estimateDepth(stack, { network });
  return errorsOf(depth.values, { trueDepth, stack });
}

const meanOf = (all: readonly Errors[]): string => {
  const mean = (name: keyof Errors): string => (all.reduce((sum, errors) => sum + errors[name], 0) / all.length).toFixed(2);
  return `${mean("mean")} | ${mean("rmse")} | ${mean("bad")}`;
};

const textures = generateTextures();
const held = splitTextures(textures.count).test;
const host = renderHost("auto", textures);
const networks = new Map<string, DepthNetwork>();
for (const model of list("models", "small,fine")) networks.set(model, await openNetwork(model, { device: "cpu", threads: 2 }));
const common = { planes: 10, width: size, height: size, textures: held, blur: [3, 6] } as const;
const kinds = {
  scenes: Array.from({ length: scenes }, (_, i) => randomScene(firstSeed + i, common)),
  objects: Array.from({ length: objects }, (_, i) => randomScene(firstSeed + i, { ...common, theme: "object" })),
};
process.stdout.write(
  "| scenes | planes | model | mean % | RMSE % | bad % | of ten: mean % | RMSE % | bad % |\n|---|---:|---|---:|---:|---:|---:|---:|---:|\n",
);
for (const [kind, all] of Object.entries(kinds))
  for (const planes of counts) {
    const rows = new Map([...networks.keys()].map((model) => [model, { every: [] as Errors[], ten: [] as Errors[] }]));
    for (const scene of all) {
      const { stack, depth } = host.render(withPlanes(scene, planes), samples);
      for (const [model, network] of networks) {
        rows.get(model)?.every.push(await measure(network, stack, depth));
        rows.get(model)?.ten.push(await measure(network, selectPlanes(stack, choosePlanes(planes, 10, "round")), depth));
      }
    }
    for (const [model, { every, ten }] of rows)
      process.stdout.write(`| ${kind} | ${planes} | ${model} | ${meanOf(every)} | ${meanOf(ten)} |\n`);
  }
for (const network of networks.values()) await network.dispose();
