import assert from "node:assert/strict";
import { test } from "node:test";
import type { VideoSample } from "mediabunny";

import { chosenFrames } from "../../../web/src/worker/video.ts";

/** A video of `count` grey frames; counts how many of them are still open. */
function video(count: number, { width, height }: { width: number; height: number }) {
  const state = { opened: 0, closed: 0 };
  async function* samples(): AsyncGenerator<VideoSample, void, unknown> {
    for (let frame = 0; frame < count; frame++) {
      state.opened += 1;
      yield await Promise.resolve({ timestamp: frame / 30, close: () => (state.closed += 1) } as unknown as VideoSample);
    }
  }
  const data = new Uint8ClampedArray(4 * width * height).fill(128);
  const draw = () => ({ pixels: () => ({ width, height, data }), png: () => Promise.resolve(new Blob()) });
  return { state, sink: { samples, samplesAtTimestamps: samples }, draw };
}

const listener = { signal: new AbortController().signal, onProgress: () => undefined, length: 1 };

test("frames too small for a sweep are refused as the command refuses them", async () => {
  const { state, sink, draw } = video(20, { width: 20, height: 12 });
  await assert.rejects(chosenFrames("a.mp4", sink, { ...listener, draw }), {
    code: "image-too-small",
    message: "a.mp4: its frames are only 20×12 pixels; 24×18 are needed",
  });
  assert.deepEqual(state, { opened: 1, closed: 1 });
});

test("a video of more frames than the command looks at is refused, and every frame given back", async () => {
  const { state, sink, draw } = video(20_001, { width: 24, height: 18 });
  await assert.rejects(chosenFrames("a.mp4", sink, { ...listener, draw }), /a\.mp4: the video has more than 20000 frames; cut it down/);
  assert.deepEqual(state, { opened: 20_001, closed: 20_001 });
});

test("a video in which the focus does not move is refused, and a cancelled one not looked at further", async () => {
  const still = video(20, { width: 24, height: 18 });
  await assert.rejects(chosenFrames("a.mp4", still.sink, { ...listener, draw: still.draw }), { code: "no-sweep" });
  const { state, sink, draw } = video(20, { width: 24, height: 18 });
  const controller = new AbortController();
  const onProgress = (): void => {
    controller.abort();
  };
  await assert.rejects(chosenFrames("a.mp4", sink, { length: 1, signal: controller.signal, onProgress, draw }), { name: "AbortError" });
  assert.deepEqual(state, { opened: 1, closed: 1 });
});
