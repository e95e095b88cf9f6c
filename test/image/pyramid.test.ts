import assert from "node:assert/strict";
import { test } from "node:test";

import { addExpanded, blockOf, reduced, subtractExpanded, valuesOf, type Samples } from "../../src/image/pyramid.ts";
import { localEnergy } from "../../src/image/boxFilter.ts";
import { workspace } from "../../src/image/simd/workspace.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const { scoped } = workspace();

function halved(samples: Samples): Samples {
  return scoped(() => {
    const half = reduced(blockOf(samples));
    return { width: half.width, height: half.height, channels: half.channels, data: valuesOf(half).slice() };
  });
}

/** The smaller samples in this size. */
function doubled(smaller: Samples, { width, height }: { readonly width: number; readonly height: number }): Float32Array {
  const data = new Float32Array(width * height * smaller.channels);
  addExpanded({ width, height, channels: smaller.channels, data }, smaller);
  return data;
}

const noise = (length: number): Float32Array => {
  const random = createRandom(3);
  return Float32Array.from({ length }, () => random.uniform());
};

test("an impulse is halved to its binomial weights: 6/16 beneath it, 1/16 beside it", () => {
  const data = Float32Array.from({ length: 9 }, (_, x) => (x === 4 ? 16 : 0));
  const { width, height, data: half } = halved({ width: 9, height: 1, channels: 1, data });
  assert.deepEqual([width, height, ...half], [5, 1, 0, 1, 6, 1, 0]);
});

test("a row is doubled to 1/8, 6/8, 1/8 of its pixels and the mean of neighbours between them", () => {
  const row = doubled({ width: 3, height: 1, channels: 1, data: Float32Array.of(0, 8, 0) }, { width: 5, height: 1 });
  assert.deepEqual([...row], [1, 4, 6, 4, 1]);
});

test("constants stay constant at odd and even sizes, in every channel", () => {
  for (const [width, height] of [
    [7, 5],
    [8, 2],
    [1, 3],
  ] as const) {
    const data = Float32Array.from({ length: width * height * 3 }, (_, i) => [0.25, 0.5, 0.75][i % 3] as number);
    assertClose(doubled(halved({ width, height, channels: 3, data }), { width, height }), data, 1e-6);
  }
});

test("halving commutes with transposing", () => {
  const [width, height] = [7, 10];
  const data = noise(width * height);
  const turn = (values: Float32Array, from: number, to: number): Float32Array =>
    Float32Array.from({ length: values.length }, (_, i) => values[(i % to) * from + Math.floor(i / to)] as number);
  const one = halved({ width, height, channels: 1, data });
  const other = halved({ width: height, height: width, channels: 1, data: turn(data, width, height) });
  assertClose(turn(other.data, other.width, other.height), one.data, 1e-6);
});

test("colours are halved and doubled like each channel by itself", () => {
  const [width, height] = [23, 14]; // wide enough for whole vectors
  const data = noise(width * height * 3);
  const channel = (values: Float32Array, c: number): Float32Array => values.filter((_, i) => i % 3 === c);
  const half = halved({ width, height, channels: 3, data });
  const back = doubled(half, { width, height });
  for (const c of [0, 1, 2]) {
    const one = halved({ width, height, channels: 1, data: channel(data, c) });
    assertClose(channel(half.data, c), one.data, 1e-6);
    assertClose(channel(back, c), doubled(one, { width, height }), 1e-6);
  }
});

test("what is subtracted and added again is the image", () => {
  for (const [width, height] of [
    [23, 14],
    [16, 9],
  ] as const) {
    const data = noise(width * height * 3);
    const whole = { width, height, channels: 3, data };
    const half = halved(whole);
    const detail = scoped(() => {
      const block = blockOf(whole);
      subtractExpanded(block, blockOf(half));
      return valuesOf(block).slice();
    });
    assert.ok(detail.some((value) => Math.abs(value) > 0.1));
    addExpanded({ ...whole, data: detail }, half);
    assertClose(detail, data, 1e-6);
  }
});

test("the local energy is the mean of the squares of all channels over the window", () => {
  // 3×1 pixels: squares 1 + 4 + 9 = 14, 0 and 25; over three pixels, two at the ends.
  const data = Float32Array.of(1, 2, 3, 0, 0, 0, 0, 5, 0);
  const energy = scoped(() => valuesOf(localEnergy(blockOf({ width: 3, height: 1, channels: 3, data }), 1)).slice());
  assertClose(energy, [7, 13, 12.5], 1e-6);
});
