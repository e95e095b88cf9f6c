import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { openCamera } from "../../../web/src/camera/camera.ts";

/** The browser's only camera, with these capabilities; counts how often it was stopped. */
function camera(t: TestContext, getCapabilities: (() => object) | undefined): { stopped: number } {
  const state = { stopped: 0 };
  const track = { getCapabilities, stop: () => (state.stopped += 1) };
  const stream = { getVideoTracks: () => [track], getTracks: () => [track] };
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  const value = { mediaDevices: { getUserMedia: () => Promise.resolve(stream) } };
  Object.defineProperty(globalThis, "navigator", { value, configurable: true });
  t.after(() => {
    if (before) Object.defineProperty(globalThis, "navigator", before);
    else Reflect.deleteProperty(globalThis, "navigator");
  });
  return state;
}

const focusing = (min: number, max: number) => () => ({ focusMode: ["manual"], focusDistance: { min, max } });

test("a camera that fails when asked what it can do is closed", async (t) => {
  const state = camera(t, () => {
    throw new Error("driver");
  });
  await assert.rejects(openCamera(), /driver/);
  assert.equal(state.stopped, 1);
});

test("a camera in a browser that cannot tell what it can do is closed as one whose focus cannot be set", async (t) => {
  const state = camera(t, undefined);
  assert.equal(await openCamera(), undefined);
  assert.equal(state.stopped, 1);
});

test("a camera whose focus does not move within 5 cm to 10 m is closed", async (t) => {
  for (const [min, max] of [
    [0, 0.04],
    [0.01, 0.05],
    [1, 1],
    [2, 1],
    [0.1, NaN],
  ] as const) {
    // prettier-ignore
    const state = camera(t, focusing(min, max));
    assert.equal(await openCamera(), undefined, `${min} to ${max}`);
    assert.equal(state.stopped, 1);
  }
});

test("what a camera states is cut to 5 cm and 10 m", async (t) => {
  const state = camera(t, focusing(0, 1000));
  assert.deepEqual((await openCamera())?.range, [0.05, 10]);
  camera(t, focusing(0.2, 3));
  assert.deepEqual((await openCamera())?.range, [0.2, 3]);
  assert.equal(state.stopped, 0);
});
