import assert from "node:assert/strict";
import { test } from "node:test";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { createRandom } from "../../src/random.ts";
import type { AugmentConfig } from "../../src/train/config.ts";
import { changeImages } from "../../src/train/deviceAugment.ts";
import { presets } from "../../src/train/presets.ts";

const engine = createTorchEngine({ threads: 1 });
const off = presets.nyu.augment;
const SIDE = 16;

/** What `changeImages` makes of 0.5 everywhere, or of `value(x, y)`; [stacks × planes] pictures of 3 × SIDE × SIDE. */
function changedPictures(
  augment: Partial<AugmentConfig>,
  {
    stacks = 40,
    planes = 2,
    seed = 1,
    value = () => 0.5,
  }: { stacks?: number; planes?: number; seed?: number; value?: (x: number, y: number) => number } = {},
): Float32Array[] {
  const size = 3 * SIDE * SIDE;
  const pixels = Float32Array.from({ length: stacks * planes * size }, (_, i) => value(i % SIDE, Math.floor(i / SIDE) % SIDE));
  const images = engine.constant(pixels, { shape: [stacks, planes, 3, SIDE, SIDE] });
  const made = engine.read(changeImages(engine, images, { augment: { ...off, ...augment }, random: createRandom(seed) })) as Float32Array;
  return Array.from({ length: stacks * planes }, (_, i) => made.slice(i * size, (i + 1) * size));
}

const level = (picture: Float32Array | undefined, channel = 0): number => picture?.[channel * SIDE * SIDE] as number;
const range = (values: readonly number[]): [number, number] => [Math.min(...values), Math.max(...values)];

test("the published recipes' settings leave every pixel as it is", () => {
  for (const { augment } of [presets.nyu, presets.fod500, presets.ddff12, presets.dfv]) {
    const images = engine.full([1, 2, 3, 4, 4], 0.3);
    assert.equal(changeImages(engine, images, { augment, random: createRandom(0) }), images);
  }
});

test("gamma, colour and exposure are drawn from the whole of their ranges, below one too", () => {
  const gammas = changedPictures({ gamma: [2, 4] }).map((picture) => Math.log(level(picture)) / Math.log(0.5));
  const colours = changedPictures({ colour: [0.5, 0.9] }).flatMap((picture) => [0, 1, 2].map((channel) => level(picture, channel) / 0.5));
  const exposures = changedPictures({ exposure: [0.25, 0.75] }).map((picture) => level(picture) / 0.5);
  for (const [drawn, low, high] of [
    [gammas, 2, 4],
    [colours, 0.5, 0.9],
    [exposures, 0.25, 0.75],
  ] as const) {
    // prettier-ignore
    const [least, most] = range(drawn);
    assert.ok(least >= low - 1e-5 && most <= high + 1e-5, `${least} to ${most}`);
    assert.ok(least < low + 0.1 * (high - low) && most > high - 0.1 * (high - low), `${least} to ${most}`);
  }
  const same = (values: readonly number[], i: number): boolean =>
    Math.abs((values[2 * i] as number) - (values[2 * i + 1] as number)) < 1e-5;
  assert.ok([0, 1, 2].every((stack) => same(gammas, stack) && !same(exposures, stack))); // of the stack; of each plane
});

test("noise has at most the standard deviation asked for, and the same seed the same noise", () => {
  const deviations = changedPictures({ noise: 0.1 }, { planes: 1 }).map((picture) =>
    Math.sqrt(picture.reduce((sum, value) => sum + (value - 0.5) ** 2, 0) / picture.length),
  );
  const [least, most] = range(deviations);
  assert.ok(least < 0.02 && most > 0.07 && most < 0.11, `${least} to ${most}`);
  assert.deepEqual(changedPictures({ noise: 0.1 }, { stacks: 2 }), changedPictures({ noise: 0.1 }, { stacks: 2 }));
  assert.notDeepEqual(changedPictures({ noise: 0.1 }, { stacks: 2 }), changedPictures({ noise: 0.1 }, { stacks: 2, seed: 2 }));
});

test("blotches are slow, of each plane and the same for every channel, with deviations up to the one asked for", () => {
  const pictures = changedPictures({ blotches: 0.1 }).map((picture) => picture.map((value) => value - 0.5));
  const deviations = pictures.map((picture) => Math.sqrt(picture.reduce((sum, value) => sum + value ** 2, 0) / picture.length));
  // Two grids of 2×2 nodes, which interpolation to 16×16 leaves 0.834² of their variance, times u² with u from 0 to 1: √(2 · 0.834² · 0.1² / 5) = 0.053.
  const overall = Math.sqrt(deviations.reduce((sum, value) => sum + value ** 2, 0) / deviations.length);
  assert.ok(overall > 0.035 && overall < 0.075, `${overall}`);
  for (const [i, picture] of pictures.entries()) {
    const steps = picture.map((value, k) => (k % SIDE === 0 ? 0 : value - (picture[k - 1] as number)));
    const largest = Math.max(...steps.map(Math.abs));
    assert.ok(largest < 0.8 * (deviations[i] as number) + 1e-6, `step ${largest}, deviation ${deviations[i]}`); // white noise: more than twice the deviation
    for (let k = 0; k < SIDE * SIDE; k++) assert.ok(Math.abs((picture[k] as number) - (picture[2 * SIDE * SIDE + k] as number)) < 1e-6);
  }
  assert.notDeepEqual(pictures[0], pictures[1]);
});

