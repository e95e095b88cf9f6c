import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { DatasetError } from "../../../src/data/dataset.ts";
import { isHeldOut } from "../../../src/data/nyuHoldOut.ts";
import { createTorchEngine } from "../../../src/engine/torch/torchEngine.ts";
import { presetCamera } from "../../../src/optics/synthesize/cameras.ts";
import { synthesize } from "../../../src/optics/synthesize/synthesize.ts";
import { createRandom } from "../../../src/random.ts";
import { ConfigError, type TrainConfig } from "../../../src/train/config.ts";
import { cutBatch, type Choice } from "../../../src/train/files/heldBatches.ts";
import { holdStacks, type HeldStacks, type HoldOptions, type HostStack } from "../../../src/train/files/heldStacks.ts";
import { fileSource } from "../../../src/train/files/fileSource.ts";
import { presets } from "../../../src/train/presets.ts";
import { putDepthMm, putPicture, temporaryFolder } from "../../data/files.ts";
import { assertClose } from "../../helpers/close.ts";

const engine = createTorchEngine({ threads: 1 });
const root = temporaryFolder();
const camera = presetCamera("nyu", { width: 0, height: 0 });

/** A picture of noise over depths of 1 to 9 m, every eleventh unknown. */
function noisyPair(seed: number, { width = 24, height = 20 } = {}): HostStack {
  const random = createRandom(seed);
  const pixels = Uint8Array.from({ length: 3 * width * height }, () => random.integer(256));
  const depth = Float32Array.from({ length: width * height }, (_, i) => (i % 11 === 3 ? 0 : 1 + 8 * random.uniform()));
  const known = depth.filter((metres) => metres > 0);
  return { name: `pair ${seed}`, width, height, pictures: [pixels], depth, focus: [Math.min(...known), Math.max(...known)] };
}

const hold = async (stacks: readonly HostStack[], options: Partial<HoldOptions> = {}): Promise<HeldStacks> => {
  const held = await holdStacks(engine, {
    count: stacks.length,
    read: (index) => Promise.resolve(stacks[index] as HostStack),
    order: (place) => place % stacks.length,
    check: () => undefined,
    budget: 1e9,
    least: 1,
    remedy: "buy another",
    progress: () => undefined,
    ...options,
  });
  await held.advance(0);
  return held;
};

const still = { mirrored: { columns: false, rows: false }, reversed: false } as const;
const read = (tensor: Parameters<typeof engine.read>[0]): Float32Array => engine.read(tensor) as Float32Array;

/** A window of a pair as the CPU's synthesis takes it. */
function cpuPair(
  picture: HostStack,
  truth: HostStack,
  { at, of }: { at: { left: number; top: number }; of: { left: number; top: number } },
  side: number,
) {
  const index = (stack: HostStack, from: { left: number; top: number }, i: number): number =>
    (from.top + Math.floor(i / side)) * stack.width + from.left + (i % side);
  const pixels = picture.pictures[0] as Uint8Array;
  const data = Float32Array.from(
    { length: 3 * side * side },
    (_, i) => (pixels[3 * index(picture, of, Math.floor(i / 3)) + (i % 3)] as number) / 255,
  );
  const values = Float32Array.from({ length: side * side }, (_, i) => truth.depth[index(truth, at, i)] as number);
  const valid = Uint8Array.from(values, (metres) => Number(metres > 0));
  return {
    image: { width: side, height: side, channels: 3 as const, data },
    depth: { width: side, height: side, values, valid, space: "depth" as const },
  };
}

test("the picture of one pair under the depth of another is blurred as the CPU would, its window apart from the depth's", async () => {
  const [first, second] = [noisyPair(1), noisyPair(2, { width: 30, height: 26 })];
  const held = await hold([first, second]);
  const [side, margin, focusDistances] = [8, 3, [1.5, 3, 7]];
  const [at, of] = [
    { left: 6, top: 5 },
    { left: 11, top: 4 },
  ]; // far enough from the border for the kernel's reach
  const cut = (slot: number, from: typeof at) => ({ slot, window: { ...from, width: side, height: side }, mirrored: still.mirrored });
  const choice: Choice = { ...still, ...cut(0, at), picture: cut(1, of), focusDistances };
  const { images, trueDepth } = cutBatch(engine, held, [choice], { unit: 1, camera, focusRangeOnly: false });

  const grown = ({ left, top }: typeof at) => ({ left: left - margin, top: top - margin });
  const pair = cpuPair(second, first, { at: grown(at), of: grown(of) }, side + 2 * margin);
  const { stack } = synthesize(pair, { camera, focus: { kind: "explicit", distances: focusDistances }, holes: "blur" });
  const expected = stack.images.flatMap(({ width, data }) =>
    [0, 1, 2].flatMap((c) =>
      Array.from(
        { length: side * side },
        (_, i) => data[3 * ((margin + Math.floor(i / side)) * width + margin + (i % side)) + c] as number,
      ),
    ),
  );
  assertClose(read(images), expected, 1e-5);
  assertClose(read(trueDepth), cpuPair(second, first, { at, of }, side).depth.values, 1e-6);
});

