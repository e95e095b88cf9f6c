import assert from "node:assert/strict";
import { test } from "node:test";

import { chooseDevice } from "../../../web/src/worker/device.ts";

const plain = { adapter: "none", isolated: true, cores: 4 } as const;

test("a graphics card is used where there is one", () => {
  assert.equal(chooseDevice({ ...plain, adapter: "hardware" }).device, "webgpu");
});

test("WebGPU without a card behind it is slower than the processor, so it must be asked for", () => {
  assert.equal(chooseDevice({ ...plain, adapter: "software" }).device, "wasm");
  assert.equal(chooseDevice({ ...plain, adapter: "software" }, { device: "webgpu" }).device, "webgpu");
  assert.match(chooseDevice({ ...plain, adapter: "software" }).reason, /no graphics card/);
});

test("a browser with WebGPU but no adapter is not said to have no WebGPU", () => {
  const { device, reason } = chooseDevice({ ...plain, adapter: "refused" }, { device: "webgpu" });
  assert.equal(device, "wasm");
  assert.match(reason, /WebGPU cannot use the graphics card/);
});

test("threads where the page is isolated, never more than help, else one; and the reason is told", () => {
  assert.deepEqual(chooseDevice(plain), { device: "wasm", threads: 4, reason: "Processor, 4 threads: this browser has no WebGPU." });
  assert.equal(chooseDevice({ ...plain, cores: 64 }).threads, 8);
  const alone = chooseDevice({ ...plain, isolated: false });
  assert.equal(alone.threads, 1);
  assert.match(alone.reason, /headers/);
});

test("the address may ask for a device and a number of threads", () => {
  assert.equal(chooseDevice({ ...plain, adapter: "hardware" }, { device: "wasm", threads: 1 }).device, "wasm");
  assert.equal(chooseDevice(plain, { threads: 2 }).threads, 2);
  assert.equal(chooseDevice({ ...plain, isolated: false }, { threads: 2 }).threads, 1);
  assert.equal(chooseDevice(plain, { device: "webgpu" }).device, "wasm");
});
