import assert from "node:assert/strict";
import { test } from "node:test";

import type { Session, Value } from "../../../src/network/session.ts";
import { figuresOf, paperFigures } from "../../../web/src/worker/figures.ts";
import { networkOf } from "../../network/fakeSession.ts";

/** Two channels, N planes, one cell: Γ = (3, 4) and (6, 8), so |Γ| is 5 and 10; z* is the plane's index, then 99. */
function fieldSession(): Session {
  const field = (planes: number, channels: readonly (readonly number[])[]): Value => ({
    shape: [1, channels.length, planes, 1, 1],
    data: Float32Array.from(channels.flat()),
  });
  const row = (planes: number, value: number): number[] => Array.from({ length: planes }, () => value);
  return {
    device: "wasm",
    inputNames: [],
    outputNames: [],
    run: ({ images }) => {
      const [, planes, , height, width] = images?.shape as [number, number, number, number, number];
      return Promise.resolve({
        probability: { shape: [1, planes, height, width], data: new Float32Array(planes * height * width).fill(1 / planes) },
        gradientX: field(planes, [row(planes, 3), row(planes, 6)]),
        gradientY: field(planes, [row(planes, 4), row(planes, 8)]),
        surface: field(planes, [Array.from({ length: planes }, (_, n) => n), row(planes, 99)]),
        surfaceGradientX: field(planes, [row(planes, 0)]),
        surfaceGradientY: field(planes, [row(planes, 2)]),
      });
    },
    dispose: () => Promise.resolve(),
  };
}

const image = { width: 32, height: 32, channels: 3 as const, data: new Float32Array(32 * 32 * 3) };
const stackOf = (planes: number) => ({
  images: Array.from({ length: planes }, () => image),
  focusDistances: Array.from({ length: planes }, (_, n) => n),
  space: "index" as const,
});

test("the figures of a single run: mean |Γ| over the channels, the first channel of z*, |θ(z*)|", async () => {
  const found = figuresOf(await networkOf(fieldSession()).predict(stackOf(2)));
  const { planes, grid, gradient, surface, surfaceGradient } = found ?? assert.fail("no figures");
  assert.deepEqual([planes, grid], [[0, 1], 1]);
  assert.deepEqual([...gradient], [7.5, 7.5]);
  assert.deepEqual([...surface], [0, 1]);
  assert.deepEqual([...surfaceGradient], [2, 2]);
});

test("a stack that took several runs has no figures of its own; ten of its planes, spread evenly, are run again", async () => {
  const network = networkOf(fieldSession());
  assert.equal(figuresOf(await network.predict(stackOf(19))), undefined);
  const { planes, gradient } = await paperFigures(network, stackOf(19));
  assert.deepEqual(planes, [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
  assert.equal(gradient.length, 10);
});