test("tone changes the sharp picture, not the blurred one", async () => {
  const pair = noisyPair(3);
  const tone = { gamma: 1.3, gains: [0.8, 1, 1.1] as const };
  const toned = Float32Array.from(pair.pictures[0] as Uint8Array, (byte, i) =>
    Math.min(1, Math.max(byte / 255, 1e-4) ** tone.gamma * (tone.gains[i % 3] as number)),
  );
  const window = { left: 4, top: 2, width: 16, height: 16 };
  const cut = async (stack: HostStack, more: Pick<Choice, "tone">): Promise<Float32Array> => {
    const choice: Choice = { ...still, slot: 0, window, focusDistances: [1, 4, 9], ...more };
    return read(cutBatch(engine, await hold([stack]), [choice], { unit: 1, camera, focusRangeOnly: false }).images);
  };
  assertClose(await cut(pair, { tone }), await cut({ ...pair, pictures: [toned] }, {}), 1e-6);
});

test("a depth factor blurs and labels a pair as if its depth had been so", async () => {
  const pair = noisyPair(8);
  const window = { left: 3, top: 1, width: 16, height: 16 };
  const choice: Choice = { ...still, slot: 0, window, focusDistances: [0.5, 2, 4.5] };
  const options = { unit: 1, camera, focusRangeOnly: true };
  const scaled = cutBatch(engine, await hold([pair]), [{ ...choice, depthFactor: 0.5 }], options);
  const halved = cutBatch(engine, await hold([{ ...pair, depth: pair.depth.map((metres) => metres / 2) }]), [choice], options);
  for (const key of ["images", "trueDepth", "valid"] as const) assert.deepEqual(read(scaled[key]), read(halved[key]));
  assert.ok(Math.max(...read(scaled.trueDepth)) <= 4.5);
});

test("a reversed pair has its planes, distances and depths mirrored about the middle of the range", async () => {
  const held = await hold([noisyPair(4)]);
  const window = { left: 0, top: 0, width: 16, height: 16 };
  const choice: Choice = { ...still, slot: 0, window, focusDistances: [1, 3, 9] };
  const options = { unit: 2, camera, focusRangeOnly: true };
  const plain = cutBatch(engine, held, [choice], options);
  const turned = cutBatch(engine, held, [{ ...choice, reversed: true }], options);
  assert.deepEqual([...read(plain.focusDistances)], [2, 6, 18]);
  assert.deepEqual([...read(turned.focusDistances)], [2, 14, 18]);
  assert.deepEqual(read(turned.images), read(plain.images.flip(1)));
  const valid = read(plain.valid);
  assert.deepEqual(read(turned.valid), valid);
  assertClose(
    read(turned.trueDepth),
    read(plain.trueDepth).map((depth, i) => (valid[i] ? 20 - depth : 0)),
    1e-5,
  );
});

test("stacks of other sizes, and of more than 8 bits, are held exactly: the slots grow", async () => {
  const [small, large] = [noisyPair(5), noisyPair(6, { width: 40, height: 33 })];
  const deep = { ...noisyPair(7), pictures: [Float32Array.from({ length: 3 * 24 * 20 }, (_, i) => (i % 997) / 997)] };
  const held = await hold([small, large, deep]);
  assert.equal(held.stride, 40 * 33);
  for (const [slot, stack] of [small, large, deep].entries()) {
    const window = { left: stack.width - 9, top: stack.height - 7, width: 9, height: 7 };
    const choice: Choice = { ...still, slot, window, planes: [0], focusDistances: [1] };
    const { images, trueDepth } = cutBatch(engine, held, [choice], { unit: 1, focusRangeOnly: false });
    const place = (i: number): number => (window.top + Math.floor(i / 9)) * stack.width + window.left + (i % 9);
    const values = stack.pictures[0] as Uint8Array | Float32Array;
    const scale = values instanceof Uint8Array ? 1 / 255 : 1;
    const expected = [0, 1, 2].flatMap((c) => Array.from({ length: 63 }, (_, i) => scale * (values[3 * place(i) + c] as number)));
    assertClose(read(images), expected, 1e-6);
    assertClose(
      read(trueDepth),
      Array.from({ length: 63 }, (_, i) => stack.depth[place(i)] as number),
      0,
    );
  }
});

