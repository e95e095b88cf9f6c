import assert from "node:assert/strict";
import { test } from "node:test";
import { symbol } from "../../src/engine/dims.ts";
import { createOnnxEngine } from "../../src/engine/onnx/onnxEngine.ts";
import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { createOnnxSession } from "../../src/network/node/onnxSession.ts";
import { withPage } from "../helpers/browser.ts";
import { wireInputs, wireNet } from "../helpers/wireNet.ts";

const [B, N, H, W] = [symbol("B"), symbol("N"), symbol("H"), symbol("W")];

function recordWireNet(): Uint8Array {
  const engine = createOnnxEngine();
  const images = engine.input("images", [B, N, 3, H, W], { multipleOf: { H: 4, W: 4 } });
  const focusDistances = engine.input("focusDistances", [B, N]);
  return engine.finish({ outputs: wireNet(engine)({ images, focusDistances }) });
}

const inputsOf = (planes: number): ReturnType<typeof wireInputs> => wireInputs({ batch: 2, planes, height: 20, width: 28 });

function torchDepth(planes = 3): Float32Array {
  const engine = createTorchEngine({ threads: 1 });
  return scope(() => {
    const { images, focusDistances } = inputsOf(planes);
    const net = wireNet(engine);
    const { depth } = net({
      images: engine.constant(images.data, images),
      focusDistances: engine.constant(focusDistances.data, focusDistances),
    });
    return engine.read(depth) as Float32Array;
  });
}

/** What the page does: fetch the graph, run it on stacks of these numbers of planes, one after the other, return the numbers. */
const pageScript = `
  import { createOnnxSession } from "../src/network/browser/onnxSession.ts";
  import { wireInputs } from "./helpers/wireNet.ts";
  globalThis.runWireNet = async (device, threads, stacks = [3]) => {
    const model = new Uint8Array(await (await fetch("/wire.onnx")).arrayBuffer());
    const session = await createOnnxSession(model, { device, threads, wasmPath: new URL("/runtime/", location.href).href });
    const results = [];
    for (const planes of stacks) {
      const { depth } = await session.run(wireInputs({ batch: 2, planes, height: 20, width: 28 }));
      results.push({ shape: depth.shape, data: Array.from(depth.data), isolated: crossOriginIsolated });
    }
    await session.dispose();
    return results;
  };
`;

interface PageResult {
  readonly shape: number[];
  readonly data: number[];
  readonly isolated: boolean;
}

const largestDifference = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((largest, value, i) => Math.max(largest, Math.abs(value - (b[i] as number))), a.length === b.length ? 0 : Infinity);

test("one net, defined once, gives the same depth in torch, onnxruntime-node and a browser's WASM", { timeout: 120_000 }, async (t) => {
  const model = recordWireNet();
  const torch = torchDepth();
  const session = await createOnnxSession(model, { threads: 1 });
  const { depth } = await session.run(inputsOf(3));
  await session.dispose();
  assert.ok(depth);
  const spread = Math.max(...torch) - Math.min(...torch);
  assert.ok(spread > 0.5, `a flat depth would prove little; it spans ${spread}`);

  const runs = await withPage({ script: pageScript, files: { "/wire.onnx": model } }, async (page) => {
    const [single] = await page.evaluate<[PageResult]>(`runWireNet("wasm", 1)`);
    await page.reload(); // the thread count is settled when the runtime starts
    const [threaded] = await page.evaluate<[PageResult]>(`runWireNet("wasm", 2)`);
    return { single, threaded };
  });
  assert.deepEqual(runs.single.shape, [2, 1, 20, 28]);
  assert.ok(runs.threaded.isolated, "the page is not cross-origin isolated, so threads were not tried");
  const differences = {
    node: largestDifference(depth.data as Float32Array, torch),
    wasm: largestDifference(runs.single.data, torch),
    wasmThreads: largestDifference(runs.threaded.data, torch),
  };
  t.diagnostic(JSON.stringify(differences));
  for (const [where, difference] of Object.entries(differences)) assert.ok(difference <= 1e-4, `${where}: ${difference}`);
});

test(
  "one session gives the same depth in a browser's WebGPU, on a software adapter, whatever the number of planes",
  { timeout: 120_000 },
  async (t) => {
    const options = { script: pageScript, files: { "/wire.onnx": recordWireNet() }, gpu: "software" } as const;
    const stacks = [3, 7, 2];
    const results = await withPage(options, (page) => page.evaluate<PageResult[]>(`runWireNet("webgpu", 1, ${JSON.stringify(stacks)})`));
    const differences = stacks.map((planes, n) => largestDifference(results[n]?.data ?? [], torchDepth(planes)));
    t.diagnostic(differences.join(" "));
    for (const difference of differences) assert.ok(difference <= 1e-4, `${difference}`);
  },
);

test("a graph that is none is refused in the browser with the device named", { timeout: 120_000 }, async () => {
  const options = { script: pageScript, files: { "/wire.onnx": "no graph" } };
  await assert.rejects(
    withPage(options, (page) => page.evaluate(`runWireNet("wasm", 1)`)),
    /loading the graph on wasm: ONNX Runtime:/,
  );
});
