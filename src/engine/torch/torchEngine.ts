import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

import type { Addon } from "../../../native/addon.d.ts";
import { concrete } from "../dims.ts";
import type { Dim } from "../dims.ts";
import type { DType, Engine, NumericArray, Shape, Tensor } from "../engine.ts";
import { EngineError } from "../errors.ts";
import { track } from "../scope.ts";
import { toArray } from "../typedArray.ts";
import { torchCalls } from "./call.ts";
import type { TorchCalls } from "./call.ts";
import { torchDevice } from "./device.ts";
import type { TorchDevice } from "./device.ts";
import type { Deferred } from "../fusion/deferred.ts";
import { createFusion, type Fusion, type FusionOptions } from "../fusion/fusion.ts";
import { torchGradients } from "./gradient.ts";
import type { TorchGradients } from "./gradient.ts";
import { torchResize, type TorchResize } from "./resize.ts";
import { TorchTensor } from "./tensor.ts";
import { createTrainingKernels, type TrainingKernels, type TrainingOptions } from "./trainingKernels.ts";

export type { TorchValue } from "./call.ts";
export { TorchTensor } from "./tensor.ts";

/** libtorch on one device. Modes (gradients, autocast), threads and seeds belong to the process, not to the engine. */
export interface TorchEngine extends Engine, TorchCalls, TorchGradients, TorchTransfers, TorchDevice, TorchResize {
  readonly device: string;
  /** Fused kernels; only in an engine for inference. */
  readonly fusion: Fusion | undefined;
  /** Only in an engine for training. */
  readonly training: TrainingKernels | undefined;
  /**
   * A tensor that is computed when its values are first needed, or when its scope ends, in the modes of this call. Its operands must live
   * until then, unchanged.
   */
  defer(deferred: Deferred): TorchTensor;
  constant(values: ArrayLike<number> | NumericArray, options: { readonly shape: readonly number[]; readonly dtype?: DType }): TorchTensor;
  full(shape: Shape, value: number, options?: { readonly dtype?: DType }): TorchTensor;
  range(length: Dim, options?: { readonly dtype?: DType }): TorchTensor;
  concat(tensors: readonly Tensor[], axis: number): TorchTensor;
  fullPrecision<T>(body: () => T): T;
}

/** Copies between JavaScript and tensors, and between memory layouts. */
export interface TorchTransfers {
  /** The values, row-major; f16 and bf16 as their bits, bool as 0 and 1. */
  read(tensor: Tensor): NumericArray;
  /** The value of a one-element tensor. */
  item(tensor: Tensor): number;
  /** Overwrites the values in place. */
  write(tensor: Tensor, values: NumericArray): void;
  /** `target ← source` in place, across devices and dtypes, without gradient. */
  copy(target: Tensor, source: Tensor): void;
  /** The same values with the channel axis innermost in memory (rank 4 or 5), converted to `dtype` in the same pass. */
  channelsLast(tensor: Tensor, dtype?: DType): TorchTensor;
}

/** The package's folder, from dist/command, src/engine/torch or dist/src/engine/torch: never one above it, where a stranger's file may lie. */
const packageUrl = ["../../", "../../../", "../../../../"]
  .map((folder) => new URL(folder, import.meta.url))
  .find((folder) => existsSync(new URL("package.json", folder)));

function loadAddon(): Addon {
  const file = packageUrl && fileURLToPath(new URL("build/dualfocus.node", packageUrl));
  if (file === undefined || !existsSync(file))
    throw new EngineError(
      "the torch engine is not built. It needs g++ and libtorch (Debian: apt-get install g++ libtorch-dev libopenblas0-pthread " +
        "libgloo-dev; or an installed PyTorch), then `npm run build:native` in the dualfocus folder. Inference works without it.",
    );
  try {
    return createRequire(import.meta.url)(file) as Addon;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError(`the torch engine does not load: ${reason}. Rebuild it with \`npm run build:native\`.`, { cause });
  }
}

