import { AXIS } from "../dims.ts";
import type { DType, Engine, Tensor } from "../engine.ts";
import { isChecked, isPacked, packs } from "./packs.ts";
import { TorchTensor } from "./tensor.ts";
import type { TorchEngine } from "./torchEngine.ts";

/** Kernels for training the optional parts of the network, with gradients. Each returns undefined where libtorch's must do. */
export type PartKernels = {
  readonly [Name in "addPlaneContext" | "inFocus" | "convexUpsample" | "detailEnergies" | "detailLogs"]: NonNullable<Engine[Name]>;
};

/** A plane's index is a byte. */
const MOST_PLANES = 255;

/** Sides of the cells over which details are averaged, in pixels. */
const CELL = 4;

/** The dtype of sums over values of a tensor. */
const wide = ({ dtype }: Tensor): DType => (dtype === "f64" ? "f64" : "f32");

export function createPartKernels(engine: TorchEngine): PartKernels {
  const isVolume = (x: Tensor): x is TorchTensor =>
    x instanceof TorchTensor &&
    x.shape.length === 5 &&
    (x.shape[AXIS.plane] as number) <= MOST_PLANES &&
    (isPacked(x) || isChecked(engine, x));
  return {
    addPlaneContext(volume, contextOf) {
      if (!isVolume(volume)) return undefined;
      const [pooled, passed] = engine.native("planePool", volume).map(engine.adopt) as [TorchTensor, TorchTensor];
      const context = contextOf(pooled);
      if (context.dtype !== volume.dtype) return passed.add(context.unsqueeze(AXIS.plane));
      return engine.adopt(engine.native("planeSpread", passed, context));
    },
    inFocus({ features, images, p }) {
      const isLike = ({ dtype }: Tensor): boolean => dtype === wide(features);
      const isReady = features.dtype === (engine.isAutocast() ? "bf16" : wide(features)); // as the convolution that follows wants it
      if (!isVolume(features) || !isReady || !isLike(images) || !isLike(p) || engine.native("requiresGrad", images)) return undefined;
      return engine.adopt(engine.native("inFocus", features, images, p));
    },
    convexUpsample({ logits, scores, start }) {
      const isTaken = packs[scores.dtype] !== undefined || isChecked(engine, scores);
      if (!isTaken || logits.dtype !== wide(scores) || start.dtype !== wide(scores)) return undefined;
      return engine.adopt(engine.native("convexUpsample", logits, scores, start));
    },
    detailEnergies(images, filters) {
      const isTaken = (images.dtype === "f32" || isChecked(engine, images)) && filters.dtype === images.dtype;
      const [, planes, , height, width] = images.shape as readonly number[] as [number, number, number, number, number];
      const fits = planes > 1 && height % CELL === 0 && width % CELL === 0;
      if (!isTaken || !fits || engine.native("requiresGrad", images)) return undefined;
      return engine.native("detailEnergies", images, filters).map(engine.adopt) as [TorchTensor, TorchTensor];
    },
    detailLogs([energies, changes], { planes, floor, centre, scale }) {
      if ((energies.dtype !== "f32" && !isChecked(engine, energies)) || changes.dtype !== energies.dtype) return undefined;
      return engine.adopt(engine.native("detailLogs", energies, changes, planes, floor, centre, scale));
    },
  };
}
