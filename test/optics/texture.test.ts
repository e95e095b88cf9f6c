import assert from "node:assert/strict";
import { test } from "node:test";
import { generateTextures, splitTextures } from "../../src/optics/texture/texture.ts";
import { transform } from "../../src/optics/texture/fourier.ts";

test("a texture depends on its number and the seed alone", () => {
  const [few, many, other] = [generateTextures({ count: 2 }), generateTextures({ count: 13 }), generateTextures({ count: 2, seed: 2 })];
  assert.deepEqual(few.data, many.data.subarray(0, few.data.length));
  assert.notDeepEqual(few.data, other.data);
});

test("generated textures differ in contrast: some are weak, most are not", () => {
  const { count, size, data } = generateTextures({ count: 24 });
  const deviations = Array.from({ length: count }, (_, t) => {
    const green = Array.from({ length: size * size }, (_, i) => data[(t * size * size + i) * 4 + 1] as number);
    const mean = green.reduce((sum, value) => sum + value, 0) / green.length;
    return Math.sqrt(green.reduce((sum, value) => sum + (value - mean) ** 2, 0) / green.length);
  });
  assert.ok(
    deviations.every((value) => value > 0.5),
    `a texture is flat: ${deviations.map(Math.round).join(" ")}`,
  );
  assert.ok(deviations.filter((value) => value < 10).length >= 2);
  assert.ok(deviations.filter((value) => value > 20).length >= 12);
});

test("the Fourier sum of one wave is one peak", () => {
  const size = 8;
  const real = Float64Array.from({ length: 64 }, (_, i) => Math.cos((2 * Math.PI * (2 * (i % size) + 3 * Math.floor(i / size))) / size));
  const imaginary = new Float64Array(64);
  transform(real, imaginary, size);
  real.forEach((value, i) => {
    const expected = i === 3 * size + 2 || i === 5 * size + 6 ? 32 : 0; // the wave and its mirror
    assert.ok(Math.abs(value - expected) < 1e-9 && Math.abs(imaginary[i] as number) < 1e-9, `at ${i}: ${value}`);
  });
});

test("the split holds out every tenth texture", () => {
  const { train, test: held } = splitTextures(25);
  assert.deepEqual(held, [9, 19]);
  assert.equal(train.length, 23);
  assert.ok(train.every((index) => !held.includes(index)));
});
