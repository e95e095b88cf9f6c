import assert from "node:assert/strict";
import { test } from "node:test";
import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import type { Tensor } from "../../src/engine/engine.ts";
import type { Image } from "../../src/image/image.ts";
import { interleave, renderScene } from "../../src/optics/render/render.ts";
import { randomScene } from "../../src/optics/scene/random.ts";
import { generateTextures, splitTextures } from "../../src/optics/texture/texture.ts";
import { createRandom } from "../../src/random.ts";
import { createPoolBatches, edgeWeight, planeCoordinates } from "../../src/train/deviceAugment.ts";
import { smoke } from "../../src/train/presets.ts";
import { createRenderPool, type StackPool } from "../../src/train/renderPool.ts";
import { heldPools } from "../../src/train/source.ts";
import { assertClose } from "../helpers/close.ts";

const engine = createTorchEngine({ threads: 1 });
const textures = generateTextures({ count: 20 });
const read = (tensor: Tensor): number[] => Array.from(engine.read(tensor) as Float32Array);

const none = { gaussian: 0, powerExponential: 0, photos: 0, grain: 0 };

const makePool = (seed = 0): StackPool => createRenderPool(engine, { data: smoke.data, count: 6, textures, split: "train", seed });

test("the pool holds stacks whose planes differ, with depth and increasing focus distances", async () => {
  const pool = makePool();
  await pool.advance(0);
  const focus = read(pool.focusDistances);
  for (let stack = 0; stack < 6; stack++) {
    const distances = focus.slice(stack * 4, (stack + 1) * 4);
    assert.ok(
      distances.every((distance, n) => distance > (distances[n - 1] ?? 0)),
      `stack ${stack}: ${distances.join(", ")}`,
    );
    const images = read(pool.images.slice(0, { start: stack * 4, end: stack * 4 + 4 }).cast("f32"));
    const plane = images.length / 4;
    const apart = images.slice(0, plane).reduce((sum, value, i) => sum + Math.abs(value - (images[3 * plane + i] as number)), 0) / plane;
    assert.ok(apart > 0.2, `stack ${stack}: first and last plane differ by ${apart} levels`);
  }
  assert.ok(read(pool.depth).filter((depth) => depth > 0).length > 0.9 * 6 * 64 * 64);
});

test("stacks of one picture are told apart, and neither moved, nor lit, nor made noisy plane by plane", async () => {
  const pool = createRenderPool(engine, {
    data: { ...smoke.data, gather: { gaussian: 1, powerExponential: 0, photos: 1, grain: 0 } },
    count: 2,
    textures,
    split: "train",
    seed: 0,
  });
  const still = { ...smoke.augment, gamma: [1, 1], colour: [1, 1], reverse: 0 } as const;
  const augment = { ...still, misalign: 1, shift: 3, exposure: [0.5, 0.5], noise: 0.5 } as const;
  const batch = await createPoolBatches(engine, pool, { batch: { size: 4, planes: [4], crop: 64 }, augment, seed: 1 }).batch(0);
  assert.deepEqual(read(pool.onePicture), [1, 1]);
  const levels = read(batch.images).map((value) => value * 255);
  assert.ok(
    levels.every((level) => Math.abs(level - Math.max(Math.round(level), 255e-4)) < 1e-3),
    "every value is one of the pool's bytes",
  );
  const lens = makePool(); // of smoke.data: about half through the lens
  await lens.advance(0);
  assert.deepEqual([...new Set(read(lens.onePicture))].sort(), [0, 1]);
});

test("phone stacks in the pool are those of the plain renderer and the plain processing", async () => {
  const data = { ...smoke.data, gather: none, imperfect: 0, samples: 32, phone: { share: 1, blur: [1, 3] as const, shadows: 1 } };
  const pool = createRenderPool(engine, { data, count: 2, textures, split: "train", seed: 5 });
  await pool.advance(0);
  const root = createRandom(5).split("train");
  const { train } = splitTextures(textures.count);
  for (const slot of [0, 1]) {
    const seed = root.split(slot).integer(0x80000000);
    const scene = randomScene(seed, { planes: 4, width: 64, height: 64, textures: train, blur: [1, 3], phone: 1, shadows: 1 });
    const { stack, depth } = renderScene(scene, { textures, samples: 32 });
    assertClose(read(pool.focusDistances.slice(0, { start: slot, end: slot + 1 })), stack.focusDistances, 1e-6);
    const apart = read(pool.depth.slice(0, { start: slot, end: slot + 1 })).filter(
      (value, i) => Math.abs(value - (depth.values[i] as number)) > 1e-3 * value,
    );
    assert.ok(apart.length < 10, `${apart.length} depths differ`);
    stack.images.forEach((image, plane) => {
      const at = slot * 4 + plane;
      const made = interleave(Float32Array.from(read(pool.images.slice(0, { start: at, end: at + 1 }).cast("f32"))), 64, 64);
      const mean = made.data.reduce((sum, value, i) => sum + Math.abs(value - 255 * (image.data[i] as number)), 0) / made.data.length;
      assert.ok(mean < 1.5, `stack ${slot}, plane ${plane}: ${mean} levels apart`);
    });
  }
});