function transfers({ native, compute }: TorchCalls, { noGradient }: TorchGradients): TorchTransfers {
  return {
    read: (tensor) => native("toArray", tensor),
    item: (tensor) => native("item", tensor),
    write(tensor, values) {
      native("writeFrom", tensor, values);
    },
    copy(target, source) {
      noGradient(() => {
        compute("aten::copy_", target, source).dispose();
      });
    },
    channelsLast(tensor, dtype = tensor.dtype) {
      const format = tensor.shape.length === 5 ? "channels_last_3d" : "channels_last";
      const [wait, copy] = [false, false];
      return tensor.dtype === dtype
        ? compute("aten::contiguous", tensor, format)
        : compute("aten::to.dtype", tensor, dtype, wait, copy, format);
    },
  };
}

export interface TorchOptions {
  /** "cpu", "cuda" or "cuda:N". */
  readonly device?: string;
  /** For operations on the CPU. Default: all cores. */
  readonly threads?: number;
  /** For inference only: folds batch norms, fuses kernels, uses this precision. Without it every operation runs as written. */
  readonly inference?: FusionOptions;
  /** Fused kernels for training. Default: on CUDA, where the addon was built with them. */
  readonly trainingKernels?: boolean | TrainingOptions;
}

export function createTorchEngine({
  device = "cpu",
  threads = availableParallelism(),
  inference,
  trainingKernels,
}: TorchOptions = {}): TorchEngine {
  const calls = torchCalls(loadAddon(), () => engine);
  const { native, compute } = calls;
  const gradients = torchGradients(calls, { device });
  let fusion: Fusion | undefined;
  let training: TrainingKernels | undefined;
  /** Without fused kernels, which compute in the precision of inference. */
  const unfused = <T>(body: () => T): T => {
    const suspended = fusion;
    fusion = undefined;
    try {
      return body();
    } finally {
      fusion = suspended;
    }
  };

  const engine: TorchEngine = {
    device,
    get fusion() {
      return fusion;
    },
    get training() {
      return training;
    },
    planeLosses: (maps, options) => training?.planeLosses(maps, options),
    addPlaneContext: (volume, contextOf) => training?.addPlaneContext(volume, contextOf),
    inFocus: (maps) => training?.inFocus(maps),
    convexUpsample: (maps) => training?.convexUpsample(maps),
    detailEnergies: (images, filters) => training?.detailEnergies(images, filters),
    detailLogs: (energies, options) => training?.detailLogs(energies, options),
    defer: (deferred) => track(new TorchTensor(engine, { deferred })),
    ...calls,
    ...gradients,
    ...transfers(calls, gradients),
    ...torchDevice(calls, { device }),
    ...torchResize(calls, gradients, (values, options) => engine.constant(values, options)),
    fullPrecision: (body) => gradients.fullPrecision(() => unfused(body)),

    constant(values, { shape, dtype = "f32" }) {
      return calls.adopt(native("fromArray", toArray(values, dtype), shape, dtype, device));
    },
    full(shape, value, { dtype = "f32" } = {}) {
      const sizes = shape.map((dim) => concrete(dim, "full"));
      return compute("aten::full", sizes, value, dtype, null, device);
    },
    range: (length, { dtype = "f32" } = {}) => compute("aten::arange", concrete(length, "range"), dtype, null, device),
    concat(tensors, axis) {
      const fused = (fusion ?? training)?.concat(tensors as readonly TorchTensor[], axis);
      return fused ?? compute("aten::cat", tensors, axis);
    },
  };
  if (inference) fusion = createFusion(engine, inference);
  else if (trainingKernels ?? (device !== "cpu" && native("hasKernels", device)))
    training = createTrainingKernels(engine, typeof trainingKernels === "object" ? trainingKernels : {});

  native("setThreads", threads);
  if (device !== "cpu") native("useCuda", device);
  return engine;
}
