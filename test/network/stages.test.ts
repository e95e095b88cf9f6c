import assert from "node:assert/strict";
import { test } from "node:test";

import type { Image, Size } from "../../src/image/image.ts";
import { focusProbability, type FocusProbability } from "../../src/network/focusProbability.ts";
import { createOnnxSession } from "../../src/network/node/onnxSession.ts";
import { paddedSize } from "../../src/network/pad.ts";
import type { Session } from "../../src/network/session.ts";
import { createStages, disposeStages, loadStages, TRUNK_SHARE } from "../../src/network/stages.ts";
import { leastPixels, SEAM, tilesOf, TRUNK_SEAM } from "../../src/network/tiles.ts";
import { loadModel } from "../../src/network/node/loadModel.ts";
import { configs, type DualFocusConfig } from "../../src/model/config.ts";
import { grownWeights } from "../../src/model/grown.ts";
import { recordGraph } from "../../src/model/graph.ts";
import { initialWeights } from "../../src/model/state.ts";
import { recordStages, STAGE_NAMES, type StageName } from "../../src/model/stages.ts";
import { generateTextures } from "../../src/optics/texture/texture.ts";
import { randomScene } from "../../src/optics/scene/random.ts";
import { renderScene } from "../../src/optics/render/render.ts";
import type { Model } from "../../src/network/weightsFile.ts";
import { createRandom } from "../../src/random.ts";
import type { FocalStack } from "../../src/stack/focalStack.ts";
import { inspect } from "../engine/recorded.ts";
import { texture } from "../helpers/texturedStack.ts";

const SIZE = { width: 608, height: 288 };
/** The least the tiles can be told, so that the picture is several. */
const MAX_PIXELS = leastPixels(SEAM);

const textures = generateTextures({ count: 4 });
const rendered = ({ width, height }: Size): FocalStack =>
  renderScene(randomScene(11, { width, height, planes: 5, textures: [0, 1, 2, 3] }), { textures, samples: 4 }).stack;
const firstPlanes = (stack: FocalStack, count: number): FocalStack => ({
  ...stack,
  images: stack.images.slice(0, count),
  focusDistances: stack.focusDistances.slice(0, count),
});
/** Of more than one tile. */
const large = rendered(SIZE);
/** For what does not depend on the picture's size. */
const little = rendered({ width: 128, height: 96 });

const load = (graph: Uint8Array): Promise<Session> => createOnnxSession(graph, { threads: 1 });

/** Σ n p_n. */
function planeNumbers({ planes, width, height, values }: FocusProbability): Float64Array {
  const pixels = width * height;
  return Float64Array.from({ length: pixels }, (_, i) => {
    let sum = 0;
    for (let n = 0; n < planes; n++) sum += n * (values[n * pixels + i] as number);
    return sum;
  });
}

function mostApart(one: FocusProbability, other: FocusProbability): number {
  const numbers = planeNumbers(other);
  return planeNumbers(one).reduce((most, number, i) => Math.max(most, Math.abs(number - (numbers[i] as number))), 0);
}

/** Shares of the work after each run, in percent: decoding a plane counts twice as much as encoding it, and both as much as the tile has pixels. */
function expectedShares(planes: number): number[] {
  const [whole, ...tiles] = [SIZE, ...tilesOf(SIZE, MAX_PIXELS)].map(({ width, height }) => width * height);
  const runs = tiles.flatMap((tile, i) => [
    ...Array.from({ length: planes }, () => (i === 0 ? [whole as number, tile] : [tile])).flat(),
    2 * planes * tile,
  ]);
  const total = runs.reduce((sum, work) => sum + work, 0);
  return runs.map((_, i) => Math.floor((100 * runs.slice(0, i + 1).reduce((sum, work) => sum + work, 0)) / total));
}

