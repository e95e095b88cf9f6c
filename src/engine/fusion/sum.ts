import type { Tensor } from "../engine.ts";
import type { TorchEngine } from "../torch/torchEngine.ts";
import type { Deferred } from "./deferred.ts";
import type { Kernels } from "./kernels.ts";
import { TorchTensor } from "../torch/tensor.ts";

/** a(Σ weight · tensor), a as in a convolution: terms of one shape, or with one value per image and channel. */
interface WeightedSum {
  readonly terms: readonly { readonly tensor: TorchTensor; readonly weight: number }[];
  readonly shape: readonly number[];
  readonly slope: number;
}

/** As in native/fuse.h. */
const MOST_TERMS = 6;

/** Sums of feature maps, their factors and the activation in one kernel, however many operations express them. */
export interface Summer {
  /** `first + second`, deferred to be fused with what follows; undefined for other kinds of sums. */
  sum(first: TorchTensor, second: Tensor | number): TorchTensor | undefined;
}

export function createSummer(engine: TorchEngine, kernels: Kernels): Summer {
  const known = new WeakMap<Deferred, WeightedSum>();
  const asSum = (tensor: TorchTensor): WeightedSum => {
    const sum = tensor.deferred && known.get(tensor.deferred);
    return sum?.slope === 1 ? sum : { terms: [{ tensor, weight: 1 }], shape: tensor.shape, slope: 1 };
  };

  const run = ({ terms, shape, slope }: WeightedSum): TorchTensor => {
    const operands = terms.flatMap(({ tensor, weight }) => [weight, engine.channelsLast(tensor)]);
    const target = kernels.empty(shape, (terms[0] as WeightedSum["terms"][number]).tensor.dtype);
    engine.native("weightedSum", target, slope, ...operands);
    return target;
  };
  const defer = (sum: WeightedSum, dtype: TorchTensor["dtype"]): TorchTensor => {
    const { terms, slope } = sum;
    const deferred: Deferred = {
      shape: sum.shape,
      dtype,
      run: () => run(sum),
      plus: (other) => (slope === 1 ? add(tensor, other) : undefined),
      times(factor) {
        if (slope !== 1 || typeof factor !== "number") return undefined;
        return defer({ ...sum, terms: terms.map(({ tensor: term, weight }) => ({ tensor: term, weight: weight * factor })) }, dtype);
      },
      activated: (after) => (slope === 1 ? defer({ ...sum, slope: after }, dtype) : undefined),
    };
    known.set(deferred, sum);
    const tensor = engine.defer(deferred);
    return tensor;
  };
  const add = (first: TorchTensor, second: Tensor | number): TorchTensor | undefined => {
    if (!(second instanceof TorchTensor) || first.dtype !== second.dtype) return undefined;
    const shape = sumShape(first.shape, second.shape);
    const terms = [...asSum(first).terms, ...asSum(second).terms];
    return shape && terms.length <= MOST_TERMS ? defer({ terms, shape, slope: 1 }, first.dtype) : undefined;
  };
  return { sum: add };
}

/** The larger of two shapes that are equal, or of which one is [B, C, 1, 1 …]. */
function sumShape(a: readonly number[], b: readonly number[]): readonly number[] | undefined {
  const perChannel = (of: readonly number[]): string => [...of.slice(0, 2), ...of.slice(2).map(() => 1)].join();
  if (a.length < 4 || perChannel(a) !== perChannel(b)) return undefined;
  if (a.join() === b.join() || b.join() === perChannel(b)) return a;
  return a.join() === perChannel(a) ? b : undefined;
}
