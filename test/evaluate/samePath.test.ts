import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { estimateDepth, focalStack, openNetwork, readImage } from "../../src/index.ts";
import { decodeNpy, encodeNpy } from "../../src/io/npy.ts";
import { encodePng } from "../../src/io/png.ts";
import { initialWeights } from "../../src/model/state.ts";
import type { NetworkFacts } from "../../src/network/facts.ts";
import { loadModel } from "../../src/network/node/loadModel.ts";
import { writeModel, type Model } from "../../src/network/weightsFile.ts";
import { createRandom } from "../../src/random.ts";
import { presets, type PresetName } from "../../src/train/presets.ts";
import { trainedFacts } from "../../src/train/trainedOn.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { assertClose } from "../helpers/close.ts";
import { runCommand } from "../helpers/command.ts";
import { tiny } from "../helpers/network.ts";
import { slantedStack } from "../helpers/texturedStack.ts";

const root = temporaryFolder();
const { stack } = slantedStack({ width: 90, height: 60, planes: 4 });
const focusDistances = [0.5, 0.7, 1.1, 2.5];
const folder = join(root, "set", "stack");
const files = stack.images.map((image, n) => {
  const file = join(folder, `plane_${n}.png`);
  put(file, encodePng(image));
  return file;
});
put(join(folder, "stack.json"), JSON.stringify({ unit: "m", focus: focusDistances }));

interface Found {
  readonly depth: Float32Array;
  readonly p: Float32Array;
}

/** The README's library example. */
async function byLibrary(model: string): Promise<Found> {
  const network = await openNetwork(model, { device: "cpu", threads: 1 });
  const images = await Promise.all(files.map((file) => readImage(file)));
  const { depth, probability } = await estimateDepth(focalStack({ images, focusDistances, space: "depth" }), { network });
  await network.dispose();
  return { depth: depth.values, p: probability.values };
}

const onCpu = ["--device", "cpu", "--threads", "1", "--quiet"];

async function byCommand(context: test.TestContext, model: string, name: string): Promise<Float32Array> {
  const output = join(root, `depth-${name}`);
  const args = ["--model", model, "-o", output, "--save", "npy", "--align", "off", "--size", "full"];
  const { code, err } = await runCommand(context, "depth", folder, ...args, "--fill", "off", ...onCpu);
  assert.equal(code, 0, err);
  return decodeNpy(readFileSync(join(output, "depth.npy"))).data as Float32Array;
}

/** What `evaluate` measures against a truth. */
async function measured(context: test.TestContext, model: string, truth: Float32Array): Promise<Readonly<Record<string, number>>> {
  put(join(folder, "depth.npy"), encodeNpy({ data: truth, shape: [60, 90] }));
  const args = ["--dataset", "folder", "--data", join(root, "set"), "--model", model, "--json"];
  const { code, out, err } = await runCommand(context, "evaluate", ...args, ...onCpu);
  assert.equal(code, 0, err);
  return (JSON.parse(out) as { metrics: Record<string, number> }).metrics;
}

function writeTiny(name: string, facts: NetworkFacts, model: Omit<Model, "facts">): string {
  const file = join(root, `${name}.safetensors`);
  put(file, writeModel({ ...model, facts }, { storage: "f32" }));
  return file;
}

/** Presets whose networks average dioptres; the paper's and those on published sets average metres. */
const IN_DIOPTRES: readonly string[] = ["render", "renderPhone", "smoke"];

const untrained = { config: tiny, weights: initialWeights(tiny, createRandom(5)) };

for (const name of Object.keys(presets) as PresetName[])
  test(`weights of the preset ${name} give by the library and by depth, to the bit, what evaluate measures`, async (context) => {
    const model = writeTiny(name, trainedFacts({ config: presets[name], step: 1, seconds: 60 }), untrained);
    const { depth, p } = await byLibrary(model);
    const turned = (value: number): number => (IN_DIOPTRES.includes(name) ? 1 / value : value);
    const expected = depth.map((_, i) =>
      turned(focusDistances.reduce((sum, f, n) => sum + turned(f) * (p[n * depth.length + i] as number), 0)),
    );
    assertClose(depth, expected, 1e-5); // eq. 6, by hand
    assert.deepEqual(await byCommand(context, model, name), depth);
    assert.equal((await measured(context, model, depth))["mse"], 0);
  });

test("the shipped network too; and another mean, or a pixel that differs in its last bit, would show", async (context) => {
  const { depth } = await byLibrary("small");
  assert.deepEqual(await byCommand(context, "small", "small"), depth);
  assert.equal((await measured(context, "small", depth))["mse"], 0);
  const nearly = depth.with(1234, (depth[1234] as number) * (1 + 2 ** -22));
  assert.ok(((await measured(context, "small", nearly))["mse"] as number) > 0);
  const other = writeTiny("small-in-metres", { average: "metres" }, loadModel("small"));
  assert.ok(((await measured(context, other, depth))["rmse"] as number) > 1e-3);
});
