import assert from "node:assert/strict";
import { test } from "node:test";
import sharp, { type Metadata } from "sharp";
import { encodeGif } from "../../src/io/gif.ts";
import { createRandom } from "../../src/random.ts";

type Paint = (x: number, y: number) => readonly [number, number, number];

const frameOf = (width: number, height: number, paint: Paint): Uint8ClampedArray =>
  Uint8ClampedArray.from({ length: 4 * width * height }, (_, i) => {
    const pixel = Math.floor(i / 4);
    return i % 4 === 3 ? 255 : (paint(pixel % width, Math.floor(pixel / width))[i % 4] as number);
  });

/** libvips reads it: frames one below the other. */
async function decoded(gif: Uint8Array): Promise<{ meta: Metadata; rgb: Buffer }> {
  const read = sharp(gif, { animated: true });
  return { meta: await read.metadata(), rgb: await read.clone().removeAlpha().raw().toBuffer() };
}

const differences = (rgb: Uint8Array, frames: readonly Uint8ClampedArray[]): number[] =>
  frames.flatMap((frame) => [...frame].filter((_, i) => i % 4 < 3)).map((value, i) => Math.abs(value - (rgb[i] as number)));

test("a few colours come back exactly, frame by frame, at the stated pace, without end", async () => {
  const colours = [[250, 10, 10], [10, 250, 10], [10, 10, 250], [128, 128, 128], [0, 0, 0], [255, 255, 255]] as const; // prettier-ignore
  const frames = [0, 1, 2].map((n) => frameOf(37, 23, (x, y) => colours[(x + 2 * y + n) % 6] as (typeof colours)[number]));
  const { meta, rgb } = await decoded(encodeGif(frames, { width: 37, height: 23, delay: 0.1 }));
  assert.deepEqual([meta.width, meta.pageHeight, meta.pages, meta.loop, meta.delay], [37, 23, 3, 0, [100, 100, 100]]);
  assert.equal(Math.max(...differences(rgb, frames)), 0);
});

test("every length of codes and full dictionaries are read back: noise of 64 colours", async () => {
  const random = createRandom(3);
  for (const side of [1, 2, 17, 16, 181]) {
    const frames = [frameOf(side, side, () => [0, 1, 2].map(() => 20 + 70 * Math.floor(3.9 * random.uniform())) as never)];
    const { rgb } = await decoded(encodeGif(frames, { width: side, height: side, delay: 0.05 }));
    assert.equal(Math.max(...differences(rgb, frames)), 0, `side ${side}`);
  }
});

test("smooth colours differ by little, and on average over a few pixels by less", async () => {
  const [width, height] = [160, 120];
  const frames = [0, 1].map((n) =>
    frameOf(width, height, (x, y) => [(255 * x) / width, (255 * y) / height, 128 + 100 * Math.sin((x + y + 20 * n) / 40)]),
  );
  const { rgb } = await decoded(encodeGif(frames, { width, height, delay: 0.1 }));
  const each = differences(rgb, frames);
  const mean = each.reduce((sum, value) => sum + value, 0) / each.length;
  assert.ok(mean < 9, `mean difference ${mean.toFixed(1)} of 255`);
  let [blocks, off] = [0, 0];
  for (let y = 0; y < height; y += 4)
    for (let x = 0; x < width; x += 4)
      for (const channel of [0, 1, 2]) {
        let sum = 0;
        for (let dy = 0; dy < 4; dy++)
          for (let dx = 0; dx < 4; dx++) {
            const pixel = (y + dy) * width + x + dx;
            sum += (rgb[3 * pixel + channel] as number) - (frames[0]?.[4 * pixel + channel] as number);
          }
        blocks += 1;
        off += Math.abs(sum / 16);
      }
  assert.ok(off / blocks < 0.75 * mean, `${(off / blocks).toFixed(1)} over 4×4 pixels, ${mean.toFixed(1)} over one`);
});

test("frames of another size, and no frames, are refused", () => {
  assert.throws(() => encodeGif([new Uint8ClampedArray(16)], { width: 3, height: 2, delay: 0.1 }), /frame 0 of the GIF is not 3×2 pixels/);
  assert.throws(() => encodeGif([], { width: 3, height: 2, delay: 0.1 }), /a GIF needs at least one frame/);
  assert.throws(() => encodeGif([], { width: 70000, height: 2, delay: 0.1 }), /cannot be 70000×2/);
});
