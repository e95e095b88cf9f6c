import type { Tensor } from "../engine.ts";
import { EngineError } from "../errors.ts";
import type { TorchCalls } from "./call.ts";
import type { TorchTensor } from "./tensor.ts";

/** The modes in which operations run. */
export interface Modes {
  /** Whether operations are recorded for `backward`. */
  readonly gradients: boolean;
  readonly autocast: boolean;
}

export const isSameMode = (a: Modes, b: Modes): boolean => a.gradients === b.gradients && a.autocast === b.autocast;

/** Gradients, and modes such as autocast that apply to a piece of code. */
export interface TorchGradients {
  /** From now on `backward` keeps the tensor's gradient. Returns the tensor. */
  requireGradient<T extends Tensor>(tensor: T): T;
  backward(tensor: Tensor, gradient?: Tensor): void;
  /** The accumulated gradient, sharing its memory, or undefined when there is none. */
  gradient(tensor: Tensor): TorchTensor | undefined;
  /** Replaces the gradient; without one, drops it. */
  setGradient(tensor: Tensor, gradient?: Tensor): void;
  readonly noGradient: <T>(body: () => T) => T;
  /** Convolutions and matrix products in bf16, the rest according to libtorch's autocast lists. */
  autocast<T>(body: () => T): T;
  /** Whether a body of `autocast` is running. */
  isAutocast(): boolean;
  /** Runs `body` in the operands' own precision while autocast is on. */
  fullPrecision<T>(body: () => T): T;
  /** The present modes. */
  modes(): Modes;
  /** Runs `body` in these modes. */
  within<T>(modes: Modes, body: () => T): T;
}

/** Runs `body` in a mode. Rejects async bodies, which would run outside it. */
function inMode<T>(name: string, enter: () => () => void, body: () => T): T {
  const leave = enter();
  try {
    const result = body();
    if (!(result instanceof Promise)) return result;
    result.catch(() => undefined); // only our error matters
    throw new EngineError(`${name}: the body is async and would run outside this mode; keep it synchronous`);
  } finally {
    leave();
  }
}

/** Whether operations are recorded: libtorch has one such mode for all engines. */
let isRecording = true;

export function torchGradients({ native, adopt }: TorchCalls, { device }: { readonly device: string }): TorchGradients {
  let isCasting = false;
  const present = (): Modes => ({ gradients: isRecording, autocast: isCasting });
  const gradients = (on: boolean) => () => {
    const [before, previous] = [isRecording, native("setGradMode", on)];
    isRecording = on;
    return () => {
      native("setGradMode", previous);
      isRecording = before;
    };
  };
  const autocast = (on: boolean) => () => {
    const [before, previous] = [isCasting, native("setAutocast", device, on)];
    isCasting = on;
    return () => {
      native("setAutocast", device, previous);
      isCasting = before;
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
    noGradient: (body) => inMode("noGradient", gradients(false), body),
    autocast: (body) => inMode("autocast", autocast(true), body),
    isAutocast: () => isCasting,
    fullPrecision: (body) => inMode("fullPrecision", autocast(false), body),
    modes: present,
    within(modes, body) {
      if (isSameMode(modes, present())) return body();
      return inMode("within", gradients(modes.gradients), () => inMode("within", autocast(modes.autocast), body));
    },
  };
}
