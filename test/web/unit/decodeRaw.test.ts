import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import type { RawPixels } from "../../../src/io/libraw.ts";
import { decodeRaw } from "../../../web/src/raw/decodeRaw.ts";
import { userFiles } from "../../../web/src/worker/userFiles.ts";
import { dngFile } from "../../io/dngFile.ts";
import type { RawReply } from "../../../web/src/raw/rawProtocol.ts";

const PIXELS: RawPixels = { width: 1, height: 1, channels: 3, data: new Uint16Array(3), orientation: 1 };

type Answer = (bytes: Uint8Array) => RawReply | undefined;

/** Workers that answer so, or never; and a clock that stands still until it is moved. */
function workers(t: TestContext, answer: Answer): { started: number; asked: number; terminated: number } {
  const counts = { started: 0, asked: 0, terminated: 0 };
  class FakeWorker extends EventTarget {
    constructor() {
      super();
      counts.started += 1;
    }
    postMessage({ bytes }: { bytes: Uint8Array }): void {
      counts.asked += 1;
      const data = answer(bytes);
      if (data) queueMicrotask(() => this.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate(): void {
      counts.terminated += 1;
    }
  }
  t.mock.timers.enable({ apis: ["setTimeout"] });
  Object.assign(globalThis, { Worker: FakeWorker, location: { href: "http://localhost/assets/worker.js" } });
  t.after(() => {
    t.mock.timers.tick(20_000); // the worker that idles ends
    t.mock.timers.reset();
    for (const name of ["Worker", "location"]) Reflect.deleteProperty(globalThis, name);
  });
  return counts;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a raw file that never comes to an end is given up after its time, and the next one has a fresh worker", async (t) => {
  const counts = workers(t, (bytes) => (bytes.length > 1 ? undefined : { pixels: PIXELS }));
  let found: unknown = "nothing yet";
  const endless = decodeRaw(new Uint8Array(1 << 20)).then((pixels) => (found = pixels));
  const next = decodeRaw(Uint8Array.of(1));
  await settle();
  t.mock.timers.tick(123_999); // 120 s, and 4 s for its megabyte
  await settle();
  assert.equal(found, "nothing yet");
  assert.deepEqual(counts, { started: 1, asked: 1, terminated: 0 });
  t.mock.timers.tick(1);
  assert.equal(await endless, undefined);
  assert.equal(await next, PIXELS);
  assert.deepEqual(counts, { started: 2, asked: 2, terminated: 1 });
});

test("one worker serves files that follow each other, and ends when there are no more", async (t) => {
  const counts = workers(t, () => ({ pixels: PIXELS }));
  assert.equal(await decodeRaw(Uint8Array.of(1)), PIXELS);
  assert.equal(await decodeRaw(Uint8Array.of(2)), PIXELS);
  assert.deepEqual(counts, { started: 1, asked: 2, terminated: 0 });
  t.mock.timers.tick(20_000);
  assert.equal(counts.terminated, 1);
});

test("a decoder that could not be loaded is loaded again for the next file", async (t) => {
  const counts = workers(t, (bytes) => (bytes[0] === 1 ? { failure: "offline" } : { pixels: PIXELS }));
  await assert.rejects(decodeRaw(Uint8Array.of(1)), /could not be loaded \(offline\)/);
  assert.equal(await decodeRaw(Uint8Array.of(2)), PIXELS);
  assert.deepEqual(counts, { started: 2, asked: 2, terminated: 1 });
});

test("cancelling ends the worker at once, and files that wait are not begun", async (t) => {
  const counts = workers(t, () => undefined);
  const controller = new AbortController();
  const both = [1, 2].map((byte) => assert.rejects(decodeRaw(Uint8Array.of(byte), controller.signal), { name: "AbortError" }));
  await settle();
  controller.abort();
  await Promise.all(both);
  assert.deepEqual(counts, { started: 1, asked: 1, terminated: 1 });
});

test("cancelling a later call ends the development of a raw file of the stack it works on, and the next call develops it", async (t) => {
  let isStuck = false;
  const counts = workers(t, () => (isStuck ? undefined : { pixels: PIXELS }));
  const dng = dngFile({ width: 4, height: 4, channels: 1, data: new Float32Array(16) }) as Uint8Array<ArrayBuffer>;
  let call = new AbortController();
  const files = userFiles([{ path: "a.dng", file: new File([dng], "a.dng") }], { signal: () => call.signal });
  assert.equal((await files.probe("a.dng")).width, 1);
  call.abort(); // of the call that opened the stack, which is answered
  [call, isStuck] = [new AbortController(), true];
  const reading = assert.rejects(files.readImage("a.dng", { orientation: 1 }), { name: "AbortError" });
  while (counts.asked < 2) await settle();
  call.abort();
  await reading;
  assert.equal(counts.terminated, 1);
  [call, isStuck] = [new AbortController(), false];
  assert.equal((await files.readImage("a.dng", { orientation: 1 })).width, 1);
  assert.deepEqual(counts, { started: 2, asked: 3, terminated: 1 });
});
