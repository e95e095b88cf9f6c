// The addon's operators for training against libtorch's on one device: milliseconds forward and backward, and how far their results and
// gradients are apart (‖ours − libtorch's‖ / ‖libtorch's‖, in bf16 on CUDA); then a few steps of a network with either.
//   node --import tsx bench/trainKernels.ts [--device cuda] [--batch-size 48] [--size 224] [--models base,small] [--steps 6]
//     [--cases parts,losses,others] [--parts detail=6,context=16,convex=24]
import type { Tensor } from "../src/engine/engine.ts";
import { scope } from "../src/engine/scope.ts";
import { createTorchEngine, type TorchEngine, type TorchTensor } from "../src/engine/torch/torchEngine.ts";
import { totalLoss } from "../src/losses/total.ts";
import { convexUpsample, inFocus } from "../src/model/convexUpsampling.ts";
import { expectedDepth } from "../src/model/focusHead.ts";
import { detailEnergies, detailLogs } from "../src/model/fineDetail.ts";
import { planeContext } from "../src/model/planeContext.ts";
import { render } from "../src/train/presets.ts";
import { createTrainer } from "../src/train/trainer.ts";
import { networkOf } from "./parts.ts";
import { option } from "./timing.ts";

const device = option("device", "cpu");
const [batch, size, steps] = [Number(option("batch-size", "48")), Number(option("size", "224")), Number(option("steps", "6"))] as const;
const PLANES = 5;
const pictures = batch * PLANES;
const [half, quarter, eighth, sixteenth] = [size / 2, size / 4, size / 8, size / 16] as const;
const activations = device === "cpu" ? "f32" : "bf16";

interface Case {
  readonly shapes: readonly (readonly number[])[];
  /** Operands in f32 (weights, images); the others are activations. */
  readonly exact?: readonly number[];
  /** Operands without a gradient. */
  readonly fixed?: readonly number[];
  readonly body: (engine: TorchEngine, ...operands: TorchTensor[]) => Tensor;
}

const norm = (engine: TorchEngine, x: TorchTensor, weight: TorchTensor, bias: TorchTensor): TorchTensor => {
  const channels = x.shape[1] as number;
  const running = { runningMean: engine.full([channels], 0), runningVariance: engine.full([channels], 1) };
  return engine.channelsLast(x).batchNorm({ weight, bias, ...running, training: true, momentum: 0.1, epsilon: 1e-5 });
};

const CASES: Readonly<Record<string, Case>> = {
  "norm, ReLU of images": {
    shapes: [[pictures, 64, half, half], [64], [64]],
    exact: [1, 2],
    body: (engine, x, weight, bias) => norm(engine, x, weight, bias).relu(),
  },
  "norm, residual, ReLU of images": {
    shapes: [[pictures, 64, quarter, quarter], [64], [64], [pictures, 64, quarter, quarter]],
    exact: [1, 2],
    body: (engine, x, weight, bias, residual) => norm(engine, x, weight, bias).add(engine.channelsLast(residual)).relu(),
  },
  "norm, ReLU of volumes, 24 channels": {
    shapes: [[batch, 24, PLANES, quarter, quarter], [24], [24]],
    exact: [1, 2],
    body: (engine, x, weight, bias) => norm(engine, x, weight, bias).relu(),
  },
  "norm, LeakyReLU of small images, 512 channels": {
    shapes: [[pictures, 512, size / 32, size / 32], [512], [512]],
    exact: [1, 2],
    body: (engine, x, weight, bias) => norm(engine, x, weight, bias).leakyRelu(0.1),
  },
  "max pooling": {
    shapes: [[pictures, 64, half, half]],
    body: (engine, x) => engine.channelsLast(x).maxPool2d({ kernel: [3, 3], stride: [2, 2], padding: [1, 1] }),
  },
  "first convolution": {
    shapes: [
      [pictures, 3, size, size],
      [64, 3, 7, 7],
    ],
    exact: [0, 1],
    fixed: [0],
    body: (_, x, weight) => x.conv2d(weight, { stride: 2, padding: 3 }),
  },
  "convolution over images at twice their size": {
    shapes: [
      [pictures, 128, eighth, eighth],
      [64, 128, 3, 3],
    ],
    exact: [1],
    body: (engine, x, weight) => engine.channelsLast(x).resize2d([quarter, quarter], "nearest").conv2d(weight, { padding: 1 }),
  },
  "convolution over volumes of three sizes": {
    shapes: [
      [batch, 256, PLANES, sixteenth, sixteenth],
      [batch, 128, PLANES, eighth, eighth],
      [batch, 64, PLANES, quarter, quarter],
      [64, 448, 3, 3, 3],
    ],
    exact: [3],
    body(engine, coarse, middle, fine, weight) {
      const large = (x: TorchTensor): TorchTensor => engine.channelsLast(x).resize2d([quarter, quarter], "bilinear");
      return engine.concat([large(coarse), large(middle), engine.channelsLast(fine)], 1).conv3d(weight, { padding: 1 });
    },
  },
};

