// Stacks per second of the thin-lens renderer. node --import tsx bench/render.ts [--device cpu|cuda|js] [--scenes N] [--threads T] …
// One JSON document on stdout. On a shared machine `cpuSeconds` says more than `seconds`.
import { parseArgs } from "node:util";
import { lensTextures, renderLensInto } from "../src/optics/render/node/lens.ts";
import { createTorchEngine } from "../src/engine/torch/torchEngine.ts";
import { renderDepth, renderJob, renderPlane } from "../src/optics/render/kernel.ts";
import type { PackedScenes } from "../src/optics/scene/pack.ts";
import { CAMERA_STRIDE } from "../src/optics/scene/pack.ts";
import { packRandomScenes } from "../src/optics/scene/random.ts";
import { generateTextures } from "../src/optics/texture/texture.ts";
import { createRandom } from "../src/random.ts";

const { values } = parseArgs({
  options: {
    device: { type: "string", default: "cpu" },
    scenes: { type: "string" },
    size: { type: "string", default: "256" },
    planes: { type: "string", default: "5" },
    samples: { type: "string", default: "96" },
    threads: { type: "string", default: "2" },
    rounds: { type: "string" },
  },
});
const { device } = values;
const [side, planes, samples] = [Number(values.size), Number(values.planes), Number(values.samples)];
const count = Number(values.scenes ?? { cpu: 4, cuda: 64, js: 1 }[device] ?? 4);
const rounds = Number(values.rounds ?? (device === "cuda" ? 10 : 2));

interface Timing {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

function timed(body: () => void): Timing {
  const [before, start] = [process.cpuUsage(), performance.now()];
  body();
  const { user, system } = process.cpuUsage(before);
  return { seconds: (performance.now() - start) / 1000, cpuSeconds: (user + system) / 1e6 };
}

/** Renders all scenes once, into preallocated memory. */
function renderer(scenes: PackedScenes): { once: () => void; wait: () => void } {
  const textures = generateTextures();
  if (device === "js") {
    const picture = new Float32Array(3 * side * side);
    const once = (): void => {
      for (let n = 0; n < scenes.count; n++) {
        const job = renderJob(scenes, n, { textures, samples });
        for (let plane = 0; plane < planes; plane++) renderPlane(job, plane, picture);
        renderDepth(job, picture);
      }
    };
    return { once, wait: () => undefined };
  }
  const engine = createTorchEngine({ device, threads: Number(values.threads) });
  const uploaded = lensTextures(engine, textures);
  const images = engine.full([scenes.count, planes, 3, side, side], 0, { dtype: "u8" });
  const depth = engine.full([scenes.count, side, side], 0);
  const once = (): void => {
    renderLensInto(engine, scenes, { textures: uploaded, samples, targets: { images, depth } });
  };
  return { once, wait: device === "cuda" ? () => { engine.synchronize(); } : () => undefined }; // prettier-ignore
}

const random = createRandom(5);
packRandomScenes(random, { count: 200, planes }); // let the compiler see it first
const generation = timed(() => packRandomScenes(random, { count: 1000, planes, width: side, height: side }));
const scenes = packRandomScenes(createRandom(5), { count, planes, width: side, height: side });
const { once, wait } = renderer(scenes);
once();
wait();
const { seconds, cpuSeconds } = timed(() => {
  for (let round = 0; round < rounds; round++) once();
  wait();
});
const stacks = count * rounds;
const primitives = Array.from({ length: count }, (_, n) => scenes.cameras[n * CAMERA_STRIDE + 1] as number);
const result = {
  setting: { device, size: side, planes, samples, scenes: count, rounds, threads: device === "cpu" ? Number(values.threads) : undefined },
  meanPrimitives: primitives.reduce((sum, value) => sum + value, 0) / count,
  stacksPerSecond: stacks / seconds,
  ...(device === "cuda" ? {} : { cpuSecondsPerStack: cpuSeconds / stacks, stacksPerCoreSecond: stacks / cpuSeconds }),
  raysPerSecond: (stacks * planes * side * side * samples) / seconds,
  scenesGeneratedPerCoreSecond: 1000 / generation.cpuSeconds,
};
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
