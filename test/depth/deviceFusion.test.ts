import assert from "node:assert/strict";
import { test } from "node:test";

import { createStackFusion, type CreateStackFusion, type Frame, type StackFusion } from "../../src/depth/allInFocus/stackFusion.ts";
import { deviceFusion } from "../../src/depth/node/device/deviceFusion.ts";
import { runDepthWith } from "../../src/depth/run.ts";
import { DeviceLimitError, EngineError } from "../../src/engine/errors.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import type { Image, StoredImage } from "../../src/image/image.ts";
import type { DepthNetwork } from "../../src/network/depthNetwork.ts";
import { DEFAULT_ERROR_MODEL } from "../../src/network/facts.ts";
import type { FocusProbability } from "../../src/network/focusProbability.ts";
import { arraySource } from "../helpers/arraySource.ts";
import { slantedStack, texture } from "../helpers/texturedStack.ts";

const engine = createTorchEngine({ threads: 2 });
const full: CreateStackFusion = () => assert.fail("there is room");
const onEngine = deviceFusion(engine, full);
const DEVICES = {
  cpu: onEngine,
  ...(engine.native("cudaAvailable") ? { cuda: deviceFusion(createTorchEngine({ device: "cuda", trainingKernels: false }), full) } : {}),
};
const [width, height] = [401, 254]; // odd, and not a multiple of any level's pixels

/** Three planes, each likeliest in a third of the image. */
function probability(size: { width: number; height: number }): FocusProbability {
  const area = size.width * size.height;
  const values = Float32Array.from({ length: 3 * area }, (_, i) =>
    Math.floor((3 * (i % size.width)) / size.width) === Math.floor(i / area) ? 0.8 : 0.1,
  );
  return { planes: 3, ...size, values };
}

const grey = ({ data, ...rest }: Image): Image => ({ ...rest, channels: 1, data: data.filter((_, i) => i % 3 === 1) });
const bytesOf = (image: Image): StoredImage => ({ ...image, data: Uint8Array.from(image.data, (value) => Math.round(255 * value)) });
const shortsOf = (image: Image): StoredImage => ({ ...image, data: Uint16Array.from(image.data, (value) => Math.round(65535 * value)) });
const [one, two, three] = [1, 2, 3].map((seed) => texture({ width, height, seed })) as [Image, Image, Image];
const still = { scale: 1, angle: 0, shift: [0, 0] as const };

const STACKS: Readonly<Record<string, readonly Frame[]>> = {
  "floats, bytes and shorts as they are": [one, bytesOf(two), shortsOf(three)].map((image) => ({ image, isReference: false })),
  "frames that moved, turned and changed brightness": [
    { image: bytesOf(one), isReference: true, alignment: { transform: still, gain: [1, 1, 1], ok: true } },
    {
      image: bytesOf(two),
      isReference: false,
      alignment: { transform: { scale: 1.01, angle: 0.01, shift: [12.3, -4.5] }, gain: [1.1, 1, 0.9], ok: true },
    },
    { image: three, isReference: false, alignment: { transform: { ...still, shift: [-30.25, 7] }, gain: [1, 1, 1], ok: true } },
  ],
  "one channel": [grey(one), bytesOf(grey(two)), grey(three)].map((image) => ({ image, isReference: false })),
};

async function fused(fusion: StackFusion, frames: readonly Frame[]): Promise<Image> {
  try {
    for (const [plane, frame] of frames.entries()) await fusion.add(frame, plane);
    return await fusion.finish();
  } finally {
    await fusion.close();
  }
}

const SIZES = [
  { width: 100, height: 64 },
  { width, height },
];

for (const [device, create] of Object.entries(DEVICES))
  for (const [name, frames] of Object.entries(STACKS))
    test(`the image computed with engine operations on ${device} is the CPU's: ${name}`, async () => {
      for (const size of SIZES) await compare(create, frames, probability(size));
    });

async function compare(create: CreateStackFusion, frames: readonly Frame[], p: FocusProbability): Promise<void> {
  const shape = { width, height, channels: frames[0]?.image.channels as Image["channels"] };
  const want = await fused(createStackFusion(shape, p, {}), frames);
  const got = await fused(create(shape, p, {}), frames);
  assert.deepEqual({ ...got, data: got.data.length }, { ...want, data: want.data.length });
  const apart = want.data.map((value, i) => Math.abs(value - (got.data[i] as number)));
  const far = apart.filter((value) => value > 1e-3).length; // where two planes are equally strong either may win
  assert.ok(far < 1e-3 * apart.length, `${far} of ${apart.length} samples differ by more than 1e-3`);
  const mean = apart.reduce((sum, value) => sum + value, 0) / apart.length;
  assert.ok(mean < 1e-4, `mean difference ${mean}`);
  assert.ok(Math.max(...want.data.subarray(0, 3000)) - Math.min(...want.data.subarray(0, 3000)) > 0.2, "there is an image");
}

