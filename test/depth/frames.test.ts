import assert from "node:assert/strict";
import { test } from "node:test";

import type { Alignment } from "../../src/align/alignment.ts";
import { IDENTITY } from "../../src/align/similarity.ts";
import { frameAlignment, inspectFrames } from "../../src/depth/frames.ts";
import { readWorking } from "../../src/depth/working.ts";
import { boxMean } from "../../src/image/boxFilter.ts";
import type { Image } from "../../src/image/image.ts";
import { resize } from "../../src/image/resize.ts";
import { createRandom } from "../../src/random.ts";
import type { StackSource } from "../../src/stack/stackSource.ts";
import { arraySource } from "../helpers/arraySource.ts";
import { texture } from "../helpers/texturedStack.ts";

const size = { width: 640, height: 480 };

/** Three photos of fine texture, all but the second blurred by a box of 3 if `swept`; read in any size up to their own. */
function photos({ swept }: { swept: boolean }): { source: StackSource; reads: number[] } {
  const random = createRandom(3);
  const sharp = Float32Array.from({ length: size.width * size.height }, () => random.uniform());
  const soft = swept ? boxMean({ ...size, values: sharp }, 1) : sharp;
  const images = [soft, sharp, soft].map((data): Image => ({ ...size, channels: 1, data: data.map((value) => value + 0.002 * random.normal()) })); // prettier-ignore
  const reads: number[] = [];
  const readScaled = (plane: number, pixels: number): Promise<Image> => {
    const factor = Math.min(1, Math.sqrt(pixels / (size.width * size.height)));
    const smaller = { width: Math.round(factor * size.width), height: Math.round(factor * size.height), filter: "lanczos" } as const;
    reads.push(smaller.width);
    return Promise.resolve({ ...(images[plane] as Image), ...resize(images[plane] as Image, smaller) });
  };
  return { source: { ...arraySource({ images, focusDistances: [1, 2, 3], space: "depth" }), readScaled }, reads };
}

test("before no change of focus is stated the photos are looked at in a larger size, no larger than their own", async () => {
  const options = { onStage: () => undefined, signal: new AbortController().signal };
  for (const swept of [true, false]) {
    const { source, reads } = photos({ swept });
    const small = await readWorking(source, { ...options, workingSide: 213 });
    const { findings } = await inspectFrames(small, source, { ...options, alignment: undefined });
    assert.equal(findings.some(({ code }) => code === "no-focus-change"), !swept); // prettier-ignore
    assert.deepEqual(reads, [213, 213, 213, 640, 640, 640]);
    const whole = await readWorking(source, { ...options, workingSide: 640 });
    await inspectFrames(whole, source, { ...options, alignment: undefined });
    assert.equal(reads.length, 9); // interpolated ones would show nothing more
  }
});

test("a saved alignment meets the stack in the size of its images, and is refused if it equalises other channels than they have", async () => {
  const images = [1, 2].map((seed): Image => texture({ width: 32, height: 24, seed }));
  const stack = { images, focusDistances: [1, 2], space: "depth" } as const;
  const aligned = (gain: number[]): Promise<Alignment> => {
    const frames = images.map(() => ({ transform: { ...IDENTITY, shift: [8, 4] }, gain, ok: true }) as const);
    const align = { width: 128, height: 96, reference: 0, frames };
    return frameAlignment(stack, arraySource(stack), { align, onStage: () => undefined, signal: new AbortController().signal });
  };
  const { width, height, frames } = await aligned([1.2, 1, 0.9]);
  assert.deepEqual([width, height, frames[1]?.transform.shift, frames[1]?.gain], [32, 24, [2, 1], [1.2, 1, 0.9]]);
  await assert.rejects(aligned([1.2]), {
    code: "alignment-mismatch",
    message: "memory: the alignment: is for images of 1 channel, the stack has images of 3",
  });
});
