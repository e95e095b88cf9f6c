import type { Tensor } from "../engine.ts";
import { EngineError } from "../errors.ts";
import type { TorchCalls } from "./call.ts";
import type { TorchTensor } from "./tensor.ts";

/** Gradients, and the modes a stretch of code runs in. */
export interface TorchGradients {
  /** From here on the tensor's gradient is kept by `backward`. Returns it. */
  requireGradient<T extends Tensor>(tensor: T): T;
  backward(tensor: Tensor, gradient?: Tensor): void;
  /** The accumulated gradient, sharing its memory, or undefined when there is none. */
  gradient(tensor: Tensor): TorchTensor | undefined;
  /** Replaces the gradient; without one, drops it. */
  setGradient(tensor: Tensor, gradient?: Tensor): void;
  readonly noGradient: <T>(body: () => T) => T;
  /** Convolutions and products in bf16, the rest as libtorch's autocast lists say. */
  autocast<T>(body: () => T): T;
  /** Runs `body` in the operands' own precision where autocast is on. */
  fullPrecision<T>(body: () => T): T;
}

/** Runs `body` between entering a mode and leaving it; refuses async bodies, which would run outside it. */
function inMode<T>(name: string, enter: () => () => void, body: () => T): T {
  const leave = enter();
  try {
    const result = body();
    if (!(result instanceof Promise)) return result;
    result.catch(() => undefined); // the error that matters is ours
    throw new EngineError(`${name}: the body is async and would run outside this mode; keep it synchronous`);
  } finally {
    leave();
  }
}

export function torchGradients({ native, adopt }: TorchCalls, { device }: { readonly device: string }): TorchGradients {
  const gradientsOff = () => {
    const previous = native("setGradMode", false);
    return () => void native("setGradMode", previous);
  };
  const autocast = (on: boolean) => () => {
    const previous = native("setAutocast", device, on);
    return () => {
      native("setAutocast", device, previous);
      if (on && !previous) native("clearAutocastCache"); // the weights may change before the next autocast
    };
  };
  return {
    requireGradient(tensor) {
      native("setRequiresGrad", tensor, true);
      return tensor;
    },
    backward(tensor, gradient) {
      native("backward", tensor, gradient ?? null);
    },
    gradient(tensor) {
      const handle = native("grad", tensor);
      return handle === null ? undefined : adopt(handle);
    },
    setGradient(tensor, gradient) {
      native("setGrad", tensor, gradient ?? null);
    },
    noGradient: (body) => inMode("noGradient", gradientsOff, body),
    autocast: (body) => inMode("autocast", autocast(true), body),
    fullPrecision: (body) => inMode("fullPrecision", autocast(false), body),
  };
}