test("a frame that is turned too far is refused as on the CPU", async () => {
  const upside: Frame = { image: one, isReference: false, alignment: { transform: { ...still, angle: 2 }, gain: [1, 1, 1], ok: true } };
  for (const create of [createStackFusion, onEngine]) {
    const fusion = create({ width, height, channels: 3 }, probability({ width: 10, height: 10 }), {});
    await assert.rejects(async () => fusion.add(upside, 0), /a rotation by 115° is too large/);
    await fusion.close();
  }
});

test("without room on the device it is computed elsewhere, and every tensor is freed in the end", async (context) => {
  const shape = { width, height, channels: 3 } as const;
  const p = probability({ width: 10, height: 10 });
  const before = engine.liveTensors();
  await fused(onEngine(shape, p, {}), STACKS["frames that moved, turned and changed brightness"] as readonly Frame[]);
  assert.equal(engine.liveTensors(), before);
  const elsewhere = createStackFusion(shape, p, {});
  const needed = 256 * width * height;
  const isElsewhere = async (device: string, free: number): Promise<boolean> => {
    const memory = () => ({ allocated: 1e6, reserved: 1e6 + 0.5 * needed, peak: 0, free });
    const fusion = deviceFusion({ ...engine, device, memory }, () => elsewhere)(shape, p, {});
    await fusion.close();
    return fusion === elsewhere;
  };
  assert.deepEqual([await isElsewhere("cpu", 0.99 * needed), await isElsewhere("cpu", needed)], [true, false]);
  assert.deepEqual([await isElsewhere("cuda", 0.49 * needed), await isElsewhere("cuda", 0.5 * needed)], [true, false]); // half is kept by libtorch
  let made = 0;
  context.mock.method(engine, "full", (...given: Parameters<typeof allocate>) => ((made += 1) < 4 ? allocate(...given) : exhausted()));
  assert.equal(deviceFusion(engine, () => elsewhere)(shape, p, {}), elsewhere);
  assert.equal(made, 4);
  assert.equal(engine.liveTensors(), before);
});

const allocate = engine.full.bind(engine);
const exhausted = (): never => {
  throw new DeviceLimitError("full: CUDA out of memory");
};
const broken = (): never => {
  throw new EngineError("full: CUDA error: an illegal memory access was encountered");
};

/** The all-in-focus image of a small stack; `onFrame` is called after each frame. */
async function run(create: CreateStackFusion, onFrame: (frame: number) => void): Promise<Image | undefined> {
  const { stack } = slantedStack({ width: 160, height: 112, planes: 3 });
  const [{ width, height }] = stack.images as [Image];
  const network: DepthNetwork = {
    ...{ facts: {}, average: "metres", errorModel: DEFAULT_ERROR_MODEL, notes: [], device: "cpu", reason: "test" },
    predict: () => Promise.resolve({ planes: 3, width, height, values: new Float32Array(3 * width * height).fill(1 / 3) }),
    dispose: () => Promise.resolve(),
  };
  const onStage = (stage: string, done: number): void => {
    if (stage === "enlarge") onFrame(done);
  };
  return (await runDepthWith(create, arraySource(stack), { network, prefer: "near", workingSide: 160, onStage })).result.allInFocus;
}

test("an engine that fails for another reason is reported, not worked around, and every tensor is freed", async (context) => {
  const shape = { width, height, channels: 3 } as const;
  const before = engine.liveTensors();
  const full = context.mock.method(engine, "full", broken);
  assert.throws(() => onEngine(shape, probability({ width: 10, height: 10 }), {}), /illegal memory access/);
  full.mock.restore();
  assert.equal(engine.liveTensors(), before);
  const frames: number[] = [];
  await assert.rejects(
    run(deviceFusion(engine, createStackFusion), (frame) => {
      frames.push(frame);
      context.mock.method(engine, "constant", broken);
    }),
    /illegal memory access/,
  );
  assert.deepEqual(frames, [1]);
  assert.equal(engine.liveTensors(), before);
});

test("if the device's memory is exhausted at the second frame, the image is computed elsewhere from the first, and every tensor is freed", async (context) => {
  const want = await run(createStackFusion, () => undefined);
  const before = engine.liveTensors();
  const frames: number[] = [];
  const got = await run(deviceFusion(engine, createStackFusion), (frame) => {
    frames.push(frame);
    if (frames.length === 1) context.mock.method(engine, "constant", exhausted);
  });
  assert.deepEqual(frames, [1, 1, 2, 3, 4]);
  assert.deepEqual(got, want);
  assert.equal(engine.liveTensors(), before);
  await assert.rejects(
    run(
      (...given) => onEngine(...given),
      () => undefined,
    ),
    EngineError,
  ); // nothing else is offered
});