for (const [name, planes] of [
  ["small", 5],
  ["fine", 3], // the fewest it was trained on
] as const)
  test(`tiles of a rendered stack give what ${name} finds in the whole picture, within a hundredth of a plane everywhere`, async () => {
    assert.ok(tilesOf(SIZE, MAX_PIXELS).length >= 2);
    const shown = firstPlanes(large, planes);
    const model = loadModel(name);
    const session = await load(recordGraph(model));
    const whole = await focusProbability(shown, { session });
    await session.dispose();
    const stages = await loadStages(recordStages(model), load);
    const told: number[] = [];
    const tiled = await focusProbability(shown, {
      session,
      stages: () => Promise.resolve(stages),
      maxPixels: MAX_PIXELS,
      onProgress: (done) => told.push(done),
    });
    await disposeStages(stages);
    const most = mostApart(whole, tiled);
    assert.ok(most < 0.01, `${most} planes apart`);
    assert.deepEqual(told, expectedShares(planes));
  });

/** `small` with detail of the images as well, and that makes something of it. */
function smallWithImages(): Pick<Model, "config" | "weights"> {
  const { weights: given } = loadModel("small");
  const config: DualFocusConfig = { ...configs.small, detail: { filters: 2 } };
  const random = createRandom(4);
  const weights = new Map(grownWeights(initialWeights(config, random), given));
  for (const [name, { shape, data }] of weights) {
    const before = given.get(name);
    if (before?.data.length === data.length) continue;
    const [drawn, known] = [new Float32Array(data), before ? before.data.length / (shape[0] as number) : 0];
    const each = data.length / (shape[0] as number);
    drawn.forEach((value, i) => (drawn[i] = i % each < known ? value : value + 0.05 * random.normal()));
    weights.set(name, { shape, data: drawn });
  }
  return { config, weights };
}

test("tiles give what a decoder that looks at the images finds in the whole picture", async () => {
  const model = smallWithImages();
  const shown = firstPlanes(large, 3);
  const [session, plain] = [await load(recordGraph(model)), await load(recordGraph(loadModel("small")))];
  const [seeing, blind] = [await focusProbability(little, { session }), await focusProbability(little, { session: plain })];
  assert.ok(mostApart(seeing, blind) > 0.1, "it makes something of the images");
  const whole = await focusProbability(shown, { session });
  const stages = await loadStages(recordStages(model), load);
  const tiled = await focusProbability(shown, { session, stages: () => Promise.resolve(stages), maxPixels: MAX_PIXELS });
  await Promise.all([session.dispose(), plain.dispose(), disposeStages(stages)]);
  const most = mostApart(whole, tiled);
  assert.ok(most < 0.01, `${most} planes apart`);
});

test("a picture too large for the trunk is put together from what it finds in tiles", async () => {
  const [width, height] = [1664, 544];
  const inOne = Math.ceil((width * height) / TRUNK_SHARE);
  const trunkTiles = (maxPixels: number): number => tilesOf({ width, height }, maxPixels * TRUNK_SHARE, TRUNK_SEAM).length;
  assert.ok(trunkTiles(MAX_PIXELS) > 1 && trunkTiles(inOne) === 1);
  assert.deepEqual(tilesOf({ width, height }, MAX_PIXELS), tilesOf({ width, height }, inOne)); // all but the trunk is the same
  const images = [1, 2].map((seed) => texture({ width, height, seed }));
  const model = loadModel("small");
  const session = await load(recordGraph(model));
  const stages = await loadStages(recordStages(model), load);
  const given: FocalStack = { images, focusDistances: [0, 1], space: "index" };
  const run = (maxPixels: number): Promise<FocusProbability> =>
    focusProbability(given, { session, stages: () => Promise.resolve(stages), maxPixels });
  const [whole, tiled] = [await run(inOne), await run(MAX_PIXELS)];
  await Promise.all([session.dispose(), disposeStages(stages)]);
  const most = mostApart(whole, tiled);
  assert.ok(most < 1e-4, `${most} planes apart`); // the blind border holds the whole receptive field
});

test("windows over planes that share their planes' features give what they give run by run", async () => {
  const model = loadModel("small");
  const session = await load(recordGraph(model));
  const tile = paddedSize(little.images[0] as Image);
  const stages = await loadStages(recordStages({ ...model, planes: 4, tile, forCpu: true }), load);
  const asked: number[] = [];
  const alone = await focusProbability(little, { session, mostPlanes: 4 });
  const shared = await focusProbability(little, {
    session,
    mostPlanes: 4,
    stages: (planes) => (asked.push(planes), Promise.resolve(stages)),
  });
  await Promise.all([session.dispose(), disposeStages(stages)]);
  const most = mostApart(alone, shared);
  assert.ok(most < 1e-4, `${most} planes apart`);
  assert.deepEqual(asked, [4]);
});

