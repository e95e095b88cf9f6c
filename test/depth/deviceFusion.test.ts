import assert from "node:assert/strict";
import { test } from "node:test";

import { createStackFusion, type Frame, type StackFusion } from "../../src/depth/allInFocus/stackFusion.ts";
import { deviceFusion } from "../../src/depth/node/device/deviceFusion.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import type { Image, StoredImage } from "../../src/image/image.ts";
import type { FocusProbability } from "../../src/network/focusProbability.ts";
import { texture } from "../helpers/texturedStack.ts";

const engine = createTorchEngine({ threads: 2 });
const onEngine = deviceFusion(engine, () => assert.fail("there is room"));
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

for (const [name, frames] of Object.entries(STACKS))
  for (const size of [
    { width: 100, height: 64 },
    { width, height },
  ])
    // prettier-ignore
    test(`the image computed with engine operations is the CPU's: ${name}, p at ${size.width}×${size.height}`, async () => {
      const shape = { width, height, channels: frames[0]?.image.channels as Image["channels"] };
      const p = probability(size);
      const want = await fused(createStackFusion(shape, p, {}), frames);
      const got = await fused(onEngine(shape, p, {}), frames);
      assert.deepEqual({ ...got, data: got.data.length }, { ...want, data: want.data.length });
      const apart = want.data.map((value, i) => Math.abs(value - (got.data[i] as number)));
      const far = apart.filter((value) => value > 1e-3).length; // where two planes are equally strong either may win
      assert.ok(far < 1e-3 * apart.length, `${far} of ${apart.length} samples differ by more than 1e-3`);
      const mean = apart.reduce((sum, value) => sum + value, 0) / apart.length;
      assert.ok(mean < 1e-4, `mean difference ${mean}`);
      assert.ok(Math.max(...want.data.subarray(0, 3000)) - Math.min(...want.data.subarray(0, 3000)) > 0.2, "there is an image");
    });

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
  context.mock.method(engine, "memory", () => ({ allocated: 0, reserved: 0, peak: 0, free: 1e6 }));
  const elsewhere = createStackFusion(shape, p, {});
  assert.equal(deviceFusion(engine, () => elsewhere)(shape, p, {}), elsewhere);
});
