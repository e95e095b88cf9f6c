import assert from "node:assert/strict";
import { test } from "node:test";

import { checkFocusChange, detailMismatch, focusEvidence, focusSigns } from "../../src/check/evidence.ts";
import type { Finding } from "../../src/check/finding.ts";
import { boxMean, type Plane } from "../../src/image/boxFilter.ts";
import { createRandom, type Random } from "../../src/random.ts";

const SIDE = 128;
const size = { width: SIDE, height: SIDE };
const normal = (random: Random): number => Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
const values = (at: (i: number) => number): Float32Array => Float32Array.from({ length: SIDE * SIDE }, (_, i) => at(i));
const grey = (data: Float32Array): Plane => ({ ...size, values: data });
const share = (evidence: Float32Array, holds: (value: number, i: number) => boolean): number => {
  const found = [...evidence].filter(holds).length;
  return found / evidence.length;
};

test("equal images give no evidence, whatever their texture, their brightness or a little noise", () => {
  const random = createRandom(1);
  const texture = values(() => 0.5 + 0.1 * normal(random));
  const frames = (change: (value: number, n: number) => number): Plane[] =>
    [0, 1, 2, 3, 4].map((n) => grey(texture.map((value) => change(value, n))));
  for (const stack of [frames((v) => v), frames((v, n) => v * (1 + 0.02 * n)), frames((v) => v + 0.003 * normal(random))])
    assert.equal(Math.max(...focusEvidence(stack)), 0);
  assert.equal(Math.max(...focusEvidence([grey(values(() => 0.5)), grey(values(() => 0.5))])), 0);
  assert.equal(Math.max(...focusEvidence([grey(values(() => 0)), grey(values(() => 0))])), 0);
});

test("noise that differs from plane to plane is no evidence, with few planes and with many", () => {
  const random = createRandom(2);
  for (const planes of [2, 5, 10, 30]) {
    const stack = Array.from({ length: planes }, () => grey(values(() => 0.5 + 0.02 * normal(random))));
    const evidence = focusEvidence(stack);
    assert.ok(share(evidence, (value) => value > 0) < 0.02, `${planes} planes: ${share(evidence, (value) => value > 0)}`);
    assert.ok(Math.max(...evidence) < 0.3);
  }
});

test("texture that comes into focus is evidence, a plain noisy wall beside it is not", () => {
  const random = createRandom(3);
  const isTextured = (i: number): boolean => i % SIDE < SIDE / 2;
  const texture = values((i) => (isTextured(i) ? 0.5 + 0.1 * normal(random) : 0.5));
  const stack = [2, 0, 1, 3].map((radius) =>
    grey(boxMean({ ...size, values: texture }, radius).map((value) => value + 0.005 * normal(random))),
  );
  const evidence = focusEvidence(stack);
  const inside = (i: number, from: number, to: number): boolean => i % SIDE >= from && i % SIDE < to;
  for (let i = 0; i < evidence.length; i++) {
    if (inside(i, 8, SIDE / 2 - 8)) assert.ok((evidence[i] as number) > 0.7, `textured pixel ${i}: ${evidence[i]}`);
    if (inside(i, SIDE / 2 + 16, SIDE)) assert.ok((evidence[i] as number) < 0.2, `plain pixel ${i}: ${evidence[i]}`);
  }
});

test("mismatch by hand: 1 − Σ b·b' / Σ |b| |b'| of neighbouring planes, the median over cells that show something", () => {
  const of = (...planes: number[][]): number => detailMismatch(planes.map((each) => Float32Array.from(each)), 2); // prettier-ignore
  assert.ok(of([3, 4], [6, 8], [0.3, 0.4]) < 1e-6); // fainter, but the same
  assert.equal(of([1, 0], [0, 1]), 1);
  assert.equal(of([1, 0], [-1, 0]), 1); // no more than that
  assert.ok(Math.abs(of([1, 0], [1, 1], [0, 2]) - (1 - 3 / (3 * Math.SQRT2))) < 1e-6); // (1 + 2) / (√2 + 2√2)
  assert.equal(of([1, 0, 1, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 1, 0, 0]), 1); // cells of 0, 1, 1 and nothing
  assert.equal(of([0, 0], [0, 0]), 1);
  assert.equal(of([], []), 1);
});

test("mismatch is 0 for equal frames in any brightness, 1 for noise, and noise's share of the detail for both; blur alone changes it little", () => {
  const random = createRandom(5);
  const texture = values(() => 0.5 + 0.1 * normal(random));
  const stack = (frame: (n: number) => Float32Array): Plane[] => [0, 1, 2, 3, 4].map((n) => grey(frame(n)));
  const mismatch = (frame: (n: number) => Float32Array): number => focusSigns(stack(frame)).mismatch;
  assert.ok(mismatch((n) => texture.map((value) => value * (1 + 0.1 * n))) < 1e-5);
  assert.ok(Math.abs(mismatch(() => values(() => 0.5 + 0.02 * normal(random))) - 1) < 0.1);
  const noisy = (noise: number): number => mismatch(() => texture.map((value) => value + noise * normal(random)));
  assert.ok(Math.abs(noisy(0.1) - 0.5) < 0.06, `${noisy(0.1)}`); // as much noise as texture
  assert.ok(Math.abs(noisy(0.05) - 0.2) < 0.04, `${noisy(0.05)}`); // 0.05² / (0.05² + 0.1²)
  assert.ok(noisy(0.01) < 0.015);
  const blurred = mismatch((n) => boxMean({ ...size, values: texture }, Math.abs(n - 2)));
  assert.ok(blurred < 0.1, `${blurred}`);
  assert.equal(
    mismatch(() => values(() => 0.5)),
    1,
  ); // no detail at all
});