test("on the CPU stages are recorded for the size of the tiles, if they have one", async () => {
  const decoders: Uint8Array[] = [];
  const load = (graph: Uint8Array): Promise<Session> => {
    decoders.push(graph);
    return Promise.resolve({ device: "cpu", inputNames: [], outputNames: [], run: () => assert.fail(), dispose: () => Promise.resolve() });
  };
  const stages = createStages({ ...loadModel("small"), forCpu: true }, load);
  const opened = async (...sizes: (readonly [number, number])[]): Promise<string> => {
    const tiles = sizes.map(([width, height]) => ({ left: 0, top: 0, width, height }));
    const before = decoders.length;
    await stages.open(4, tiles);
    if (decoders.length === before) return "the same";
    return inspect(decoders.at(-1) as Uint8Array).dimensions[0]?.join() ?? ""; // of volume16
  };
  assert.equal(await opened([64, 96], [60, 90]), "4,16,6,4"); // planes, channels, 96 / 16 rows, 64 / 16 columns
  assert.equal(await opened([64, 96]), "the same");
  assert.equal(await opened([64, 96], [64, 64]), "4,16,h,w");
});

test("stages of two sizes in turn are loaded once each, and a third takes the place of the one used longest ago", async () => {
  let [loaded, freed] = [0, 0];
  const load = (): Promise<Session> => {
    loaded += 1;
    const dispose = (): Promise<void> => Promise.resolve(void (freed += 1));
    return Promise.resolve({ device: "cpu", inputNames: [], outputNames: [], run: () => assert.fail(), dispose });
  };
  const stages = createStages({ ...loadModel("small"), forCpu: true }, load);
  const setsFor = async (...widths: readonly number[]): Promise<number> => {
    const before = loaded;
    for (const width of widths) await stages.open(4, [{ left: 0, top: 0, width, height: 32 }]);
    return (loaded - before) / STAGE_NAMES.length;
  };
  assert.equal(await setsFor(32, 64, 32, 64, 32), 2);
  assert.equal(await setsFor(96, 32, 96), 1, "64 was used longest ago");
  assert.equal(await setsFor(64), 1);
  assert.equal(loaded - freed, 2 * STAGE_NAMES.length);
  await stages.dispose();
  assert.equal(freed, loaded);
});

test("stages that could not be loaded are loaded again", async () => {
  let isFull = true;
  const load = (): Promise<Session> =>
    isFull
      ? Promise.reject(new Error("no memory"))
      : Promise.resolve({ device: "cpu", inputNames: [], outputNames: [], run: () => assert.fail(), dispose: () => Promise.resolve() });
  const stages = createStages({ ...loadModel("small"), forCpu: true }, load);
  const open = (): Promise<unknown> => stages.open(4, [{ left: 0, top: 0, width: 32, height: 32 }]);
  await assert.rejects(open(), /no memory/);
  isFull = false;
  await open();
});

test("stages are loaded only where something does not fit one run", async () => {
  const session = await load(recordGraph(loadModel("small")));
  const stages = (): never => assert.fail("nobody needs them");
  await focusProbability({ ...little, images: little.images.slice(0, 2) }, { session, stages });
  await session.dispose();
});

test("the baseline, whose pooling depends on the picture's size everywhere, is refused by name", () => {
  assert.throws(() => recordStages({ config: configs.dfv, weights: new Map() }), /recordStages: dfv .* cannot be split/);
});

test("a stage that cannot be loaded frees those that were", async () => {
  const freed: number[] = [];
  let loaded = 0;
  const load = (): Promise<Session> => {
    const n = loaded++;
    if (n === 2) return Promise.reject(new Error("no memory"));
    const dispose = (): Promise<void> => Promise.resolve(void freed.push(n));
    return Promise.resolve({ device: "cpu", inputNames: [], outputNames: [], run: () => Promise.reject(new Error("it ran")), dispose });
  };
  const graphs = Object.fromEntries(STAGE_NAMES.map((name) => [name, new Uint8Array()])) as Record<StageName, Uint8Array>;
  await assert.rejects(loadStages(graphs, load), /no memory/);
  assert.deepEqual(freed, [0, 1]);
});
