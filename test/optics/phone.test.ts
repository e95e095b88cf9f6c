import assert from "node:assert/strict";
import { test } from "node:test";
import sharp from "sharp";
import type { Image } from "../../src/image/image.ts";
import { compressLikeJpeg } from "../../src/optics/render/jpeg.ts";
import { phoneImage } from "../../src/optics/render/phone.ts";
import { renderScene } from "../../src/optics/render/render.ts";
import { takenByPhone } from "../../src/optics/scene/phone.ts";
import { randomScene } from "../../src/optics/scene/random.ts";
import { checkScene, type Imperfections, type Phone, withPlanes } from "../../src/optics/scene/scene.ts";
import { generateTextures } from "../../src/optics/texture/texture.ts";
import { createRandom } from "../../src/random.ts";

const same = { black: 0, gamma: 1, contrast: 0 };
const nothing: Phone = { shading: [0, 0, 0], denoise: 0, sharpen: 0, tone: [same], jpegQuality: 100 };

/** A grey picture of `value(x, y)`. */
const grey = (value: (x: number, y: number) => number, [width, height] = [16, 16]): Image => ({
  width,
  height,
  channels: 3,
  data: Float32Array.from({ length: 3 * width * height }, (_, i) => value(Math.floor(i / 3) % width, Math.floor(i / 3 / width))),
});

/** The red channel of row 8. */
const row = ({ width, data }: Image): number[] => Array.from({ length: width }, (_, x) => data[3 * (8 * width + x)] as number);

const assertNear = (actual: readonly number[], expected: readonly number[], within: number): void => {
  expected.forEach((value, i) => {
    assert.ok(Math.abs((actual[i] as number) - value) <= within, `[${i}]: ${actual[i]} is not within ${within} of ${value}`);
  });
};

test("JPEG with chroma at half resolution is what an encoder makes of the same picture", async () => {
  const textures = generateTextures({ count: 12 });
  const scene = randomScene(3, { planes: 2, width: 70, height: 50, textures: [1, 4, 5, 7, 10], theme: "clutter" });
  const [picture] = renderScene(scene, { textures, samples: 8 }).stack.images as [Image];
  const bytes = Uint8Array.from(picture.data, (value) => Math.round(255 * value));
  const exact = { ...picture, data: Float32Array.from(bytes, (byte) => byte / 255) };
  for (const quality of [50, 75, 95]) {
    const raw = { width: 70, height: 50, channels: 3 } as const;
    const file = await sharp(bytes, { raw }).jpeg({ quality, chromaSubsampling: "4:2:0" }).toBuffer();
    const decoded = await sharp(file).raw().toBuffer();
    const ours = compressLikeJpeg(exact, quality, { chroma: "half" });
    const difference = (other: ArrayLike<number>): number =>
      decoded.reduce((sum, byte, i) => sum + Math.abs(byte - (other[i] as number)), 0) / decoded.length;
    const [apart, changed] = [difference(ours.data.map((value) => 255 * value)), difference(bytes)];
    // The encoder rounds each pixel's luminance and chroma to whole levels, which alone makes about one level of difference.
    assert.ok(apart < 1.3, `quality ${quality}: ${apart} levels from the encoder's`);
    if (quality === 50) assert.ok(apart < 0.25 * changed, `${apart} of the ${changed} levels that the encoder changed`);
  }
});

test("sharpening overshoots on both sides of an edge by the blur's share of the step", () => {
  const edge = grey((x) => (x < 8 ? 0.4 : 0.6));
  // The blur 1 4 6 4 1 reaches 5/16 of the step into the pixel beside the edge and 1/16 into the next.
  const expected = [0.4, 0.4 - 0.2 / 16, 0.4 - 0.2 * (5 / 16), 0.6 + 0.2 * (5 / 16), 0.6 + 0.2 / 16, 0.6];
  assertNear(row(phoneImage(edge, { ...nothing, sharpen: 1 }, 0)).slice(5, 11), expected, 0.006);
  assertNear(row(phoneImage(edge, nothing, 0)), row(edge), 0.003);
});