test("a stack in which nothing comes into focus is told so: equal images, plain ones, noise; one with a little texture in focus is not", () => {
  const random = createRandom(4);
  const texture = values(() => 0.5 + 0.1 * normal(random));
  const noise = (): Plane => grey(values(() => 0.5 + 0.1 * normal(random)));
  const upsampled = (): Plane => grey(boxMean({ ...size, values: noise().values }, 1)); // its neighbours are alike, as in an enlarged image
  const alike = [grey(texture), grey(values(() => 0.5)), grey(values(() => 0))].map((frame) => [frame, frame, frame, frame]);
  for (const stack of [...alike, [1, 2, 3].map(noise), Array.from({ length: 12 }, noise), Array.from({ length: 5 }, upsampled)])
    assert.deepEqual(checkFocusChange(stack).map(({ code }) => code), ["no-focus-change"]); // prettier-ignore
  const [from, to] = [56, 72]; // a square of 1.6 % of the image
  const little = values((i) => (i % SIDE >= from && i % SIDE < to && i >= from * SIDE && i < to * SIDE ? (texture[i] as number) : 0.5));
  const swept = [2, 0, 2].map((radius) => grey(boxMean({ ...size, values: little }, radius)));
  assert.deepEqual(checkFocusChange(swept), []);
});

test("what is sharp in one plane of many is found, wherever it lies", () => {
  const random = createRandom(5);
  const texture = values(() => 0.5 + 0.1 * normal(random));
  const blurred = boxMean({ ...size, values: boxMean({ ...size, values: texture }, 4) }, 4);
  const stack = Array.from({ length: 41 }, (_, n) => grey((n === 15 ? texture : blurred).map((value) => value + 0.003 * normal(random))));
  assert.deepEqual(checkFocusChange(stack), []);
});

test("pixels that are darker than frames record are left out", () => {
  const random = createRandom(6);
  const texture = values(() => 0.05 + 0.01 * normal(random));
  const at = (x: number, shadow: number): number => (x < 48 ? shadow : x < 64 ? 0.05 : 0.5);
  const swept = [2, 0, 2].map((radius) => {
    const shadows = boxMean({ ...size, values: texture }, radius);
    return grey(values((i) => at(i % SIDE, shadows[i] as number)));
  });
  assert.deepEqual(checkFocusChange(swept), []);
  assert.equal(checkFocusChange(swept, { darkest: 0.2 }).length, 1);
});

test("images that are too dark all over to show anything are no change of focus", () => {
  const random = createRandom(3);
  const dark = [3, 1, 0, 2].map(() => ({
    width: 64,
    height: 48,
    values: Float32Array.from({ length: 64 * 48 }, () => 0.01 * random.uniform()),
  }));
  assert.equal(checkFocusChange(dark, { darkest: 0.05 })[0]?.code, "no-focus-change");
});

/** Frames of `height` rows that start `shifts` rows below those of a taller scene, moved back in place: beyond their ends the outermost row is repeated. */
function handHeld(scenes: readonly Plane[], { height, shifts }: { height: number; shifts: readonly number[] }): Finding[] {
  const { width } = scenes[0] as Plane;
  const most = Math.max(...shifts);
  const frames = scenes.map(({ values: scene }, n): Plane => {
    const [first, last] = [most + (shifts[n] as number), most + (shifts[n] as number) + height - 1];
    const rows = Array.from({ length: height }, (_, y) => Math.min(Math.max(most + y, first), last) * width);
    return { width, height, values: Float32Array.from(rows.flatMap((row) => [...scene.subarray(row, row + width)])) };
  });
  return checkFocusChange(frames, { transforms: shifts.map((shift) => ({ scale: 1, angle: 0, shift: [0, -shift] })) });
}

test("the border that alignment repeats is no evidence, in panoramas of few rows either, whose middle still shows a change of focus", () => {
  const random = createRandom(7);
  for (const { height, most } of [
    { height: 24, most: 2 },
    { height: 32, most: 3 },
    { height: 64, most: 6 },
  ]) {
    const shifts = [-most, -1, 0, 2, most];
    const sized = (at: (row: number) => number): Plane => {
      const [width, rows] = [256, height + 2 * most];
      return { width, height: rows, values: Float32Array.from({ length: width * rows }, (_, i) => at(Math.floor(i / width))) };
    };
    const texture = sized(() => 0.5 + 0.1 * normal(random));
    const atEdge = sized((row) => (row < most + 2 ? 0.5 + 0.1 * normal(random) : 0.5)); // in some frames less of it, or none
    const noise = (): Plane => sized(() => 0.5 + 0.1 * normal(random));
    for (const still of [shifts.map(() => texture), shifts.map(() => atEdge), shifts.map(noise)])
      assert.equal(handHeld(still, { height, shifts }).length, 1, `${height} rows`);
    const swept = [2, 1, 0, 1, 2].map((radius) => ({ ...texture, values: boxMean(texture, radius) }));
    assert.deepEqual(handHeld(swept, { height, shifts }), [], `${height} rows`);
  }
});
