import assert from "node:assert/strict";
import { test } from "node:test";

import type { Session } from "../../../src/network/session.ts";
import { openDevice, type Machine } from "../../../src/network/node/devices.ts";
import { initialWeights } from "../../../src/model/state.ts";
import { createRandom } from "../../../src/random.ts";
import { tiny } from "../../helpers/network.ts";

const model = { config: tiny, weights: initialWeights(tiny, createRandom(1)) };

/** A session that answers `p` at every pixel. */
function constantSession(device: Session["device"], p: number, disposed: string[] = []): Session {
  return {
    device,
    inputNames: [],
    outputNames: [],
    run: ({ images }) => Promise.resolve({ probability: { data: new Float32Array((images?.data.length ?? 0) / 3).fill(p), shape: [] } }),
    dispose() {
      disposed.push(device);
      return Promise.resolve();
    },
  };
}

interface Parts {
  readonly cuda?: boolean;
  readonly gpu?: boolean;
  readonly open?: Partial<Record<"cpu" | "webgpu" | "cuda", () => Session>>;
}

const machine = ({ cuda = false, gpu = false, open = {} }: Parts): Machine => ({
  withoutCuda: () => Promise.resolve(cuda ? undefined : "no NVIDIA driver"),
  withoutGpu: () => (gpu ? undefined : "no graphics device for WebGPU"),
  open: (device) => Promise.resolve().then(() => open[device]?.() ?? constantSession(device, 0.5)),
});

const open = (device: "auto" | "cpu" | "webgpu" | "cuda", parts: Parts = {}) => openDevice({ model, device, threads: 1 }, machine(parts));
const fail = (message: string) => (): never => {
  throw new Error(message);
};

test("auto takes CUDA before WebGPU before the CPU, and says why", async () => {
  const found = await Promise.all([open("auto", { cuda: true, gpu: true }), open("auto", { gpu: true }), open("auto")]);
  assert.deepEqual(
    found.map(({ session, reason }) => [session.device, reason]),
    [
      ["cuda", "an NVIDIA GPU and the addon with CUDA are there"],
      ["webgpu", "a graphics adapter is there"],
      ["cpu", "no NVIDIA driver; no graphics device for WebGPU"],
    ],
  );
});

test("a device that does not open is passed over, with its own words", async () => {
  const broken = { cuda: fail("out of memory\nstack"), webgpu: fail("no adapter") };
  const { session, reason } = await open("auto", { cuda: true, gpu: true, open: broken });
  assert.equal(session.device, "cpu");
  assert.equal(reason, "cuda does not work here (out of memory); webgpu does not work here (no adapter)");
});

test("a device that computes something else than the CPU is passed over and freed", async () => {
  const disposed: string[] = [];
  for (const wrong of [0.6, NaN]) {
    const { session, reason } = await open("auto", { gpu: true, open: { webgpu: () => constantSession("webgpu", wrong, disposed) } });
    assert.equal(session.device, "cpu");
    assert.match(reason, /webgpu does not work here \(its results differ from the CPU's\)/);
  }
  const near = await open("auto", { cuda: true, open: { cuda: () => constantSession("cuda", 0.53) } }); // f16 rounds
  assert.equal(near.session.device, "cuda");
  const far = await open("auto", { cuda: true, open: { cuda: () => constantSession("cuda", 0.6, disposed) } });
  assert.equal(far.session.device, "cpu");
  assert.deepEqual(disposed, ["webgpu", "webgpu", "cuda"]);
});

test("a device that is asked for by name is opened or fails; nothing takes its place", async () => {
  assert.equal((await open("cpu", { cuda: true })).session.device, "cpu");
  assert.equal((await open("cuda")).reason, "as asked");
  await assert.rejects(open("webgpu", { open: { webgpu: fail("no adapter") } }), /no adapter/);
});

test("a network that no ONNX graph holds runs with CUDA, and is refused elsewhere", async () => {
  const surface = { ...tiny.surface, solver: "dense" } as typeof tiny.surface;
  const dense = { config: { ...tiny, surface }, weights: model.weights };
  const opened = await openDevice({ model: dense, device: "auto", threads: 1 }, machine({ cuda: true, open: { cpu: fail("no graph") } }));
  assert.equal(opened.session.device, "cuda");
  for (const device of ["auto", "cpu", "webgpu"] as const)
    await assert.rejects(openDevice({ model: dense, device, threads: 1 }, machine({ gpu: true })), /needs a linear solve/);
});

test("this machine opens something, and it runs", async () => {
  const { session, reason } = await openDevice({ model, device: "auto", threads: 1 });
  const images = { data: new Float32Array(2 * 3 * 32 * 32).fill(0.5), shape: [1, 2, 3, 32, 32] };
  const { probability } = await session.run({ images, focusDistances: { data: Float32Array.of(0, 1), shape: [1, 2] } });
  assert.equal(probability?.data.length, 2 * 32 * 32);
  assert.ok(reason.length > 0);
  await session.dispose();
});