test("denoising wipes what is well below its strength and keeps edges well above it", () => {
  const fine = grey((x, y) => 0.5 + ((x + y) % 2 === 0 ? 0.02 : -0.02));
  const wiped = row(phoneImage(fine, { ...nothing, denoise: 0.08 }, 0)); // a = 0.02² / (0.02² + 0.08²) = 1/17
  assert.ok(Math.max(...wiped) - Math.min(...wiped) < 0.04 / 5, String(wiped));
  const edge = grey((x) => (x < 8 ? 0.2 : 0.8));
  assertNear(row(phoneImage(edge, { ...nothing, denoise: 0.04 }, 0)), row(edge), 0.03);
});

test("every frame has its own tone curve, and light falls off as asked", () => {
  const tone = [same, { black: 0.1, gamma: 2, contrast: 0 }, { ...same, contrast: 0.5 }];
  const levels = tone.map(
    (_, plane) =>
      row(
        phoneImage(
          grey(() => 0.4),
          { ...nothing, tone },
          plane,
        ),
      )[8] as number,
  );
  assertNear(levels, [0.4, (0.3 / 0.9) ** 2, 0.4 + 0.5 * 0.4 * 0.6 * -0.2], 0.004);
  const shaded = row(
    phoneImage(
      grey(() => 0.5),
      { ...nothing, shading: [0.2, 0, 0.4] },
      0,
    ),
  );
  const at = (x: number): number => (2 * x + 1) / 16 - 1;
  const factor = (x: number): number => 1 + 0.2 * at(x) - (0.4 * (at(x) ** 2 + at(8) ** 2)) / 2;
  assertNear(
    shaded,
    Array.from({ length: 16 }, (_, x) => 0.5 * factor(x)),
    0.006,
  );
});

test("phones move by up to a few pixels, breathe about the middle, and change exposure from frame to frame", () => {
  const scene = randomScene(1, { planes: 9, width: 256, height: 192 });
  const many = Array.from({ length: 60 }, (_, seed) => checkScene(takenByPhone(scene, createRandom(seed))).imperfections as Imperfections);
  const ends = many.map((flaws) => flaws.misalignment?.at(-1));
  const edgeShift = ends.map((moved) => Math.abs((moved?.scale ?? 1) - 1) * 128); // (s − 1) r at the edge of the longer side
  assert.ok(Math.max(...edgeShift) > 1 && Math.max(...edgeShift) <= 3, `breathing ${Math.max(...edgeShift)}`);
  assert.ok(
    many.every((flaws) => flaws.misalignment?.[4]?.scale === 1),
    "the middle plane keeps its scale",
  );
  const shifts = ends.map((moved) => Math.hypot(...(moved?.shift ?? [0, 0])));
  assert.ok(Math.max(...shifts) > 1.5 && Math.max(...shifts) < 6, `shift ${Math.max(...shifts)}`);
  const gains = many.flatMap((flaws) => flaws.exposureDrift ?? []);
  assert.ok(Math.max(...gains) > 1.05 && Math.min(...gains) < 0.95);
});

test("planes taken from a scene keep what belongs to each of them; without phones scenes are what they were", () => {
  const options = { planes: 6, phone: 1 } as const;
  const scene = randomScene(2, options);
  const two = checkScene(withPlanes(scene, [1, 4]));
  const [flaws, kept] = [scene, two].map(({ imperfections }) => imperfections) as [Imperfections, Imperfections];
  assert.deepEqual(two.focusDistances, [scene.focusDistances[1], scene.focusDistances[4]]);
  assert.deepEqual(kept.phone?.tone, [flaws.phone?.tone[1], flaws.phone?.tone[4]]);
  assert.deepEqual(kept.exposureDrift, [flaws.exposureDrift?.[1], flaws.exposureDrift?.[4]]);
  const ideal = randomScene(2, { planes: 6 });
  assert.deepEqual({ ...scene, light: ideal.light, imperfections: undefined }, { ...ideal, imperfections: undefined });
  const broken = { ...scene, imperfections: { ...flaws, phone: { ...flaws.phone, tone: [] } } };
  assert.throws(() => checkScene(broken), /imperfections\.phone\.tone: expected one entry per plane \(6\), got 0/);
});
