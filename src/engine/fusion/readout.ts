import type { Tensor } from "../engine.ts";
import type { TorchEngine } from "../torch/torchEngine.ts";
import type { Deferred } from "./deferred.ts";
import { TorchTensor } from "../torch/tensor.ts";

/** The network's result for each pixel. */
export interface Readout {
  /** Softmax over the planes, [B, N, H, W]. */
  readonly probability: TorchTensor;
  /** Its expectation of the planes' distances, [B, 1, H, W]. */
  readonly depth: TorchTensor;
  /** The standard deviation around it, [B, 1, H, W]. */
  readonly spread: TorchTensor;
}

/** Resampling, softmax over the planes and their weighted sum, deferred so that one kernel can compute all of it. */
export interface PlaneReader {
  /** `maps` [B, N, h, w], f32, resampled to `size`. */
  resized(maps: TorchTensor, size: readonly [number, number]): TorchTensor;
  /** All in one kernel, if `probability` is a softmax over such maps that is not computed yet. */
  readOut(probability: TorchTensor, distances: TorchTensor): Readout | undefined;
}

interface Maps {
  readonly maps: TorchTensor;
  readonly shape: readonly [number, number, number, number];
}

const PLANE = 1;

export function createPlaneReader(engine: TorchEngine): PlaneReader {
  const known = new WeakMap<Deferred, Maps>();
  const rowMajor = (tensor: TorchTensor): TorchTensor => engine.compute("aten::contiguous", tensor);
  const empty = (shape: readonly number[]): TorchTensor => engine.compute("aten::empty.memory_format", shape, "f32", null, engine.device);

  const probability = ({ maps, shape }: Maps): TorchTensor => {
    const deferred: Deferred = {
      shape,
      dtype: "f32",
      run() {
        const result = empty(shape);
        engine.native("readOut", result, rowMajor(maps), null, null, null);
        return result;
      },
      times: (other) => (isPerPlane(other, shape) ? weighted(engine, tensor, other) : undefined),
    };
    known.set(deferred, { maps, shape });
    const tensor = engine.defer(deferred);
    return tensor;
  };
  return {
    resized(maps, size) {
      const shape = [...maps.shape.slice(0, 2), ...size] as unknown as Maps["shape"];
      return engine.defer({
        shape,
        dtype: "f32",
        run: () => engine.resizeBilinear(maps, size),
        softmaxed: (axis) => (axis === PLANE ? probability({ maps, shape }) : undefined),
      });
    },
    readOut({ deferred }, distances) {
      const found = deferred && known.get(deferred);
      if (!found || distances.dtype !== "f32") return undefined;
      const depths = found.shape.with(PLANE, 1);
      const [p, depth, spread] = [empty(found.shape), empty(depths), empty(depths)];
      engine.native("readOut", p, rowMajor(found.maps), rowMajor(distances), depth, spread);
      return { probability: p, depth, spread };
    },
  };
}

/** p · f and Σ p f, computed separately if their values are needed. */
function weighted(engine: TorchEngine, probability: TorchTensor, distances: TorchTensor): TorchTensor {
  const { shape } = probability;
  const product: TorchTensor = engine.defer({
    shape,
    dtype: "f32",
    run: () => engine.compute("aten::mul.Tensor", probability, distances),
    summed(axes, { keepAxes }) {
      if (axes.length !== 1 || axes[0] !== PLANE || !keepAxes) return undefined;
      return engine.defer({
        shape: shape.with(PLANE, 1),
        dtype: "f32",
        run: () => engine.compute("aten::sum.dim_IntList", product, axes, keepAxes),
      });
    },
  });
  return product;
}

const isPerPlane = (other: Tensor | number, [B, N]: Maps["shape"]): other is TorchTensor =>
  other instanceof TorchTensor && other.dtype === "f32" && other.shape.join() === [B, N, 1, 1].join();
