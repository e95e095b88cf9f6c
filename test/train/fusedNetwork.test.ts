import assert from "node:assert/strict";
import { mock, test } from "node:test";

import type { DType, Tensor } from "../../src/engine/engine.ts";
import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine, TorchTensor, type TorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { paperLoss, totalLoss } from "../../src/losses/total.ts";
import type { DualFocusConfig } from "../../src/model/config.ts";
import { createNetwork } from "../../src/model/network.ts";
import { createParameters } from "../../src/nn/module.ts";
import { createRandom } from "../../src/random.ts";
import { randomImages, tiny, tinyWithImages } from "../helpers/network.ts";

const [B, N, H, W] = [2, 3, 32, 64];

/** With the paper's 3×3 convolutions after upsampling. */
const asInPaper = (config: DualFocusConfig): DualFocusConfig => ({
  ...config,
  encoder: { ...config.encoder, upStep: "conv3", pooling: "sliding" },
  upKernel: 3,
});

const OPERATORS = ["batchNorm", "trainPool", "trainWindow", "gatherBlocks", "planeLosses"] as const;
const PARTS = ["planePool", "planeSpread", "inFocus", "convexUpsample", "detailEnergies", "detailLogs"] as const;
const NETWORKS = {
  "the paper's network": { config: asInPaper(tiny), operators: [...OPERATORS, "trainSoftmax"] },
  "the network with what is ours in the decoder": { config: asInPaper(tinyWithImages), operators: [...OPERATORS, ...PARTS] },
} as const;

/** By name: the losses of eq. 8 and of the trend, the gradients of the parameters, and the running statistics after the step. */
type Step = ReadonlyMap<string, readonly number[]>;

function stepOf(engine: TorchEngine, config: DualFocusConfig): Step {
  return scope(() => {
    const tree = createParameters(engine, { random: createRandom(5) });
    const network = createNetwork(tree.source, config);
    tree.mode.training = true;
    for (const [name, parameter] of tree.parameters) {
      const random = createRandom(6).split(name); // some parameters start at zero, which would stop the gradients of others
      engine.write(
        parameter,
        (engine.read(parameter) as Float64Array).map((value) => value + 0.05 * random.normal()),
      );
      engine.requireGradient(parameter);
    }
    const map = (value: (x: number, y: number) => number): Tensor =>
      engine.constant(
        Float64Array.from({ length: B * H * W }, (_, i) => value(i % W, Math.floor(i / W))),
        { shape: [B, 1, H, W] },
      );
    const focusDistances = engine.constant([1, 2, 3, 1.2, 1.9, 2.8], { shape: [B, N] });
    const images = engine.constant(randomImages({ B, N, H, W }), { shape: [B, N, 3, H, W] });
    const truth = { trueDepth: map((x, y) => 2 + Math.sin(0.1 * x + 0.07 * y)), valid: map((x) => (x % 7 === 0 ? 0 : 1)), focusDistances };
    const losses = totalLoss(network.forward({ images, focusDistances }), truth, {
      ...paperLoss,
      weights: { ...paperLoss.weights, trend: 1 },
    });
    engine.backward(losses.total);
    const gradients = [...tree.parameters].map(([name, parameter]) => [`gradient of ${name}`, engine.gradient(parameter)] as const);
    const all = [...Object.entries(losses), ...gradients, ...tree.buffers] as readonly (readonly [string, Tensor])[];
    return new Map(all.map(([name, tensor]) => [name, Array.from(engine.read(tensor) as Float64Array)]));
  });
}

/** Runs `body` with f64 wherever it asks the engine for f32. */
function inDouble<T>(engine: TorchEngine, body: () => T): T {
  const widened = (dtype: DType = "f32"): DType => (dtype === "f32" ? "f64" : dtype);
  const plain = { ...engine };
  const { value: cast } = Object.getOwnPropertyDescriptor(TorchTensor.prototype, "cast") as { value: TorchTensor["cast"] };
  const wide: Pick<TorchEngine, "constant" | "full" | "range"> = {
    constant: (values, { shape, dtype }) => plain.constant(values, { shape, dtype: widened(dtype) }),
    full: (shape, value, { dtype } = {}) => plain.full(shape, value, { dtype: widened(dtype) }),
    range: (length, { dtype } = {}) => plain.range(length, { dtype: widened(dtype) }),
  };
  const mocks = [
    ...(["constant", "full", "range"] as const).map((name) => mock.method(engine, name, wide[name] as never)),
    mock.method(TorchTensor.prototype, "cast", function (this: TorchTensor, dtype: DType) {
      return cast.call(this, widened(dtype));
    }),
  ];
  try {
    return body();
  } finally {
    for (const each of mocks) each.mock.restore();
  }
}

const norm = (values: readonly number[]): number => Math.hypot(...values);

const plain = createTorchEngine({ threads: 2 });
const fused = createTorchEngine({ threads: 2, trainingKernels: { worthwhile: { multiplications: 1, channels: 1 } } });

for (const [network, { config, operators }] of Object.entries(NETWORKS))
  test(`a training step of ${network} with fused operators has the losses, gradients and statistics of float64 without them`, () => {
    const want = inDouble(plain, () => stepOf(plain, config));
    const native = mock.method(fused, "native");
    const got = stepOf(fused, config);
    const modes = native.mock.calls.flatMap(({ arguments: [name, ...args] }) => (name === "trainWindow" ? [args[4]] : []));
    const used = new Set(native.mock.calls.map(({ arguments: [name] }) => name));
    native.mock.restore();
    for (const name of operators) assert.ok(used.has(name), `${name} was not used`);
    assert.deepEqual(new Set(modes), new Set([true, false]), "convolutions before nearest and bilinear upsampling");

    assert.deepEqual([...got.keys()], [...want.keys()]);
    for (const [name, expected] of want) {
      const off = norm(expected.map((value, i) => (got.get(name)?.[i] as number) - value));
      const allowed = (name.startsWith("gradient") ? 3e-3 : 3e-5) * norm(expected) + 1e-5; // the logits' bias, which softmax ignores, has gradient 0
      assert.ok(off <= allowed, `${name}: off by ${off}, allowed are ${allowed}`);
    }
  });
