import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { build, type BuildResult } from "esbuild";

import * as api from "../src/index.ts";
import { withPage } from "./helpers/browser.ts";
import { tinyDepth } from "./helpers/tinyDepth.ts";

const bundle = (entry: string): Promise<BuildResult<{ metafile: true }>> =>
  build({
    entryPoints: [join(import.meta.dirname, "..", "src", entry)],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    logLevel: "silent",
  });

test("the browser entry bundles with nothing of Node in it", async () => {
  const { metafile, warnings } = await bundle("browser.ts");
  assert.deepEqual(warnings, []);
  const inputs = Object.keys(metafile.inputs);
  assert.deepEqual(
    inputs.filter((input) => /node_modules\/(onnxruntime-node|sharp)|native\/|engine\/torch/.test(input)),
    [],
  );
  const outside = Object.entries(metafile.inputs).flatMap(([file, { imports }]) =>
    imports.filter(({ external }) => external).map(({ path }) => `${file} imports ${path}`),
  );
  const bothWorlds = /^node_modules\/(onnxruntime-web|exrs)\//; // their loaders look where they run before they import
  assert.deepEqual(
    outside.filter((line) => !bothWorlds.test(line)),
    [],
  );
});

test("the Node entry does not bundle for a browser: the test above can fail", async () => {
  await assert.rejects(bundle("index.ts"), /Could not resolve "(fs|worker_threads|child_process)"/);
});

const pageScript = `
  import * as api from "../src/browser.ts";
  import { tinyDepth } from "./helpers/tinyDepth.ts";
  globalThis.depthHere = async () => {
    const { depth } = await tinyDepth(api, { threads: 1, wasmPath: new URL("/runtime/", location.href).href });
    return Array.from(depth.values);
  };
`;

test("render, record, run: the same calls give the same depth in a browser as in Node", { timeout: 120_000 }, async (t) => {
  const { depth } = await tinyDepth(api, { threads: 1 });
  const there = await withPage({ script: pageScript }, (page) => page.evaluate<number[]>("depthHere()"));
  assert.equal(there.length, depth.values.length);
  const largest = there.reduce((worst, value, i) => Math.max(worst, Math.abs(value - (depth.values[i] as number))), 0);
  const spread = Math.max(...there) - Math.min(...there);
  t.diagnostic(`largest difference ${largest} m of ${spread} m`);
  assert.ok(spread > 1e-3 && largest < 1e-3 * spread, `${largest} of ${spread}`);
});
