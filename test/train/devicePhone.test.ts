import assert from "node:assert/strict";
import { test } from "node:test";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import type { Image } from "../../src/image/image.ts";
import { phoneImage } from "../../src/optics/render/phone.ts";
import { interleave } from "../../src/optics/render/render.ts";
import type { Phone } from "../../src/optics/scene/scene.ts";
import { createRandom } from "../../src/random.ts";
import { createPhoneImages } from "../../src/train/devicePhone.ts";

const engine = createTorchEngine({ threads: 1 });
const phoneImages = createPhoneImages(engine);
const [B, N, H, W] = [3, 2, 32, 48];

const flat = { black: 0, gamma: 1, contrast: 0 };
const strong: Phone = {
  shading: [0.2, -0.1, 0.4],
  denoise: 0.05,
  sharpen: 1.2,
  tone: [
    { black: 0.03, gamma: 1.3, contrast: 0.6 },
    { black: 0, gamma: 0.8, contrast: -0.1 },
  ],
  jpegQuality: 70,
};
const phones: readonly Phone[] = [
  strong,
  { shading: [0, 0, 0], denoise: 0, sharpen: 0, tone: [flat, flat], jpegQuality: 90 },
  { ...strong, denoise: 0.02, sharpen: 0, jpegQuality: 40 },
];

/** Coloured patches with noise: edges, flat parts and fine texture. */
const random = createRandom(1);
const tones = Array.from({ length: 3 * 24 }, () => random.integer(256));
const bytes = Uint8Array.from({ length: B * N * 3 * H * W }, (_, i) => {
  const [x, y, channel] = [i % W, Math.floor(i / W) % H, Math.floor(i / W / H) % 3];
  const tone = tones[3 * (Math.floor(x / 8) + 6 * Math.floor(y / 8)) + channel] as number;
  return Math.min(Math.max(Math.round(tone + (x < 24 ? 12 * random.normal() : 0)), 0), 255);
});

test("on the device every frame comes out as from the plain code, but for rounding", () => {
  const made = engine.read(phoneImages(engine.constant(bytes, { shape: [B, N, 3, H, W], dtype: "u8" }), phones)) as Uint8Array;
  const size = 3 * H * W;
  for (let frame = 0; frame < B * N; frame++) {
    const part = Float32Array.from(bytes.subarray(frame * size, (frame + 1) * size), (byte) => byte / 255);
    const expected: Image = phoneImage(interleave(part, W, H), phones[Math.floor(frame / N)] as Phone, frame % N);
    const actual = interleave(
      Float32Array.from(made.subarray(frame * size, (frame + 1) * size), (byte) => byte / 255),
      W,
      H,
    );
    const apart = actual.data.map((value, i) => Math.abs(255 * (value - (expected.data[i] as number))));
    const mean = apart.reduce((sum, value) => sum + value, 0) / size;
    // A frequency half-way between two steps may be rounded either way, which changes its block by a few levels.
    assert.ok(mean < 0.1, `frame ${frame}: mean difference ${mean} levels`);
    const changed = actual.data.reduce((sum, value, i) => sum + Math.abs(255 * (value - (interleave(part, W, H).data[i] as number))), 0);
    assert.ok(changed / size > 0.5, `frame ${frame} changed by ${changed / size} levels only`);
  }
});

test("a stack comes out the same regardless of the rest of the batch", () => {
  const images = engine.constant(bytes, { shape: [B, N, 3, H, W], dtype: "u8" });
  const all = engine.read(phoneImages(images, phones)) as Uint8Array;
  const alone = engine.read(phoneImages(images.slice(0, { start: 2 }), phones.slice(2))) as Uint8Array;
  assert.deepEqual(alone, all.subarray((2 * all.length) / B));
});
