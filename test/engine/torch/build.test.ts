import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import type { createTorchEngine } from "../../../src/engine/torch/torchEngine.ts";

type TorchModule = { readonly createTorchEngine: typeof createTorchEngine };

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Runs `body` with a copy of the engine's sources where no addon was built. */
async function withoutAddon(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "dualfocus-"));
  try {
    for (const each of ["engine", "io"]) cpSync(join(root, "src", each), join(folder, "src", each), { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("without the addon the module loads, and making an engine says how to build it", async () => {
  await withoutAddon(async (folder) => {
    const file = pathToFileURL(join(folder, "src", "engine", "torch", "torchEngine.ts")).href;
    const torch = (await import(file)) as TorchModule;
    assert.throws(() => torch.createTorchEngine(), /EngineError: .*not built.*libtorch-dev.*npm run build:native/s);
  });
});

test("an addon that does not load is named with the reason", async () => {
  await withoutAddon(async (folder) => {
    cpSync(join(root, "package.json"), join(folder, "build", "dualfocus.node"));
    const file = pathToFileURL(join(folder, "src", "engine", "torch", "torchEngine.ts")).href;
    const torch = (await import(file)) as TorchModule;
    assert.throws(() => torch.createTorchEngine(), /does not load: .*build:native/s);
  });
});

test("the build script explains a libtorch that is not where it was said to be", () => {
  const env = { ...process.env, TORCH_PATH: "/nowhere/torch" };
  const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts", "buildNative.js")], { env, encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /TORCH_PATH=\/nowhere\/torch has no include\/ATen\/ATen\.h/);
});
