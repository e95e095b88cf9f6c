import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import * as api from "../../src/index.ts";
import { withPage } from "../helpers/browser.ts";
import { tinyStack } from "../helpers/tinyDepth.ts";

/** The page's engine where the graphics card promises more than it keeps, and the processor takes over. */
const script = `
  import * as api from "../src/browser.ts";
  import { tinyStack } from "./helpers/tinyDepth.ts";
  import { restartOnProcessor, startEngine } from "../web/src/worker/engine.ts";

  globalThis.__WEIGHTS__ = "test";
  globalThis.__RUNTIME_BYTES__ = {};
  const requestDevice = () => Promise.reject(new Error("the driver gave up"));
  const adapter = { info: { architecture: "a card" }, features: new Set(), limits: {}, requestDevice };
  Object.defineProperty(navigator, "gpu", { value: { requestAdapter: () => Promise.resolve(adapter) } });

  const request = { page: location.href, wish: { threads: 2 } };
  const used = async ({ network, info }) => {
    const { depth } = await api.estimateDepth(tinyStack(api), { network });
    return { info, depth: Array.from(depth.values) };
  };
  globalThis.withoutWeights = async () => {
    const [asked, fetched] = [[], globalThis.fetch];
    globalThis.fetch = (address, options) => {
      const { pathname } = new URL(address.url ?? address, location.href);
      asked.push(pathname);
      return pathname.endsWith(".safetensors") ? Promise.resolve(new Response("", { status: 404 })) : fetched(address, options);
    };
    const failure = await startEngine(request, () => undefined).then(() => "none", ({ message }) => message);
    globalThis.fetch = fetched;
    return { failure, asked };
  };
  globalThis.started = async () => {
    const stages = new Set();
    const engine = await startEngine(request, ({ stage }) => stages.add(stage));
    return { ...(await used(engine)), stages: [...stages] };
  };
  globalThis.restarted = async () => used(await restartOnProcessor(request, new Error("out of memory\\nat shader 7"), () => undefined));
`;

interface Used {
  readonly info: { readonly device: string; readonly threads: number; readonly reason: string };
  readonly depth: number[];
}

test("without weights the page says so, and does not blame WebGPU by loading the other runtime", { timeout: 60_000 }, async () => {
  const { failure, asked } = await withPage({ script }, (page) =>
    page.evaluate<{ readonly failure: string; readonly asked: string[] }>("withoutWeights()"),
  );
  assert.match(failure, /small\.safetensors.*404/);
  assert.equal(asked.filter((path) => path.endsWith(".safetensors")).length, 1);
  assert.deepEqual(asked.filter((path) => path.endsWith("/ort-wasm-simd-threaded.wasm")), []); // prettier-ignore
});

test(
  "where WebGPU fails, before or in the middle of a run, the page's network runs in WASM, says why, and gives Node's depth",
  { timeout: 120_000 },
  async () => {
    const weights = readFileSync(join(import.meta.dirname, "../../models/small.safetensors"));
    const network = await api.openNetwork("small", { device: "cpu", threads: 1 });
    const { depth } = await api.estimateDepth(tinyStack(api), { network });
    await network.dispose();
    const { started, restarted } = await withPage({ script, files: { "/models/small.safetensors": weights } }, async (page) => ({
      started: await page.evaluate<Used & { readonly stages: string[] }>("started()"),
      restarted: await page.evaluate<Used>("restarted()"),
    }));
    for (const { info, depth: there } of [started, restarted]) {
      assert.deepEqual([info.device, info.threads], ["wasm", 2]);
      const largest = there.reduce((worst, value, i) => Math.max(worst, Math.abs(value - (depth.values[i] as number))), 0);
      const spread = Math.max(...there) - Math.min(...there);
      assert.ok(there.length === depth.values.length && spread > 1e-3 && largest < 1e-3 * spread, `${largest} of ${spread}`);
    }
    const why = "loading the graph on webgpu: ONNX Runtime: it failed without saying why"; // it throws a number
    assert.equal(started.info.reason, `Processor, 2 threads: WebGPU does not work here (${why}).`);
    assert.deepEqual(started.stages, ["runtime", "weights", "graph"]);
    assert.equal(restarted.info.reason, "Processor, 2 threads: WebGPU does not work here (out of memory).");
  },
);
