import assert from "node:assert/strict";
import test from "node:test";

import type { Addon } from "../../native/addon.d.ts";
import { engine, gone, junk, refuses } from "./wrongCalls.ts";

const matrix = engine.full([4, 5], 0.5);

test("a disposed tensor is refused by every function", () => {
  const read: (keyof Addon)[] = ["shape", "dtype", "item", "toArray", "grad", "requiresGrad", "backward"];
  for (const name of read) refuses(name, () => engine.native(name, gone));
  refuses("setGrad", () => {
    engine.native("setGrad", gone, null);
  });
  refuses("setRequiresGrad", () => {
    engine.native("setRequiresGrad", gone, true);
  });
  refuses("writeFrom", () => {
    engine.native("writeFrom", gone, new Float32Array(4));
  });
  refuses("relu", () => gone.relu());
});

test("every function of the addon survives junk in every place", () => {
  const names: (keyof Addon)[] = [
    ...(["call", "fromArray", "toArray", "writeFrom", "shape", "dtype", "item"] as const),
    ...(["dispose", "setRequiresGrad", "requiresGrad", "backward", "grad", "setGrad", "setGradMode", "setAutocast"] as const),
    ...(["setThreads", "seed", "setFastMath", "useCuda", "cudaMemory"] as const),
    ...(["captureEnd", "replay", "disposeGraph", "elapsed", "benchmark", "renderLens"] as const),
    ...(["joinGroup", "broadcast", "allReduce", "leaveGroup"] as const),
  ];
  for (const name of names) {
    refuses(name, () => engine.native(name));
    for (const [kind, value] of junk) {
      if (name === "dispose" && kind === "a disposed tensor") continue;
      if (name === "fromArray" || kind === "a string") continue;
      refuses(name, () => engine.native(name, value));
      refuses(name, () => engine.native(name, value, value, value));
    }
  }
});

test("the renderer refuses tensors of another shape, dtype or count of samples", () => {
  const f32 = (...shape: number[]) => engine.full(shape, 0);
  const bytes = (...shape: number[]) => engine.full(shape, 0, { dtype: "u8" });
  const good = {
    primitives: f32(1, 2, 32),
    cameras: f32(1, 16),
    focus: f32(1, 3, 8),
    textures: bytes(1, 8, 8, 4),
    images: f32(1, 3, 3, 16, 16),
    allInFocus: f32(1, 3, 16, 16) as unknown,
    depth: f32(1, 16, 16),
    samples: 4 as unknown,
  };
  const render = (change: Partial<Record<keyof typeof good, unknown>>) => {
    engine.native("renderLens", ...Object.values({ ...good, ...change }));
  };
  render({});
  const wrong: Partial<Record<keyof typeof good, unknown[]>> = {
    primitives: [f32(1, 2, 31), f32(2, 2, 32), f32(32), bytes(1, 2, 32), gone],
    cameras: [f32(1, 15), f32(2, 16), bytes(1, 16)],
    focus: [f32(1, 3, 7), f32(1, 2, 8), f32(8)],
    textures: [f32(1, 8, 8, 4), bytes(1, 8, 8, 3), bytes(8, 8, 4)],
    images: [f32(1, 3, 3, 16, 15), f32(1, 3, 1, 16, 16), engine.full([1, 3, 3, 16, 16], 0, { dtype: "f64" }), f32(3, 16, 16)],
    allInFocus: [f32(1, 3, 16, 17), bytes(1, 3, 16, 16)],
    depth: [f32(1, 16, 17), f32(16, 16), bytes(1, 16, 16)],
    samples: [0, -1, 1.5, 2 ** 40, NaN, "4"],
  };
  for (const [name, values] of Object.entries(wrong))
    for (const value of values)
      refuses("renderLens", () => {
        render({ [name]: value });
      });
});

test("without CUDA its functions are refused, not crashed into", () => {
  if (engine.native("cudaAvailable")) return;
  for (const name of ["synchronize", "captureBegin", "recordEvent"] as const) refuses(name, () => engine.native(name));
  refuses("useCuda", () => { engine.native("useCuda", "cuda:0"); }); // prettier-ignore
  refuses("cudaMemory", () => engine.native("cudaMemory", "cuda:0"));
  refuses("full", () => engine.call("aten::full", [1], 0, "f32", null, "cuda:0"));
});

test("arrays that do not fit their shape or dtype are refused", () => {
  const from = (...args: unknown[]) => refuses("fromArray", () => engine.native("fromArray", ...args));
  from(new Float32Array(3), [2], "f32", "cpu");
  from(new Float32Array(3), [3], "f64", "cpu");
  from(new Float32Array(3), [-3], "f32", "cpu");
  from(new Float32Array(0), [2 ** 40, 2 ** 40], "f32", "cpu");
  from(new Float32Array(3), [3], "f33", "cpu");
  from(new Float32Array(3), [3], "f32", "gpu");
  from(new Float32Array(3), [3], "f32", "cuda:99");
  from(new Float32Array(3), [3], "f32", "meta");
  from(new Int8Array(3), [3], "u8", "cpu");
  from([1, 2, 3], [3], "f32", "cpu");
  from(new ArrayBuffer(12), [3], "f32", "cpu");
  from(new DataView(new ArrayBuffer(12)), [3], "f32", "cpu");
  from(new Float32Array(3), 3, "f32", "cpu");
  const detached = new Float32Array(3);
  structuredClone(detached, { transfer: [detached.buffer] });
  from(detached, [3], "f32", "cpu");
  refuses("writeFrom", () => {
    engine.write(matrix, new Float32Array(19));
  });
  refuses("writeFrom", () => {
    engine.write(matrix, new Float64Array(20));
  });
});

test("backward where there is nothing to go back to is refused", () => {
  refuses("backward", () => {
    engine.backward(matrix);
  });
  const weight = engine.requireGradient(engine.full([2], 1));
  refuses("backward", () => {
    engine.backward(weight.mul(2)); // not a scalar, and no gradient given
  });
  refuses("backward", () => {
    engine.backward(weight.mul(2), engine.full([3], 1));
  });
  const loss = weight.square().sum();
  engine.backward(loss);
  refuses("backward", () => {
    engine.backward(loss); // its graph is gone
  });
  refuses("mul_", () => engine.call("aten::mul_.Scalar", weight, 2)); // a leaf changed in place
  refuses("item", () => engine.item(matrix));
});

test("getters and proxies that throw pass their error on", () => {
  const trap = new Proxy([matrix], {
    get(target, key, receiver) {
      if (key === "0") throw new Error("sprung");
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  assert.throws(() => engine.call("aten::cat", trap), /sprung/);
  assert.throws(() => engine.native("fromArray", new Float32Array(1), trap, "f32", "cpu"), /sprung|fromArray/);
});