test("refocused light fields are told apart from stacks of several shots, and have a blur of their own", async () => {
  const data = { ...smoke.data, gather: none, samples: 25, lightField: { share: 0.5, blur: [3, 4] as const } };
  const pool = createRenderPool(engine, { data, count: 12, textures, split: "train", seed: 3 });
  await pool.advance(0);
  const marks = read(pool.onePicture);
  const share = marks.reduce((sum, mark) => sum + mark, 0) / 12;
  assert.ok(share > 0.2 && share < 0.8, `${share} of the stacks are light fields`);
  const root = createRandom(3).split("train");
  const { train } = splitTextures(textures.count);
  marks.forEach((lightField, slot) => {
    const { blur, imperfect } = smoke.data;
    const look = { planes: 4, width: 64, height: 64, textures: train, imperfect, lightField, blur: lightField ? ([3, 4] as const) : blur };
    const { stack } = renderScene(randomScene(root.split(slot).integer(0x80000000), look), { textures, samples: 25 });
    const [image] = stack.images as [Image];
    const made = interleave(Float32Array.from(read(pool.images.slice(0, { start: slot * 4, end: slot * 4 + 1 }).cast("f32"))), 64, 64);
    const mean = made.data.reduce((sum, value, i) => sum + Math.abs(value - 255 * (image.data[i] as number)), 0) / made.data.length;
    assert.ok(mean < 1.5, `stack ${slot}: ${mean} levels apart`);
  });
});

test("the sharp images of RGB-D stacks are as soft as asked for, at most, each by itself", async () => {
  const roughness = async (softness: number): Promise<number[]> => {
    const gather = { ...none, gaussian: 1, photos: 1, softness };
    const pool = createRenderPool(engine, { data: { ...smoke.data, gather }, count: 8, textures, split: "train", seed: 4 });
    await pool.advance(0);
    return [...Array(8).keys()].map((stack) => {
      const values = read(pool.images.slice(0, { start: stack * 4, end: stack * 4 + 4 }).cast("f32"));
      return values.reduce((sum, value, i) => (i % 64 === 0 ? sum : sum + Math.abs(value - (values[i - 1] as number))), 0);
    });
  };
  const [sharp, same, soft] = [await roughness(0), await roughness(1), await roughness(4)];
  assert.deepEqual(same, sharp, "up to a pixel nothing is blurred");
  const left = soft.map((value, i) => value / (sharp[i] as number)).sort((a, b) => a - b);
  assert.ok((left[0] as number) < 0.7 && (left[7] as number) > 0.85, left.map((share) => share.toFixed(2)).join(" "));
});

test("pixels near a depth edge count fully, the others by `inner`; what is not known makes no edge", () => {
  const [H, W] = [5, 20];
  const row = (at: (x: number) => number): number[] => Array.from({ length: H * W }, (_, i) => at(i % W));
  const maps = [
    row((x) => (x < 10 ? 1 : 1.51)), // more than half a plane
    row((x) => (x < 10 ? 1 : 1.49)),
    row((x) => 0.05 * x), // 0.4 planes over nine pixels
    row((x) => (x === 10 ? 9 : 1)), // not known there
  ];
  const depth = engine.constant(maps.flat(), { shape: [4, 1, H, W] });
  const weight = read(edgeWeight({ depth, known: depth.less(9) }, { inner: 0.25 }));
  // The square reaches four pixels each way: columns 6 to 9 see the far side, 10 to 13 the near one.
  assert.deepEqual(
    weight.slice(0, W),
    Array.from({ length: W }, (_, x) => (x >= 6 && x <= 13 ? 1 : 0.25)),
  );
  assert.ok(weight.slice(H * W).every((value) => value === 0.25));
});

test("batches weigh pixels away from depth edges as asked for", async () => {
  const pool = makePool();
  const weights = async (inner: number): Promise<number[]> => {
    const batches = createPoolBatches(engine, pool, { ...smoke, augment: { ...smoke.augment, inner } });
    return [...new Set(read((await batches.batch(0)).valid))].sort((a, b) => a - b);
  };
  assert.deepEqual([await weights(1), await weights(0.25)].map((each) => each.filter((weight) => weight > 0)), [[1], [0.25, 1]]); // prettier-ignore
});

