import type { TorchEngine } from "../torch/torchEngine.ts";
import type { Deferred } from "./deferred.ts";
import type { Kernels } from "./kernels.ts";
import type { TorchTensor } from "../torch/tensor.ts";

/** A range of a volume's planes. */
export interface PlaneRange {
  readonly start: number;
  readonly end: number | undefined;
}

/** `upper − lower` of neighbouring planes of one volume, or its negative. */
interface Change {
  readonly volume: TorchTensor;
  readonly negative: boolean;
}

/** Differences between planes (eq. 1): the slices, their subtraction and the concatenation are recognised and fused into one kernel. */
export interface Differences {
  slice(volume: TorchTensor, range: PlaneRange): TorchTensor;
  sub(first: TorchTensor, second: TorchTensor): TorchTensor | undefined;
  /** Along the planes. */
  concat(tensors: readonly TorchTensor[]): TorchTensor | undefined;
}

export const PLANE_AXIS = 2;

export function createDifferences(engine: TorchEngine, kernels: Kernels): Differences {
  const slices = new WeakMap<TorchTensor, PlaneRange & { readonly volume: TorchTensor }>();
  const changes = new WeakMap<Deferred, Change>();
  const lasts = new WeakMap<Deferred, TorchTensor>(); // the change that a last plane belongs to
  const ofDeferred = <T>(found: WeakMap<Deferred, T>, { deferred }: TorchTensor): T | undefined => deferred && found.get(deferred);
  const sliced = (tensor: TorchTensor, { start, end }: PlaneRange): TorchTensor =>
    engine.compute("aten::slice.Tensor", tensor, PLANE_AXIS, start, end ?? null);
  const isLast = ({ start, end }: PlaneRange): boolean => start === -1 && end === undefined;

  const deferChange = (change: Change, [first, second]: readonly [TorchTensor, TorchTensor]): TorchTensor => {
    const { shape, dtype } = first;
    const deferred: Deferred = {
      shape,
      dtype,
      run: () => engine.compute("aten::sub.Tensor", first, second),
      sliced: (axis, range) => (axis === PLANE_AXIS && isLast(range) ? deferLast(tensor) : undefined),
    };
    changes.set(deferred, change);
    const tensor = engine.defer(deferred);
    return tensor;
  };
  const deferLast = (change: TorchTensor): TorchTensor => {
    const deferred: Deferred = {
      shape: change.shape.with(PLANE_AXIS, 1),
      dtype: change.dtype,
      run: () => sliced(change, { start: -1, end: undefined }),
    };
    lasts.set(deferred, change);
    return engine.defer(deferred);
  };
  const deferAll = ({ volume, negative }: Change, lastIsValue: boolean): TorchTensor => {
    const { shape, dtype } = volume;
    const writeInto = (target: TorchTensor, first: number): void => {
      engine.native("planeDifference", target, first, engine.channelsLast(volume), negative, lastIsValue);
    };
    return engine.defer(kernels.placed({ shape, dtype, writeInto }));
  };
  return {
    slice(volume, range) {
      const part = sliced(volume, range);
      slices.set(part, { ...range, volume });
      return part;
    },
    sub(first, second) {
      const [a, b] = [slices.get(first), slices.get(second)];
      const isUpper = (range: PlaneRange): boolean => range.start === 1 && range.end === undefined;
      const isLower = (range: PlaneRange): boolean => range.start === 0 && range.end === -1;
      if (a?.volume !== b?.volume || !a || !b || (a.volume.shape[PLANE_AXIS] as number) < 2) return undefined;
      if (isUpper(a) && isLower(b)) return deferChange({ volume: a.volume, negative: false }, [first, second]);
      return isLower(a) && isUpper(b) ? deferChange({ volume: a.volume, negative: true }, [first, second]) : undefined;
    },
    concat([head, last, ...others]) {
      const change = head && ofDeferred(changes, head);
      if (!change || !last || others.length > 0) return undefined;
      if (ofDeferred(lasts, last) === head) return deferAll(change, false);
      const range = slices.get(last);
      return range?.volume === change.volume && isLast(range) ? deferAll(change, true) : undefined;
    },
  };
}