test("a set that does not fit rolls through the memory there is; what is held follows from the step alone", async () => {
  const stacks = [1, 2, 3, 4, 5].map((seed) => noisyPair(seed));
  const budget = 3.5 * 24 * 20 * 8; // 3 bytes of colour, 4 of depth, 1 of mask
  const lines: string[] = [];
  const options = { budget, least: 3, progress: (line: string) => void lines.push(line) };
  const rolling = await hold(stacks, options);
  assert.deepEqual([rolling.size, rolling.rolling], [3, true]);
  assert.match(lines.join(), /3 of 5 stacks fit/);
  const names = (held: HeldStacks): string[] => [0, 1, 2].map((slot) => held.at(slot).name);
  assert.deepEqual(names(rolling), ["pair 1", "pair 2", "pair 3"]);
  await rolling.advance(8);
  assert.deepEqual(names(rolling), ["pair 4", "pair 2", "pair 3"]);
  await rolling.advance(24);
  const resumed = await hold(stacks, options);
  await resumed.advance(24);
  assert.deepEqual(names(rolling), ["pair 4", "pair 5", "pair 1"]);
  assert.deepEqual(names(resumed), names(rolling));
  assert.deepEqual(read(resumed.pixels), read(rolling.pixels));
  await assert.rejects(
    hold(stacks, { ...options, least: 4 }),
    (error) => error instanceof ConfigError && /only 3 of 5 stacks fit .* 4 are needed .*: buy another/.test(error.message),
  );
});

const nyuFolder = async (name: string, names: readonly string[], mm = (x: number): number => 1000 + 40 * x): Promise<string> => {
  const [dir, size] = [join(root, name), { width: 60, height: 50 }];
  for (const picture of names) {
    await putPicture(join(dir, "rgb", `${picture}.png`), size, (x, y, c) => (31 * x + 17 * y + 90 * c) % 256);
    putDepthMm(join(dir, "depth_mm", `${picture}.png`), size, mm);
  }
  return dir;
};

const config: TrainConfig = { ...presets.nyuTuned, batch: { size: 2, planes: [3, 5], crop: 32 }, precision: "f32" };
const open = (data: string, changed: TrainConfig = config) =>
  fileSource({ engine, config: changed, data, share: { rank: 0, of: 1 }, progress: () => undefined });

test("NYU's hold-out is a hundred pictures that are never trained on", async (context) => {
  const official = Array.from({ length: 1449 }, (_, i) => String(i + 1).padStart(5, "0"));
  assert.equal(official.filter(isHeldOut).length, 100);
  assert.ok(isHeldOut("0091") && !isHeldOut("00116") && !isHeldOut("rgb_00091"));
  const dir = await nyuFolder("official", ["00002", "00018", "00091", "00116", "00117"]);
  const files = await open(dir);
  context.after(() => files.close());
  assert.equal(files.stepsPerEpoch, 3 / ((2 + 2) / 2)); // batches of 2 at 3 planes and, never fewer than 2, at 5
});

test("depth factors and foreign depth are drawn for each stack, and focus distances follow", async (context) => {
  const dir = join(root, "official");
  const drawn: TrainConfig = { ...config, data: { ...config.data, depthFactor: [0.5, 2], foreignDepth: 1 } as TrainConfig["data"] };
  const [plain, changed] = [await open(dir), await open(dir, drawn)];
  context.after(() => Promise.all([plain.close(), changed.close()]));
  const factors = new Set<number>();
  for (const step of [0, 1, 2, 3]) {
    const [before, after] = [await plain.batches.batch(step), await changed.batches.batch(step)];
    const [f, g, d, e] = [before.focusDistances, after.focusDistances, before.trueDepth, after.trueDepth].map(read) as [
      Float32Array,
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    const planes = before.images.shape[1] as number;
    for (let b = 0; b < 2; b++) {
      const factor = (g[b * planes] as number) / (f[b * planes] as number);
      factors.add(factor);
      assert.ok(factor >= 0.5 && factor <= 2, `${factor}`);
      assertClose([g[(b + 1) * planes - 1] as number], [factor * (f[(b + 1) * planes - 1] as number)], 1e-5);
      const pixel = b * 32 * 32 + 500;
      assertClose([e[pixel] as number], [factor * (d[pixel] as number)], 1e-5);
    }
  }
  assert.ok(factors.size > 4);
});

test("a pair without valid depth and an image smaller than the crop are refused before training", async () => {
  const refuse = async (dir: string, kind: new (...given: never[]) => Error, message: RegExp): Promise<void> => {
    const run = async (): Promise<void> => {
      const source = await open(dir);
      await source.prepare(0);
    };
    await assert.rejects(run(), (error) => error instanceof kind && message.test(error.message));
  };
  await refuse(await nyuFolder("blind", ["00002", "00018"], () => 0), DatasetError, /00018\.png.*: no pixel of the depth is valid; leave/);
  await refuse(await nyuFolder("flat", ["00002", "00018"], () => 2000), DatasetError, /the depth is 2 m everywhere/);
  const tiny = join(root, "tiny");
  for (const name of ["00002", "00018"]) {
    await putPicture(join(tiny, "rgb", `${name}.png`), { width: 30, height: 30 });
    putDepthMm(join(tiny, "depth_mm", `${name}.png`), { width: 30, height: 30 }, (x) => 1000 + x);
  }
  await refuse(tiny, ConfigError, /batch\.crop \(32\) is larger than 00002 of the nyu data, 24×24/);
});