const kinds = {
  phone: { share: 0.5, blur: [1, 3], shadows: 0 },
  sweep: { share: 0.5, planes: [12, 12], blur: [1, 2] },
  lightField: { share: 0.5, blur: [2, 3] },
} as const;

test("recipes with phones, sweeps or light fields are validated on as many stacks that are all of that kind", async () => {
  const data = { ...smoke.data, samples: 1, validation: { count: 3, samples: 1 } };
  assert.deepEqual([...heldPools(engine, data, textures).keys()], [""]);
  const pools = heldPools(engine, { ...data, ...kinds }, textures);
  assert.deepEqual([...pools.keys()], ["", "phone-", "sweep-", "light-field-"]);
  for (const [kind, pool] of pools) {
    await pool.advance(0);
    assert.deepEqual(read(pool.onePicture), Array<number>(3).fill(kind === "light-field-" ? 1 : 0), kind);
  }
});

test("stacks held out have a size of their own, whatever their kind; that of training by default", async () => {
  const held = (validation: { size?: number }) =>
    heldPools(engine, { ...smoke.data, ...kinds, validation: { count: 2, samples: 1, ...validation } }, textures);
  assert.deepEqual(Array.from(held({}).values(), ({ side }) => side), [64, 64, 64, 64]); // prettier-ignore
  for (const [kind, pool] of held({ size: 32 })) {
    await pool.advance(0);
    assert.deepEqual([pool.side, pool.images.shape, pool.depth.shape], [32, [2 * 4, 3, 32, 32], [2, 1, 32, 32]], kind);
    assert.ok(read(pool.depth).filter((depth) => depth > 0).length > 0.9 * 2 * 32 * 32, kind);
  }
});

test("of a long sweep the pool holds planes spread over all of it, or neighbouring ones, and much lies beyond those", async () => {
  const data = { ...smoke.data, gather: none, samples: 1, sweep: { share: 1, planes: [30, 30] as const, blur: [1, 2] as const } };
  const count = 24;
  const pool = createRenderPool(engine, { data, count, textures, split: "train", seed: 2 });
  await pool.advance(0);
  const kinds = Array.from({ length: count }, (_, slot) => {
    const dioptres = read(pool.focusDistances.slice(0, { start: slot, end: slot + 1 })).map((distance) => 1 / distance);
    const steps = dioptres.slice(1).map((value, n) => (dioptres[n] as number) - value);
    const [least, most] = [Math.min(...steps), Math.max(...steps)];
    const depths = read(pool.depth.slice(0, { start: slot, end: slot + 1 }));
    const beyond =
      depths.filter((depth) => 1 / depth > (dioptres[0] as number) || 1 / depth < (dioptres[3] as number)).length / depths.length;
    return { even: most / least, beyond };
  });
  // Neighbours are one step apart; four of thirty planes at 0, 10, 19 and 29 are 10, 9 and 10 steps apart.
  const dense = kinds.filter(({ even }) => even < 1.02);
  const sparse = kinds.filter(({ even }) => Math.abs(even - 10 / 9) < 0.02);
  assert.equal(dense.length + sparse.length, count);
  assert.ok(dense.length > 5 && sparse.length > 5, `${dense.length} and ${sparse.length}`);
  const mean = (list: typeof kinds): number => list.reduce((sum, { beyond }) => sum + beyond, 0) / list.length;
  assert.ok(mean(dense) > 0.5 && mean(dense) > mean(sparse), `${mean(dense)} and ${mean(sparse)} of the pixels lie beyond`);
});

test("a pool brought to a later step at once is the pool that went there step by step", async () => {
  const [slow, fast] = [makePool(), makePool()];
  for (let step = 0; step <= 9; step++) await slow.advance(step);
  await fast.advance(9);
  const start = makePool();
  await start.advance(0);
  assert.deepEqual(read(slow.depth), read(fast.depth));
  assert.deepEqual([...engine.read(slow.images)], [...engine.read(fast.images)]);
  const changed = [...Array(6).keys()].filter((slot) => {
    const range = { start: slot, end: slot + 1 };
    return String(read(slow.depth.slice(0, range))) !== String(read(start.depth.slice(0, range)));
  });
  assert.deepEqual(changed, [0, 1]); // two refreshes of one stack in nine steps
});

