import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { loadNetwork } from "../../src/network/node/loadNetwork.ts";
import { configs, type NetworkConfig, type SurfaceConfig } from "../../src/model/config.ts";
import { initialWeights } from "../../src/model/state.ts";
import { writeModel } from "../../src/network/weightsFile.ts";
import { createRandom } from "../../src/random.ts";
import { put, temporaryFolder } from "../data/files.ts";

const root = temporaryFolder();

test("a network that no graph holds for stacks of any size is refused by name, before pictures are read", async () => {
  const surface = configs.small.surface as SurfaceConfig;
  const networks: Record<string, NetworkConfig> = {
    native: { ...configs.small, surface: { ...surface, grid: "native" } },
    dense: { ...configs.small, surface: { ...surface, solver: "dense" } },
    dfv: configs.dfv,
  };
  for (const [name, config] of Object.entries(networks)) {
    const model = join(root, `${name}.safetensors`);
    put(model, writeModel({ config, weights: initialWeights(config, createRandom(1)), facts: {} }, { storage: "f16" }));
    const refusal = { name: "UserError", exitCode: 3, message: /\.safetensors: its graph is for one size/, remedy: /dualfocus evaluate/ };
    await assert.rejects(loadNetwork({ model, device: "cpu", threads: 1 }), refusal, name);
  }
  const { session, stages } = await loadNetwork({ model: "small", device: "cpu", threads: 1 });
  assert.ok(stages);
  await session.dispose();
});
