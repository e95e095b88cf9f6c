import assert from "node:assert/strict";
import { test } from "node:test";

import type { Image } from "../../src/image/image.ts";
import { focusProbability } from "../../src/network/focusProbability.ts";
import { fakeSession } from "./fakeSession.ts";
import type { FocalStack } from "../../src/stack/focalStack.ts";

/** A stack whose red value at plane n of a pixel is exp(−(n − focus)² / 2), its focus moving along the picture. */
function gradedStack({ planes, width, height }: { planes: number; width: number; height: number }) {
  const focusAt = (x: number, y: number): number => ((planes - 1) * (x + y)) / (width + height - 2);
  const images = Array.from({ length: planes }, (_, n): Image => {
    const data = new Float32Array(3 * width * height);
    for (let i = 0; i < width * height; i++)
      data.fill(Math.exp(-((n - focusAt(i % width, Math.floor(i / width))) ** 2) / 2), 3 * i, 3 * i + 3);
    return { width, height, channels: 3, data };
  });
  const stack: FocalStack = { images, focusDistances: images.map((_, n) => n), space: "index" };
  return { stack, focusAt };
}

const peakOf = (values: Float32Array, { i, pixels, planes }: { i: number; pixels: number; planes: number }): number => {
  const column = Array.from({ length: planes }, (_, n) => values[n * pixels + i] as number);
  return column.indexOf(Math.max(...column));
};

test("24 planes in windows of 10 find the plane each pixel is sharp in, and p sums to 1", async () => {
  const { stack, focusAt } = gradedStack({ planes: 24, width: 40, height: 9 });
  const { planes, values } = await focusProbability(stack, { session: fakeSession() });
  assert.equal(planes, 24);
  for (let i = 0; i < 360; i++) {
    const sum = Array.from({ length: 24 }, (_, n) => values[n * 360 + i] as number).reduce((total, p) => total + p, 0);
    assert.ok(Math.abs(sum - 1) < 1e-5);
    // half a plane for the peak, and a quarter of the 2.6 planes between the coarse pass's, which sees a peak narrower than they are
    assert.ok(Math.abs(peakOf(values, { i, pixels: 360, planes }) - focusAt(i % 40, Math.floor(i / 40))) <= 1.2);
  }
});

test("tiles of a network that sees single pixels give what the whole picture gives", async () => {
  const { stack } = gradedStack({ planes: 3, width: 700, height: 320 });
  const session = fakeSession();
  const whole = await focusProbability(stack, { session });
  const tiled = await focusProbability(stack, { session, maxPixels: 173_056 });
  assert.equal(session.shapes.length, 1 + 2); // once whole, and two tiles
  const most = whole.values.reduce((largest, value, i) => Math.max(largest, Math.abs(value - (tiled.values[i] as number))), 0);
  assert.ok(most < 1e-6, `${most} apart`);
});

test("progress is the share of the work after every run of the network, in percent", async () => {
  const { stack } = gradedStack({ planes: 12, width: 600, height: 320 });
  const told: string[] = [];
  const onProgress = (done: number, of: number): number => told.push(`${done}/${of}`);
  await focusProbability(stack, { session: fakeSession(), mostPlanes: 8, maxPixels: 173_056, onProgress });
  assert.deepEqual(told, ["16/100", "33/100", "50/100", "66/100", "83/100", "100/100"]); // two tiles, a sparse and two dense windows
});

test("an abort stops before the next run with the reason given", async () => {
  const { stack } = gradedStack({ planes: 24, width: 8, height: 8 });
  const [session, controller] = [fakeSession(), new AbortController()];
  const reason = new Error("the user left");
  const onProgress = (): void => {
    controller.abort(reason);
  };
  await assert.rejects(focusProbability(stack, { session, signal: controller.signal, onProgress }), reason);
  assert.equal(session.shapes.length, 1);
});

test("a grey stack goes in as three equal channels", async () => {
  const data = Float32Array.of(0.25, 0.75);
  const images = [data, data.map((value) => 1 - value)].map((values): Image => ({ width: 2, height: 1, channels: 1, data: values }));
  const { values } = await focusProbability({ images, focusDistances: [0, 1], space: "index" }, { session: fakeSession() });
  assert.deepEqual([...values], [0.25, 0.75, 0.75, 0.25]);
});