test("a stop ends the rendering of a pool between two chunks; advanced again it is whole", async () => {
  const stop = new AbortController();
  const told: number[] = [];
  const onProgress = (done: number): void => {
    told.push(done);
    stop.abort();
  };
  const [stopped, whole] = [
    createRenderPool(engine, { data: smoke.data, count: 6, textures, split: "train", seed: 0, onProgress }),
    makePool(),
  ];
  await assert.rejects(stopped.advance(0, { stop: stop.signal }), (error) => error === stop.signal.reason);
  assert.deepEqual(told, [2]);
  await stopped.advance(0);
  await stopped.advance(1, { stop: stop.signal }); // nothing is due: nothing to stop
  await whole.advance(0);
  assert.deepEqual([...engine.read(stopped.images)], [...engine.read(whole.images)]);
});

test("depth in planes: the first plane is 0, the last N − 1, in metres or dioptres, and far outside does not count", () => {
  const depth = engine.constant([1, 2, 4, 0, 1, 2, 5, 100], { shape: [2, 1, 2, 2] });
  const focusDistances = engine.constant([1, 2, 4, 4, 2, 1], { shape: [2, 3] });
  const dioptres = engine.constant([0, 1], { shape: [2, 1], dtype: "bool" });
  const planes = planeCoordinates({ depth, focusDistances, dioptres });
  assertClose(read(planes.focusDistances), [0, 2 / 3, 2, 0, 2 / 3, 2], 1e-6); // the second stack runs from far to near
  assertClose(read(planes.trueDepth), [0, 2 / 3, 2, 0, 2, 2 / 3, 0, 0], 1e-6);
  assert.deepEqual(read(planes.valid), [1, 1, 1, 0, 1, 1, 1, 0]); // nothing there; 5 m lies 0.13 planes behind the farthest, 100 m 0.64
  const { valid } = planeCoordinates({ depth, focusDistances, dioptres }, { beyond: 0.25 });
  assert.deepEqual(read(valid), [1, 1, 1, 0, 1, 1, 1, 0.25]); // beyond the planes, but not where nothing is
});

test("batches have the shapes asked for, stay in range, and depend on the step alone", async () => {
  const pool = makePool();
  const batches = createPoolBatches(engine, pool, smoke);
  const seen = new Set<number>();
  for (let step = 0; step < 6; step++) {
    const batch = await batches.batch(step);
    const [B, N] = batch.images.shape as [number, number];
    seen.add(N);
    assert.deepEqual(batch.images.shape, [B, N, 3, 64, 64]);
    assert.equal(B, Math.max(2, Math.round(9 / N)));
    const images = read(batch.images);
    assert.ok(images.every((value) => value >= 0 && value <= 1));
    const depth = read(batch.trueDepth);
    assert.ok(depth.every((value) => value >= 0 && value <= N - 1));
    const focus = read(batch.focusDistances);
    assert.ok(focus.every((value, i) => (i % N === 0 ? value === 0 : value > (focus[i - 1] as number))));
    if (step === 5) assert.deepEqual(read((await batches.batch(5)).images), images);
  }
  assert.deepEqual([...seen].sort(), [3, 4]);
});

test("without augmentation a crop holds the pool's own pixels, flipped or turned, and its depth moves with them", async () => {
  const side = 64;
  const ramp = Uint8Array.from({ length: 2 * 3 * side * side }, (_, i) => i % side);
  const pool: StackPool = {
    size: 1,
    planes: 2,
    side,
    images: engine.constant(ramp, { shape: [2, 3, side, side], dtype: "u8" }),
    depth: engine.constant(
      Float32Array.from({ length: side * side }, (_, i) => 1 + (i % side) / 255),
      { shape: [1, 1, side, side] },
    ),
    focusDistances: engine.constant([1, 2], { shape: [1, 2] }),
    onePicture: engine.full([1, 1], 0),
    advance: () => Promise.resolve(),
  };
  const augment = {
    ...smoke.augment,
    misalign: 0,
    gamma: [1, 1],
    colour: [1, 1],
    exposure: [1, 1],
    noise: 0,
    reverse: 0,
    dioptres: 0,
  } as const;
  const batches = createPoolBatches(engine, pool, { batch: { size: 8, planes: [2], crop: 32 }, augment, seed: 1 });
  const batch = await batches.batch(0);
  const [images, depth] = scope(() => [read(batch.images.slice(1, { end: 1 }).slice(2, { end: 1 })), read(batch.trueDepth)] as const);
  assertClose(
    images.map((value) => Math.max(value, 1e-4)),
    depth.map((value) => Math.max(value, 1e-4)),
    1e-4,
  );
  const orientations = new Set([...Array(8).keys()].map((b) => Math.sign((images[b * 1024 + 1] as number) - (images[b * 1024] as number))));
  assert.equal(orientations.size, 3); // rising, falling, and turned: constant along the row
});
