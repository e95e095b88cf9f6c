import assert from "node:assert/strict";
import { test } from "node:test";
import { boxMean } from "../../src/image/boxFilter.ts";
import type { Image, Size } from "../../src/image/image.ts";
import { goodEnlargement, wellSized, workingPixels } from "../../src/depth/working.ts";
import { createRandom } from "../../src/random.ts";
import type { FocalStack } from "../../src/stack/focalStack.ts";
import { scaledSize, type StackSource } from "../../src/stack/stackSource.ts";

const size = { width: 192, height: 128 };

/**
 * Two planes of noise below a plain strip: the left half is sharp on the first, the right half on the second; the other is mixed with a
 * 3×3 mean by `share`.
 */
function stackBlurredBy(share: number): { images: Image[] } {
  const random = createRandom(5);
  const sharp = Float32Array.from({ length: size.width * size.height }, (_, i) => (i < 20 * size.width ? 0.5 : random.uniform()));
  const smooth = boxMean({ ...size, values: sharp }, 1);
  const images = [0, 1].map((plane): Image => {
    const data = sharp.map((value, i) => {
      const inFocus = i % size.width < size.width / 2 === (plane === 0);
      return inFocus ? value : share * (smooth[i] as number) + (1 - share) * value;
    });
    return { ...size, channels: 1, data };
  });
  return { images };
}

test("the less blur a step adds, the larger the network sees the stack, up to twice", () => {
  // A box of 3 has variance ⅔, as a disk of 4 √⅔ = 3.27 pixels; mixed in by s, of 4 √(⅔ s).
  assert.equal(goodEnlargement(stackBlurredBy(1)), 4 / (4 * Math.sqrt(2 / 3)));
  assert.equal(goodEnlargement(stackBlurredBy(0.5)), 4 / (4 * Math.sqrt(1 / 3)));
  assert.equal(goodEnlargement(stackBlurredBy(0.25)), 2);
});

test("the longer side of what the network sees is the one asked for, to the pixel, and a panorama's shorter side is 32", () => {
  const seen = (shown: Size): Size => scaledSize(shown, workingPixels(shown));
  assert.deepEqual(seen({ width: 1437, height: 958 }), { width: 768, height: 512 }); // 1437 · 2 / 3 = 958
  assert.deepEqual(seen({ width: 78, height: 3222 }), { width: 32, height: 1321 }); // 3222 · 32 / 78 = 1321.8
  for (let width = 769; width < 8000; width += 13)
    for (const height of [width, Math.round(width / 1.5)]) assert.equal(seen({ width, height }).width, 768, `${width}×${height}`);
});

test("a stack without any texture is left as it is, and so is one that would take too long", () => {
  const flat: Image = { ...size, channels: 1, data: new Float32Array(size.width * size.height).fill(0.5) };
  assert.equal(goodEnlargement({ images: [flat, flat] }), 1);
  const { images } = stackBlurredBy(0.25);
  const many = Array.from({ length: 400 }, (_, n) => images[n < 200 ? 0 : 1] as Image); // 9.8 million pixels already
  assert.equal(goodEnlargement({ images: many }), 1);
});

/** What `wellSized` makes of a stack whose files have this size, and what it read of them. */
async function sized(images: readonly Image[], shown: Size): Promise<{ seen: Image; files: Image[] }> {
  const read: FocalStack = { images, focusDistances: [1, 2], space: "depth" };
  const files: Image[] = [];
  const readScaled = (_: number, maxPixels: number): Promise<Image> => {
    const { width, height } = scaledSize(shown, maxPixels);
    files.push({ width, height, channels: 1, data: new Float32Array(width * height).fill(0.5) });
    return Promise.resolve(files.at(-1) as Image);
  };
  const source = { ...read, size: shown, files: ["a", "b"], readScaled } as unknown as StackSource;
  const options = { workingSide: "auto", onStage: () => undefined, signal: new AbortController().signal } as const;
  const { stack } = await wellSized({ aligned: undefined, stack: read, read }, source, options);
  return { seen: stack.images[1] as Image, files };
}

test("images that were read whole are enlarged, not read again", async () => {
  const { seen, files } = await sized(stackBlurredBy(0.25).images, size);
  assert.deepEqual([seen.width, seen.height, seen.data.length, files.length], [384, 256, 384 * 256, 0]);
});

test("files that have the pixels are read again and left as they are, a pixel lower than wanted where reading rounds down", async () => {
  const { seen, files } = await sized(stackBlurredBy(1).images, { width: 768, height: 512 });
  // 192 × 128 times √1.5 is 235.2 × 156.8; 512 · 235 / 768 = 156.7
  assert.deepEqual([seen.width, seen.height, files.length], [235, 156, 2]);
  assert.equal(seen, files[1]);
});

test("files that lack pixels are read whole and enlarged", async () => {
  const { seen, files } = await sized(stackBlurredBy(0.25).images, { width: 288, height: 192 });
  assert.deepEqual([files[1]?.width, files[1]?.height], [288, 192]);
  assert.deepEqual([seen.width, seen.height, seen.data[5000]], [384, 256, 0.5]);
});