/** p at full size from logits at a quarter of it, which differ by about 3. */
const probability = (logits: TorchTensor): Tensor => logits.mul(60).resize2d([size, size], "bilinear").softmax(1);

const LOSSES: Readonly<Record<string, Case>> = {
  "p from logits at a quarter of its size": {
    shapes: [[batch, PLANES, quarter, quarter]],
    exact: [0],
    body: (_, logits) => probability(logits),
  },
  "L_depth, L_fv and the trend loss, with p": {
    shapes: [
      [batch, PLANES, quarter, quarter],
      [batch, 1, size, size],
    ],
    exact: [0, 1],
    fixed: [1],
    body(engine, logits, noise) {
      const focusProbability = probability(logits);
      const focusDistances = engine.full([batch, PLANES], 1).mul(engine.range(PLANES).reshape([1, PLANES]));
      const truth = { trueDepth: noise.mul(30).add(2), valid: noise.greater(-0.05).cast("f32"), focusDistances };
      const depth = expectedDepth({ focusProbability, focusDistances });
      return totalLoss({ depth, focusProbability, spatial: undefined, coarser: [] }, truth, render.loss).total;
    },
  },
};

const volume = (channels: number, side: number): number[] => [batch, channels, PLANES, side, side];

const PARTS: Readonly<Record<string, Case>> = {
  ...Object.fromEntries(
    (
      [
        [24, quarter],
        [64, sixteenth],
      ] as const
    ).map(([channels, side]) => [
      // prettier-ignore
      `context of the planes, ${channels} channels at ${side}²`,
      {
        shapes: [volume(channels, side), [channels, 2 * channels, 1, 1]],
        exact: [1],
        body: (engine, x, weight) => planeContext(engine.channelsLast(x), (pooled) => pooled.conv2d(weight)),
      } satisfies Case,
    ]),
  ),
  "what is in focus, features and images": {
    shapes: [volume(16, quarter), [batch, PLANES, 3, size, size], volume(1, quarter), [24, 64, 1, 1]],
    exact: [1, 2, 3],
    fixed: [1],
    body: (engine, x, images, logits, weight) =>
      inFocus({ features: engine.channelsLast(x), images, p: logits.mul(60).softmax(2) }).conv2d(weight),
  },
  "energies of detail, 6 filters": {
    shapes: [
      [batch, PLANES, 3, size, size],
      [6, 3, 3, 3],
    ],
    exact: [0, 1],
    fixed: [0],
    body: (engine, images, filters) => engine.fullPrecision(() => engine.concat(detailEnergies(images, filters), 1)),
  },
  "logarithms of detail, 6 filters": {
    shapes: [
      [pictures, 6, quarter, quarter],
      [pictures, 6, quarter, quarter],
    ],
    exact: [0, 1],
    body: (_, energies, changes) => detailLogs([energies.square(), changes.square()], { B: batch, N: PLANES }),
  },
  "convex upsampling": {
    shapes: [
      [batch, PLANES, quarter, quarter],
      [batch, 144, quarter, quarter],
      [144, 1, 1],
    ],
    exact: [0, 2],
    body: (engine, logits, scores, start) => convexUpsample({ logits: logits.mul(60), scores: engine.channelsLast(scores), start }),
  },
};

