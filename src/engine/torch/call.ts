import type { Addon, Handle, Result } from "../../../native/addon.d.ts";
import { DeviceLimitError, EngineError } from "../errors.ts";
import { track } from "../scope.ts";
import type { TorchEngine } from "./torchEngine.ts";
import { TorchTensor } from "./tensor.ts";

/** What an operator returns: one tensor or several, or a plain value. */
export type TorchValue = TorchTensor | number | boolean | string | null | undefined | TorchValue[];

/** Calls into the addon. */
export interface TorchCalls {
  /** Any ATen operator by its full name, "aten::_foreach_add_.Scalar"; omitted trailing arguments take the schema's defaults. */
  readonly call: (operator: string, ...args: readonly unknown[]) => TorchValue;
  /** As `call`, for an operator that returns exactly one tensor. */
  readonly compute: (operator: string, ...args: readonly unknown[]) => TorchTensor;
  /** One of the addon's own functions; tensors among the arguments are unwrapped. */
  readonly native: <K extends keyof Addon>(operation: K, ...args: readonly unknown[]) => ReturnType<Addon[K]>;
  /** Wraps a handle that `native` returned; the open scope owns the tensor. */
  readonly adopt: (handle: Handle) => TorchTensor;
}

/** Messages call "aten::add.Tensor" add. */
const shortName = (operation: string): string => operation.replace(/^aten::/, "").replace(/\..*$/, "");

function describe(value: unknown): string {
  if (value instanceof TorchTensor) return value.describe();
  if (Array.isArray(value)) return `[${value.map(describe).join(", ")}]`;
  if (ArrayBuffer.isView(value)) return value.constructor.name;
  return typeof value === "object" && value !== null ? "object" : String(value);
}

function unwrap(value: unknown): unknown {
  if (value instanceof TorchTensor) return value.handle;
  if (Array.isArray(value)) return value.map(unwrap);
  return value;
}

/** What libtorch, its allocators and CUDA's libraries say where memory is exhausted, or where a device has no such operation. */
const LIMITS =
  /out of memory|can't allocate memory|not enough memory|_ALLOC_FAILED|no operator is called|not implemented for|no kernel image|Could not run '/i;

function failure(operation: string, args: readonly unknown[], reason: string, cause?: unknown): EngineError {
  const message = `${shortName(operation)}(${args.map(describe).join(", ")}): ${reason}`;
  return LIMITS.test(reason) ? new DeviceLimitError(message, { cause }) : new EngineError(message, { cause });
}

/** Every native operation passes through here, so every failure carries its operands and a JavaScript stack. */
function invoke<T>(operation: string, args: readonly unknown[], body: (args: unknown[]) => T): T {
  try {
    return body(args.map(unwrap));
  } catch (cause) {
    throw failure(operation, args, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

export function torchCalls(addon: Addon, engine: () => TorchEngine): TorchCalls {
  const adopt = (handle: Handle): TorchTensor => track(new TorchTensor(engine(), { handle }));
  const lift = (result: Result): TorchValue => {
    if (Array.isArray(result)) return result.map(lift);
    return typeof result === "object" && result !== null ? adopt(result) : result;
  };
  const call = (operator: string, ...args: readonly unknown[]): TorchValue =>
    lift(invoke(operator, args, (raw) => addon.call(operator, ...raw)));
  return {
    adopt,
    call,
    compute(operator, ...args) {
      const result = call(operator, ...args);
      if (result instanceof TorchTensor) return result;
      throw failure(operator, args, "does not return one tensor");
    },
    native: <K extends keyof Addon>(operation: K, ...args: readonly unknown[]) =>
      invoke(operation, args, (raw) => (addon[operation] as (...args: unknown[]) => ReturnType<Addon[K]>)(...raw)),
  };
}
