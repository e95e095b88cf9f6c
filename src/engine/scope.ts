import type { Tensor } from "./engine.ts";
import { EngineError } from "./errors.ts";

const open: Set<Tensor>[] = []; // module state, as is the mode of gradients (torch/gradient.ts): both belong to the process

/** An engine calls this for each tensor it creates. Outside any scope the caller owns the tensor. */
export function track<T extends Tensor>(tensor: T): T {
  open.at(-1)?.add(tensor);
  return tensor;
}

/** Computes a tensor and removes it from every open scope: parameters and other state that outlives a step. */
export function keep<T extends Tensor>(tensor: T): T {
  tensor.settle();
  for (const made of open) made.delete(tensor);
  return tensor;
}

/** Runs `body` (synchronous), then frees every tensor made inside it except those reachable from its result, which are computed. */
export function scope<T>(body: () => T): T {
  const made = new Set<Tensor>();
  let kept = new Set<unknown>();
  open.push(made);
  try {
    const result = body();
    if (result instanceof Promise) {
      result.catch(() => undefined); // its tensors are freed below; only our error matters
      throw new EngineError(
        "scope: the body is async; a scope frees when its body returns, so await outside and keep the body synchronous",
      );
    }
    const returned = reachable(result);
    for (const tensor of made) if (returned.has(tensor)) tensor.settle(); // while its operands live
    kept = returned;
    return result;
  } finally {
    open.pop();
    for (const tensor of made) {
      if (kept.has(tensor))
        track(tensor); // now the outer scope's
      else tensor.dispose();
    }
  }
}

/** Every object reachable from `value` through arrays, maps, sets and plain objects. */
function reachable(value: unknown, found = new Set<unknown>()): Set<unknown> {
  if (typeof value !== "object" || value === null || found.has(value)) return found;
  found.add(value);
  if (Array.isArray(value) || value instanceof Set) for (const item of value) reachable(item, found);
  else if (value instanceof Map) for (const item of value.values()) reachable(item, found);
  else if (Object.getPrototypeOf(value) === Object.prototype) for (const item of Object.values(value)) reachable(item, found);
  return found;
}
