import assert from "node:assert/strict";
import { test } from "node:test";

import type { Tensor } from "../../src/engine/engine.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import type { WeightArray } from "../../src/io/safetensors.ts";
import type { SurfaceConfig } from "../../src/model/config.ts";
import { VariationalModule } from "../../src/model/variational.ts";
import { createParameters } from "../../src/nn/module.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const engine = createTorchEngine({ threads: 1 });
const SIZE = { in: 6, out: 5 };
const surface: SurfaceConfig = { channels: 4, grid: 7, solver: "cosine", norm: "joint" };
const read = (tensor: Tensor): number[] => [...(engine.read(tensor) as Float32Array)];

/** Weights of a module, with what comes out of the Γ head multiplied by `scale`. */
function weightsOf(config: SurfaceConfig, scale = 1): Map<string, WeightArray> {
  const tree = createParameters(engine, { random: createRandom(1) });
  new VariationalModule(tree.source, { ...SIZE, config });
  return new Map(
    [...tree.state].map(([name, tensor]) => {
      const data = (engine.read(tensor) as Float32Array).map((value) => (name.startsWith("gradientHead.outer") ? scale * value : value));
      return [name, { shape: tensor.shape as number[], data }];
    }),
  );
}

const moduleOf = (config: SurfaceConfig, scale?: number): VariationalModule =>
  new VariationalModule(createParameters(engine, { weights: weightsOf(config, scale) }).source, { ...SIZE, config });

/** [1, 6, 3, 5, 4]; `louder` multiplies the last plane. */
function volume(louder = 1): Tensor {
  const random = createRandom(2);
  const values = Float32Array.from({ length: 6 * 3 * 20 }, (_, i) => (Math.floor(i / 20) % 3 === 2 ? louder : 1) * random.normal());
  return engine.constant(values, { shape: [1, 6, 3, 5, 4] });
}

test("θ_grad sees the raw surface, so that Γ twice as steep predicts twice the gradient; the features are normalised and stay", () => {
  const [one, two] = [1, 2].map((scale) => moduleOf(surface, scale).forward(volume())) as [ReturnType<VariationalModule["forward"]>, ReturnType<VariationalModule["forward"]>]; // prettier-ignore
  assertClose(
    read(two.spatial.surface),
    read(one.spatial.surface).map((z) => 2 * z),
    1e-4,
  );
  const bias = [...(weightsOf(surface).get("surfaceGradientHead.bias")?.data ?? [])];
  assertClose(
    read(two.spatial.surfaceGradient.x),
    read(one.spatial.surfaceGradient.x).map((g) => 2 * g - (bias[0] as number)),
    1e-4,
  );
  assertClose(read(two.features), read(one.features), 1e-3);
});

test("the norm is joint over planes, so a louder plane quietens the others; per plane it does not", () => {
  const firstPlane = (norm: SurfaceConfig["norm"], louder: number): number[] =>
    read(
      moduleOf({ ...surface, norm })
        .forward(volume(louder))
        .features.slice(2, { end: 1 }),
    );
  assertClose(firstPlane("perPlane", 5), firstPlane("perPlane", 1), 1e-5);
  const [quiet, plain] = [firstPlane("joint", 5), firstPlane("joint", 1)];
  const energy = (values: number[]): number => values.reduce((sum, value) => sum + value * value, 0);
  assert.ok(energy(quiet.map((value, i) => value - (plain[i] as number))) > 0.05 * energy(plain));
});

test("the fields have the grid's size whatever the picture's, and a native grid has the volume's", () => {
  assert.deepEqual(moduleOf(surface).forward(volume()).spatial.gradientField.x.shape, [1, 4, 3, 7, 7]);
  const native = moduleOf({ ...surface, grid: "native" }).forward(volume());
  assert.deepEqual(native.spatial.surface.shape, [1, 4, 3, 5, 4]);
  assert.deepEqual(native.features.shape, [1, 5, 3, 5, 4]);
});
