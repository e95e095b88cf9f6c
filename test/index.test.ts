import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

import * as browser from "../src/browser.ts";
import * as api from "../src/index.ts";
import type * as trainingApi from "../src/training.ts";
import { tinyDepth, tinyStack } from "./helpers/tinyDepth.ts";
import { networkOf } from "./network/fakeSession.ts";

const root = join(import.meta.dirname, "..");

/** A copy of the package as npm installs it: no addon was built. */
const bare = mkdtempSync(join(tmpdir(), "dualfocus-bare-"));
for (const name of ["src", "native", "package.json"]) cpSync(join(root, name), join(bare, name), { recursive: true });
cpSync(join(root, "models", "small.safetensors"), join(bare, "models", "small.safetensors"));
symlinkSync(join(root, "node_modules"), join(bare, "node_modules"));
after(() => {
  rmSync(bare, { recursive: true });
});

const importBare = async (file: string): Promise<unknown> => import(pathToFileURL(join(bare, "src", file)).href);

test("with no addon built the package renders a stack, builds its graph and estimates depth", async () => {
  const installed = (await importBare("index.ts")) as typeof api;
  const { depth, confidence } = await tinyDepth(installed, { threads: 1 });
  assert.deepEqual([depth.width, depth.height, confidence.length], [60, 44, 60 * 44]);
  const { focusDistances } = tinyStack(installed);
  const [nearest, farthest] = [Math.min(...focusDistances) - 1e-4, Math.max(...focusDistances) + 1e-4];
  assert.ok(depth.values.every((value) => value >= nearest && value <= farthest));
});

test("the package opens the network it ships by its name, wherever the program runs", async () => {
  const { openNetwork } = (await importBare("index.ts")) as typeof api;
  const network = await openNetwork("small", { threads: 1 });
  assert.deepEqual([network.device, network.average, network.facts.licence], ["cpu", "dioptres", "Apache-2.0"]);
  assert.deepEqual(network.notes, []);
  await network.dispose();
  await assert.rejects(openNetwork("smal"), /smal: .*no such/);
});

test("with no addon built training can be imported, and says how to get it when it is used", async () => {
  const training = (await importBare("training.ts")) as typeof trainingApi;
  assert.throws(() => training.createTorchEngine(), /not built.*libtorch-dev.*npm run build:native/s);
  const folder = join(bare, "run");
  const request = { config: training.presets.smoke, folder, device: "cpu", stop: new AbortController().signal, progress: () => undefined };
  await assert.rejects(training.runTraining(request), /not built.*libtorch-dev.*npm run build:native/s);
});

test("every entry of package.json is built from a source that is there, for Node and for browsers", () => {
  const { exports, bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { exports: object; bin: Record<string, string> };
  const leaves = (value: unknown): string[] => (typeof value === "string" ? [value] : Object.values(value as object).flatMap(leaves));
  const built = [...leaves(exports), ...leaves(bin)].filter((file) => file.includes("dist/"));
  for (const file of built) {
    const source = file
      .replace(/^(\.\/)?dist\/command\//, "src/cli/") // the bundle of scripts/buildCommand.js
      .replace(/^(\.\/)?dist\//, "")
      .replace(/(\.d)?\.[jt]s$/, ".ts");
    assert.ok(existsSync(join(root, source)), `${file}: there is no ${source}`);
  }
  assert.ok("browser" in (exports as { ".": object })["."] && "default" in (exports as { ".": object })["."]);
  assert.equal(built.length, 9);
});

test("a browser has every name Node has, less what reads a disk or runs in Node alone", () => {
  const onlyNode = Object.keys(api).filter((name) => !(name in browser));
  assert.deepEqual(onlyNode.sort(), ["loadModel", "openStack", "readDepth", "readImage", "runDepth"].sort());
  assert.deepEqual(
    Object.keys(browser).filter((name) => !(name in api)),
    [],
  );
});

test("a stack that cannot give depth is refused before the network runs", async () => {
  const stack = tinyStack(api);
  const network = networkOf({
    device: "cpu",
    inputNames: [],
    outputNames: [],
    run: () => Promise.reject(new Error("the network ran")),
    dispose: () => Promise.resolve(),
  });
  const refuses = async (change: Partial<api.FocalStack>, message: RegExp): Promise<void> => {
    await assert.rejects(api.estimateDepth({ ...stack, ...change }, { network }), message);
  };
  const [first, ...others] = stack.images as [api.Image];
  const broken = { ...first, data: first.data.with(7, NaN) };
  await refuses({ images: [broken, ...others] }, /plane 0 holds NaN at column 2, row 0/);
  await refuses({ focusDistances: stack.focusDistances.toReversed() }, /positive metres, increasing; plane 1 is/);
  await refuses({ focusDistances: stack.focusDistances.map(() => 1) }, /increasing; plane 1 is 1 after 1/);
  await refuses({ images: [], focusDistances: [] }, /at least 2 planes, got 0/);
  await refuses({ images: [first], focusDistances: [1] }, /at least 2 planes, got 1/);
});
