import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { configs, type NetworkConfig, type SurfaceConfig } from "../../../src/model/config.ts";
import { initialWeights } from "../../../src/model/state.ts";
import { loadModel } from "../../../src/network/node/loadModel.ts";
import { openNetwork } from "../../../src/network/node/openNetwork.ts";
import { DEFAULT_ERROR_MODEL } from "../../../src/network/facts.ts";
import { writeModel, type Model } from "../../../src/network/weightsFile.ts";
import { createRandom } from "../../../src/random.ts";
import { put, temporaryFolder } from "../../data/files.ts";
import { assertClose } from "../../helpers/close.ts";
import { tiny } from "../../helpers/network.ts";
import { slantedStack } from "../../helpers/texturedStack.ts";

const root = temporaryFolder();
const onCpu = { device: "cpu", threads: 1 } as const;
const { stack } = slantedStack({ width: 50, height: 40, planes: 4 });
const untrained = (config: NetworkConfig, facts: Model["facts"] = {}): Model => ({
  config,
  weights: initialWeights(config, createRandom(3)),
  facts,
});

test("a name, a path, bytes and a model open the same network", async () => {
  const { file, ...model } = loadModel("small");
  const found: Float32Array[] = [];
  for (const given of ["small", file, new Uint8Array(readFileSync(file)), model]) {
    const network = await openNetwork(given, onCpu);
    assert.deepEqual([network.device, network.average, network.facts], ["cpu", "dioptres", model.facts]);
    found.push((await network.predict(stack)).values);
    await network.dispose();
  }
  const [first, ...others] = found;
  for (const values of others) assert.deepEqual(values, first);
});

test("networks whose graph is for one size take stacks of any size and number of planes", async () => {
  const native: NetworkConfig = { ...tiny, surface: { ...(tiny.surface as SurfaceConfig), grid: "native" } };
  for (const config of [configs.dfv, native]) {
    const network = await openNetwork(untrained(config), onCpu);
    for (const planes of [4, 3]) {
      const { width, height, values } = await network.predict({
        ...stack,
        images: stack.images.slice(0, planes),
        focusDistances: stack.focusDistances.slice(0, planes),
      });
      assert.deepEqual([width, height, values.length], [50, 40, planes * 2000]);
      const sums = Float32Array.from({ length: 2000 }, (_, i) => {
        let sum = 0;
        for (let n = 0; n < planes; n++) sum += values[n * 2000 + i] as number;
        return sum;
      });
      assertClose(sums, new Float32Array(2000).fill(1), 1e-5);
    }
    await network.dispose();
  }
});

test("mirroring by hand to a multiple of 32 gives the same pixels as leaving it to the network", async () => {
  const network = await openNetwork(untrained(tiny), onCpu);
  const wide = stack.images.map((image) => {
    const data = new Float32Array(64 * 64 * 3);
    for (let y = 0; y < 64; y++)
      for (let x = 0; x < 64; x++) {
        const [sx, sy] = [x < 50 ? x : 98 - x, y < 40 ? y : 78 - y];
        for (let c = 0; c < 3; c++) data[(y * 64 + x) * 3 + c] = image.data[(sy * 50 + sx) * 3 + c] as number;
      }
    return { ...image, width: 64, height: 64, data };
  });
  const [small, large] = [await network.predict(stack), await network.predict({ ...stack, images: wide })];
  const cut = Float32Array.from({ length: 4 * 2000 }, (_, i) => {
    const [n, y, x] = [Math.floor(i / 2000), Math.floor((i % 2000) / 50), i % 50];
    return large.values[(n * 64 + y) * 64 + x] as number;
  });
  assertClose(small.values, cut, 1e-5);
  await network.dispose();
});

test("what the weights do not say is noted, and the paper's mean and the shipped calibration take its place", async () => {
  put(join(root, "plain.safetensors"), writeModel(untrained(tiny), { storage: "f16" }));
  const network = await openNetwork(join(root, "plain.safetensors"), onCpu);
  assert.equal(network.average, "metres");
  assert.deepEqual(network.errorModel, DEFAULT_ERROR_MODEL);
  assert.equal(network.notes.length, 1);
  assert.match(network.notes.join("\n"), /arithmetic mean/);
  await network.dispose();
});

test("stacks predicted at the same time give what they give one by one", async () => {
  const [alone, together] = [await openNetwork(untrained(tiny), onCpu), await openNetwork(untrained(tiny), { ...onCpu, together: 2 })];
  const reversed = { ...stack, images: stack.images.toReversed() };
  const want = [await alone.predict(stack), await alone.predict(reversed)];
  const got = await Promise.all([together.predict(stack), together.predict(reversed)]);
  for (const [i, { values }] of got.entries()) assertClose(values, want[i]?.values ?? [], 1e-5);
  await Promise.all([alone.dispose(), together.dispose()]);
});

test("Γ and z* come with p where they are asked for and one run holds the stack", async () => {
  const network = await openNetwork(untrained(tiny), { ...onCpu, fields: true });
  assert.deepEqual((await network.predict(stack)).fields?.surface.shape, [1, 16, 4, 14, 14]);
  const images = Array.from({ length: 12 }, (_, n) => stack.images[n % 4] as (typeof stack.images)[number]);
  const long = { images, focusDistances: images.map((_, n) => n + 1), space: "depth" } as const;
  assert.equal((await network.predict(long)).fields, undefined);
  await network.dispose();
});
