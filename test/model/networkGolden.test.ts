import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, mock, test } from "node:test";

import type { DType, Tensor } from "../../src/engine/engine.ts";
import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine, TorchTensor } from "../../src/engine/torch/torchEngine.ts";
import { focalTrendLoss } from "../../src/losses/focalVariational.ts";
import { totalLoss } from "../../src/losses/total.ts";
import { base, small, type DualFocusConfig } from "../../src/model/config.ts";
import { createNetwork } from "../../src/model/network.ts";
import { createParameters, type ParameterTree } from "../../src/nn/module.ts";
import { render } from "../../src/train/presets.ts";
import { assertClose } from "../helpers/close.ts";

interface Golden {
  readonly losses: Readonly<Record<"total" | "depth" | "spatial" | "focal" | "trend", number>>;
  readonly probability: readonly number[];
  /** Mean, standard deviation, least and largest. */
  readonly depth: readonly number[];
  readonly inference: readonly number[];
  /** Norm, and product with the parameter's own first values. */
  readonly gradients: Readonly<Record<string, readonly [number, number]>>;
}

const golden = JSON.parse(readFileSync(join(import.meta.dirname, "../golden/network_pytorch.json"), "utf8")) as Record<string, Golden>;
const [BATCH, PLANES, HEIGHT, WIDTH] = [2, 4, 64, 96];
const TOLERANCE = 1e-9;

/** The wiring of a network in miniature, without optional parts: those are not in the paper, nor in the network in Python. */
const miniature = (
  { kind, encoder, upKernel }: DualFocusConfig,
  { grid, taps }: { grid: number; taps: number | undefined },
): DualFocusConfig => ({
  kind,
  encoder: { ...encoder, widths: [6, 8, 10, 12], out: [4, 4, 4, 4] },
  surface: { channels: 3, grid, solver: "cosine", norm: "joint" },
  coarse: 5,
  fusion: [10, 8, 6],
  upChannels: [7, 5],
  upKernel,
  head: { width: 6, taps },
});
const networks = {
  tinyBase: miniature(base, { grid: 8, taps: undefined }),
  tinySmall: miniature(small, { grid: 14, taps: 4 }),
};

// The network computes in f32 wherever it says so; here that is f64, so that rounding hides nothing.
const engine = createTorchEngine({ threads: 1 });
const wide = (dtype: DType = "f32"): DType => (dtype === "f32" ? "f64" : dtype);
const constant = engine.constant.bind(engine);
mock.method(engine, "constant", (...[values, options]: Parameters<typeof constant>) =>
  constant(values, { ...options, dtype: wide(options.dtype) }),
);
mock.method(TorchTensor.prototype, "cast", function (this: TorchTensor, dtype: DType) {
  return engine.compute("aten::to.dtype", this, wide(dtype));
});
after(() => {
  mock.restoreAll();
});

const elements = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** As `wave` of test/golden/network_pytorch.py. */
function wave(name: string, shape: readonly number[]): Float64Array {
  const phase = Buffer.from(name).reduce((sum, letter) => (31 * sum + letter) % 1009, 0);
  const [size, mean] = shape.length > 1 ? [2 / Math.sqrt(elements(shape.slice(1))), 0] : [0.2, /(weight|running_var)$/.test(name) ? 1 : 0];
  return Float64Array.from({ length: elements(shape) }, (_, i) => mean + size * Math.sin(1.7 * i + phase));
}

