import assert from "node:assert/strict";
import { test } from "node:test";

import type { StackSource } from "../../../src/stack/stackSource.ts";
import { cachedSource, type ImageCache } from "../../../web/src/worker/cachedSource.ts";

/** Planes whose pictures are 1×1 and say which frame they are of; `read` has every reading. */
function fakeSource(frames: readonly number[], read: string[], fail = false): StackSource {
  return {
    frames,
    readScaled: (plane: number, maxPixels: number) => {
      read.push(`${frames[plane]} at ${maxPixels}`);
      if (fail) return Promise.reject(new Error("moved away"));
      return Promise.resolve({ width: 1, height: 1, channels: 1, data: Float32Array.of(frames[plane] as number) });
    },
  } as unknown as StackSource;
}

test("a picture is decoded once, also when another order of distances makes it another plane", async () => {
  const read: string[] = [];
  const cache: ImageCache = new Map();
  const first = cachedSource(fakeSource([0, 1], read), cache);
  await first.readScaled(0, 100);
  await first.readScaled(1, 100);
  const turned = cachedSource(fakeSource([1, 0], read), cache);
  assert.equal((await turned.readScaled(0, 100)).data[0], 1);
  assert.deepEqual(read, ["0 at 100", "1 at 100"]);
});

test("another size is read anew and not kept", async () => {
  const read: string[] = [];
  const source = cachedSource(fakeSource([0], read), new Map());
  for (const maxPixels of [100, 400, 400, 100]) await source.readScaled(0, maxPixels);
  assert.deepEqual(read, ["0 at 100", "0 at 400", "0 at 400"]);
});

test("a picture is read under the signal of the call that reads it, and who else waits for it reads it again when that call is stopped", async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const reading = {
    frames: [0],
    readScaled: (_: number, __: number, signal?: AbortSignal) => {
      signals.push(signal);
      return new Promise<unknown>((resolve, reject) => {
        if (signals.length > 1) resolve({ width: 1 });
        signal?.addEventListener("abort", () => {
          reject(signal.reason as Error);
        });
      });
    },
  } as unknown as StackSource;
  const source = cachedSource(reading, new Map());
  const look = new AbortController();
  const [looking, checking] = [source.readScaled(0, 100, look.signal), source.readScaled(0, 100)];
  look.abort();
  await assert.rejects(looking, { name: "AbortError" });
  assert.equal((await checking).width, 1);
  assert.deepEqual(signals, [look.signal, undefined]);
});

test("a picture that could not be read is tried again", async () => {
  const read: string[] = [];
  const cache: ImageCache = new Map();
  await assert.rejects(cachedSource(fakeSource([0], read, true), cache).readScaled(0, 100), /moved away/);
  assert.equal((await cachedSource(fakeSource([0], read), cache).readScaled(0, 100)).width, 1);
});
