import type { Tensor } from "../../src/engine/engine.ts";
import { operation, type Apply, type Operation } from "./operations.ts";

const convolutions: Operation[] = [
  operation("conv2d", [[2, 3, 7, 5], [4, 3, 3, 3], [4]], (x, weight, bias) => x.conv2d(weight, { bias, padding: 1 })),
  operation(
    "conv2d without bias or padding",
    [
      [1, 3, 7, 5],
      [4, 3, 3, 3],
    ],
    (x, weight) => x.conv2d(weight),
  ),
  operation(
    "conv2d 7×7 with stride 2",
    [
      [1, 3, 13, 17],
      [4, 3, 7, 7],
    ],
    (x, weight) => x.conv2d(weight, { stride: 2, padding: 3 }),
  ),
  operation(
    "conv2d 1×1",
    [
      [2, 3, 5, 7],
      [4, 3, 1, 1],
    ],
    (x, weight) => x.conv2d(weight),
  ),
  operation("conv3d", [[2, 3, 3, 5, 4], [4, 3, 3, 3, 3], [4]], (x, weight, bias) => x.conv3d(weight, { bias, padding: 1 })),
  operation(
    "conv3d with stride 2",
    [
      [1, 2, 5, 7, 6],
      [3, 2, 3, 3, 3],
    ],
    (x, weight) => x.conv3d(weight, { stride: 2, padding: 1 }),
  ),
  operation(
    "conv3d 1×1×1",
    [
      [1, 3, 2, 5, 3],
      [4, 3, 1, 1, 1],
    ],
    (x, weight) => x.conv3d(weight),
  ),
];

const NORM = { momentum: 0.1, epsilon: 1e-5 } as const;

/** The running statistics are state, not differentiable inputs. */
const batchNorm: Apply = (x, weight, bias) => {
  const running = (values: readonly number[]): Tensor => x.engine.constant(values, { shape: [3], dtype: x.dtype });
  const [runningMean, runningVariance] = [running([0.3, -1, 2]), running([0.5, 2, 1])];
  return x.batchNorm({ weight, bias, runningMean, runningVariance, training: false, ...NORM });
};

/** With every parameter known while recording, as in a finished network: alone, or to be folded into the convolution before it. */
const constantNorm = (x: Tensor): Tensor => {
  const constant = (values: readonly number[]): Tensor => x.engine.constant(values, { shape: [3], dtype: x.dtype });
  return batchNorm(x, constant([0.7, 1.5, -1]), constant([0.2, -0.4, 1]));
};
const constantWeight = (x: Tensor): Tensor =>
  x.engine.constant(
    Array.from({ length: 3 * 3 * 9 }, (_, i) => Math.sin(1 + i)),
    { shape: [3, 3, 3, 3], dtype: x.dtype },
  );

/** Statistics of the batch; the running ones, which it moves, are new each time. */
const trainingNorm: Apply = (x, weight, bias) => {
  const running = (value: number): Tensor => x.engine.full([3], value, { dtype: x.dtype });
  return x.batchNorm({ weight, bias, runningMean: running(0), runningVariance: running(1), training: true, ...NORM });
};

const grouped =
  (groups: number): Apply =>
  (x, weight, bias) =>
    x.groupNorm({ groups, weight, bias, epsilon: 1e-5 });

const norms: Operation[] = [
  operation("batchNorm of a matrix", [[5, 3], [3], [3]], batchNorm),
  operation("batchNorm of pictures", [[2, 3, 5, 7], [3], [3]], batchNorm),
  operation("batchNorm of volumes", [[2, 3, 2, 5, 3], [3], [3]], batchNorm),
  operation("batchNorm with constant parameters", [[2, 3, 5, 7]], constantNorm),
  operation("batchNorm behind a convolution", [[2, 3, 5, 7]], (x) => constantNorm(x.conv2d(constantWeight(x), { padding: 1 }))),
  operation("batchNorm while training", [[4, 3, 5, 3], [3], [3]], trainingNorm, { onlyTorch: true }),
  operation("groupNorm, one group", [[2, 6, 5, 7], [6], [6]], grouped(1)),
  operation("groupNorm, three groups", [[2, 6, 5, 7], [6], [6]], grouped(3)),
  operation("groupNorm of volumes", [[2, 4, 3, 5, 3], [4], [4]], grouped(2)),
];

const flatResizes: Operation[] = (["nearest", "bilinear"] as const).flatMap((mode) =>
  (
    [
      ["up twice", [5, 7], [10, 14]],
      ["up four times", [3, 5], [12, 20]],
      ["up by odd factors", [5, 3], [13, 8]],
      ["down by half", [8, 6], [4, 3]],
      ["down by odd factors", [13, 11], [5, 7]],
      ["from one pixel", [1, 1], [3, 5]],
      ["down and up", [9, 4], [5, 11]],
    ] as const
  ).map(([what, from, to]) => operation(`resize2d ${mode}, ${what}`, [[2, 3, ...from]], (x) => x.resize2d(to, mode))),
);

const resizes: Operation[] = [
  ...flatResizes,
  ...(["nearest", "bilinear"] as const).map((mode) =>
    operation(`resize2d ${mode}, every plane of a volume`, [[2, 3, 4, 5, 7]], (x) => x.resize2d([8, 9], mode)),
  ),
];

const pools: Operation[] = [
  operation("maxPool2d", [[2, 3, 7, 9]], (x) => x.maxPool2d({ kernel: [2, 2], stride: [2, 2] })),
  operation("maxPool2d 3×3 with stride 2 and padding", [[2, 3, 9, 8]], (x) =>
    x.maxPool2d({ kernel: [3, 3], stride: [2, 2], padding: [1, 1] }),
  ),
  operation("avgPool", [[2, 3, 7, 9]], (x) => x.avgPool({ kernel: [3, 2], stride: [2, 3] })),
  operation("avgPool leaves padding out of the mean", [[2, 3, 7, 9]], (x) =>
    x.avgPool({ kernel: [3, 3], stride: [1, 1], padding: [1, 1] }),
  ),
  operation("avgPool of volumes", [[1, 3, 5, 7, 6]], (x) => x.avgPool({ kernel: [2, 3, 3], stride: [2, 3, 3] })),
  operation("avgPool of volumes, padded", [[1, 3, 5, 7, 6]], (x) =>
    x.avgPool({ kernel: [3, 3, 3], stride: [1, 2, 2], padding: [1, 1, 1] }),
  ),
  operation("avgPool without a batch axis", [[3, 7, 9]], (x) => x.avgPool({ kernel: [3, 3], stride: [3, 3] })),
];

export const netOperations: readonly Operation[] = [...convolutions, ...norms, ...resizes, ...pools];