/** As `formula_batch` there. */
function formulaBatch() {
  const made = (shape: readonly number[], value: (x: number, y: number, picture: number, i: number) => number): TorchTensor => {
    const width = shape[shape.length - 1] as number;
    const height = shape[shape.length - 2] as number;
    const at = (i: number): number => value(i % width, Math.floor(i / width) % height, Math.floor(i / (width * height)), i);
    return engine.constant(
      Float64Array.from({ length: elements(shape) }, (_, i) => at(i)),
      { shape, dtype: "f64" },
    );
  };
  const map = [BATCH, 1, HEIGHT, WIDTH];
  return {
    images: made(
      [BATCH, PLANES, 3, HEIGHT, WIDTH],
      (x, y, picture, i) => 0.5 + 0.3 * Math.sin(x / 3 + picture) * Math.cos(y / 5 - picture) + 0.2 * Math.sin(0.9 * i),
    ),
    focusDistances: made([BATCH, PLANES], (n, _y, _picture, i) => n + 0.1 * Math.sin(i)),
    trueDepth: made(map, (x, y, stack) => (PLANES - 1) * (0.5 + 0.5 * Math.sin(0.11 * x + 0.07 * y + stack))),
    valid: made(map, (x, y) => ((Math.floor(x / 9) + Math.floor(y / 7)) % 5 !== 0 && x < WIDTH - 20 ? 1 : 0)),
  };
}

function formulaNetwork(config: DualFocusConfig) {
  const tree = createParameters(engine, "blank");
  const network = createNetwork(tree.source, config);
  for (const [name, tensor] of tree.state) engine.write(tensor, wave(name, tensor.shape as readonly number[]));
  for (const parameter of tree.parameters.values()) engine.requireGradient(parameter);
  return { tree, network };
}

const read = (tensor: Tensor): Float64Array => engine.read(tensor) as Float64Array;
/** Every 19th row from 5 and every 23rd column from 3, of maps [.., H, W]. */
const samples = (maps: Tensor): Float64Array =>
  read(maps).filter((_, i) => (Math.floor(i / WIDTH) % HEIGHT) % 19 === 5 && (i % WIDTH) % 23 === 3);

function checkGradients(tree: ParameterTree, expected: Golden["gradients"]): void {
  assert.deepEqual([...tree.parameters.keys()].sort(), Object.keys(expected).sort(), "PyTorch has the same parameters");
  const whole = Math.hypot(...Object.values(expected).map(([norm]) => norm));
  for (const [name, parameter] of tree.parameters) {
    const gradient = read(engine.gradient(parameter) as TorchTensor);
    const first = wave(name, parameter.shape as readonly number[]);
    const [norm, product] = expected[name] ?? [0, 0];
    const limit = TOLERANCE * Math.max(norm, 1e-4 * whole); //               the logits' bias has none but rounding
    const found = [Math.hypot(...gradient), gradient.reduce((sum, value, i) => sum + value * (first[i] as number), 0)] as const;
    assert.ok(Math.abs(found[0] - norm) <= limit, `${name}: a gradient of norm ${found[0]}, PyTorch has ${norm}`);
    assert.ok(
      Math.abs(found[1] - product) <= limit * Math.max(1, Math.hypot(...first)),
      `${name}: a gradient along the wave of ${found[1]}, PyTorch has ${product}`,
    );
  }
}

for (const [name, config] of Object.entries(networks))
  test(`${name}: losses, p, depth, every gradient and the running statistics are those of plain PyTorch`, () => {
    const expected = golden[name] as Golden;
    scope(() => {
      const { tree, network } = formulaNetwork(config);
      const batch = formulaBatch();
      tree.mode.training = true;
      const prediction = network.forward(batch);
      const { focusProbability, depth } = prediction;
      const parts = { ...totalLoss(prediction, batch, render.loss), trend: focalTrendLoss({ focusProbability, valid: batch.valid }) };
      for (const [part, value] of Object.entries(expected.losses)) assertClose([engine.item(parts[part as keyof typeof parts])], [value], TOLERANCE); // prettier-ignore
      assertClose(samples(focusProbability), expected.probability, TOLERANCE);
      const values = read(depth);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
      assertClose([mean, deviation, Math.min(...values), Math.max(...values)], expected.depth, TOLERANCE);

      engine.backward(parts.total);
      checkGradients(tree, expected.gradients);

      tree.mode.training = false; // with the running statistics that the step left
      assertClose(samples(engine.noGradient(() => network.forward(batch).depth)), expected.inference, TOLERANCE);
      for (const tensor of tree.state.values()) tensor.dispose();
    });
  });