const engines = [true, false].map((trainingKernels) => createTorchEngine({ device, trainingKernels })) as [TorchEngine, TorchEngine];
for (const engine of engines) if (device !== "cpu") engine.fastMath({ tf32: false, cudnnBenchmark: true });

interface Outcome {
  readonly milliseconds: number;
  readonly results: readonly TorchTensor[];
}

/** Runs a case on one engine with the same operands. */
function run(engine: TorchEngine, { shapes, exact = [], fixed = [], body }: Case): Outcome {
  engine.seed(1);
  const operands = shapes.map((shape, i) => {
    const deviation = exact.includes(i) && shape.length > 1 ? 0.05 : 1;
    const values = engine.compute("aten::randn", shape, "f32", null, device).mul(deviation);
    return exact.includes(i) ? values : values.cast(activations);
  });
  const free = operands.filter((_, i) => !fixed.includes(i)).map((operand) => engine.requireGradient(operand));
  const forward = (): Tensor => (device === "cpu" ? body(engine, ...operands) : engine.autocast(() => body(engine, ...operands)));
  const { shape, dtype } = scope(forward); // not randn_like, which fills another layout in another order
  const probe = engine.compute("aten::randn", shape, "f32", null, device).cast(dtype);
  let result: TorchTensor | undefined;
  const once = (): void => {
    for (const operand of free) engine.setGradient(operand);
    result = forward() as TorchTensor;
    engine.backward(result, probe);
  };
  for (let i = 0; i < 3; i++) scope(once);
  const times = Array.from({ length: 5 }, () => engine.milliseconds(() => { scope(once); })).sort((a, b) => a - b); // prettier-ignore
  once();
  const gradients = free.map((operand) => engine.gradient(operand) as TorchTensor);
  return { milliseconds: times[2] as number, results: [result as TorchTensor, ...gradients] };
}

const distance = (engine: TorchEngine, a: Tensor, b: Tensor): number => {
  const norm2 = (tensor: Tensor): number => Math.sqrt(engine.item(tensor.square().sum()));
  return norm2(a.cast("f32").sub(b.cast("f32"))) / norm2(b.cast("f32"));
};

const GROUPS: Readonly<Record<string, Readonly<Record<string, Case>>>> = { parts: PARTS, losses: LOSSES, others: CASES };
const chosen = option("cases", Object.keys(GROUPS).join(",")).split(",");
for (const [name, each] of chosen.flatMap((group) => Object.entries(GROUPS[group] ?? {})))
  scope(() => {
    const [ours, libtorch] = engines.map((engine) => run(engine, each)) as [Outcome, Outcome];
    const apart = ours.results.map((result, i) => distance(engines[0], result, libtorch.results[i] as Tensor).toExponential(1));
    const times = [ours, libtorch].map(({ milliseconds }) => milliseconds.toFixed(3).padStart(8)).join(" ms, libtorch ");
    console.log(`${name.padEnd(48)} ${times} ms, apart: result ${apart.join(", gradients ")}`);
  });

for (const name of option("models", "base,small").split(",").filter(Boolean)) {
  const losses = engines.map((engine) =>
    scope(() => {
      engine.seed(2);
      const uniform = (shape: readonly number[]): TorchTensor => engine.compute("aten::rand", shape, "f32", null, device);
      const stacks = {
        images: uniform([batch, PLANES, 3, size, size]),
        focusDistances: engine.constant(Float32Array.from({ length: batch * PLANES }, (_, i) => i % PLANES), { shape: [batch, PLANES] }), // prettier-ignore
        trueDepth: uniform([batch, 1, size, size]).mul(PLANES - 1),
        valid: engine.full([batch, 1, size, size], 1),
      };
      const trainer = createTrainer({ engine, config: { ...render, model: networkOf(name) } });
      return Array.from({ length: steps }, (_, step) => {
        trainer.step(stacks, { step: step + 1, rate: 1e-4 });
        const { total = NaN, gradient = NaN } = trainer.takeLosses() ?? {};
        return `${total.toFixed(4)} (${gradient.toFixed(2)})`;
      });
    }),
  );
  console.log(
    `${name}: loss (norm of the gradient) of the first steps\n  ours     ${losses[0]?.join("  ")}\n  libtorch ${losses[1]?.join("  ")}`,
  );
}
process.exit(0);