test("bare parts lose their texture and what differs between planes, in the share of the stacks asked for and nowhere else", () => {
  const SIDE = 128;
  const [stacks, planes] = [60, 2];
  const size = SIDE * SIDE;
  /** A chequerboard of contrast 0.2 in the first plane, 0.1 in the second; its mean over 16×16 pixels is 0.5. */
  const board = (plane: number, i: number): number => 0.5 + (((i % SIDE) + Math.floor(i / SIDE)) % 2 === 0 ? 0.1 : -0.1) / (plane + 1);
  const pixels = Float32Array.from({ length: stacks * planes * 3 * size }, (_, i) => board(Math.floor(i / (3 * size)) % planes, i % size));
  const images = engine.constant(pixels, { shape: [stacks, planes, 3, SIDE, SIDE] });
  const made = engine.read(changeImages(engine, images, { augment: { ...off, bare: 0.5 }, random: createRandom(1) })) as Float32Array;
  /** The contrast left at a pixel: 1 as it was, 0 bare. */
  const left = (stack: number, plane: number, i: number, channel = 0): number =>
    ((made[((stack * planes + plane) * 3 + channel) * size + i] as number) - 0.5) / (board(plane, i) - 0.5);
  const shares = Array.from({ length: stacks }, (_, stack) => {
    let bare = 0;
    for (let i = 0; i < size; i += 7) {
      const contrast = left(stack, 0, i);
      assert.ok(contrast > -1e-5 && contrast < 1 + 1e-5, `${contrast}`);
      for (const other of [left(stack, 1, i), left(stack, 0, i, 2)]) assert.ok(Math.abs(other - contrast) < 1e-4);
      if (i % SIDE > 0) assert.ok(Math.abs(left(stack, 0, i - 1) - contrast) < 0.4); // 4 / 64 a pixel for each deviation between nodes
      if (contrast < 1e-5) bare++;
    }
    return bare / Math.ceil(size / 7);
  });
  const changed = shares.filter((share) => share > 0).length / stacks;
  assert.ok(changed > 0.25 && changed < 0.65, `${changed}`); // half, less those whose field lies above the level everywhere
  assert.ok(shares.some((share) => share === 1) && shares.some((share) => share > 0.1 && share < 0.6));
  const untouched = Array.from({ length: stacks }, (_, stack) => stack).filter((stack) => shares[stack] === 0);
  assert.ok(untouched.some((stack) => Array.from({ length: size }, (_, i) => i).every((i) => Math.abs(left(stack, 0, i) - 1) < 1e-5)));
});

test("misalign is the share of stacks whose planes move, by shifts of the deviation given", () => {
  const ramp = (x: number): number => 0.2 + 0.03 * x;
  const middle = 8 * SIDE + 8;
  const shifts = changedPictures({ misalign: 0.25, shift: 0.6 }, { stacks: 200, value: ramp }).map(
    (picture) => ((picture[middle] as number) - ramp(8)) / 0.03,
  );
  const moved = shifts.map((shift) => Math.abs(shift) > 1e-3);
  const stacks = Array.from({ length: 200 }, (_, b) => moved[2 * b] === true);
  assert.ok(stacks.every((is, b) => is === moved[2 * b + 1])); // all planes of a stack or none
  const share = stacks.filter(Boolean).length / 200;
  assert.ok(share > 0.16 && share < 0.34, `share ${share}`); // 0.25 ± 3 standard deviations
  const those = shifts.filter((_, i) => moved[i]);
  const deviation = Math.sqrt(those.reduce((sum, shift) => sum + shift ** 2, 0) / those.length);
  assert.ok(deviation > 0.45 && deviation < 0.75, `deviation ${deviation}`);
});

test("scale grows a picture around its middle", () => {
  const far = (picture: Float32Array): number => ((picture[8 * SIDE + 12] as number) - (picture[8 * SIDE + 3] as number)) / (9 * 0.03);
  const [least, most] = range(changedPictures({ misalign: 1, scale: 0.05 }, { value: (x) => 0.2 + 0.03 * x }).map(far));
  assert.ok(least < 0.95 && most > 1.05 && least > 0.75 && most < 1.25, `${least} to ${most}`);
});
