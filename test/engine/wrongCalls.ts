import assert from "node:assert/strict";

import { EngineError } from "../../src/engine/errors.ts";
import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";

export const engine = createTorchEngine({ threads: 1 });

/** Runs a call that must fail; it must fail as an EngineError that names the operation. */
export function refuses(operation: string, body: () => unknown): string {
  let message = "";
  assert.throws(
    () => scope(body),
    (error) => {
      assert.ok(error instanceof EngineError, `${operation}: ${String(error)}`);
      assert.ok(error.message.startsWith(`${operation}(`), `"${error.message}" does not begin with ${operation}(`);
      message = error.message;
      return true;
    },
    operation,
  );
  return message;
}

/** A tensor that was disposed. */
export const gone = engine.full([2, 2], 1);
gone.dispose();

export const junk: [string, unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["a string", "three"],
  ["an object", {}],
  ["a function", () => 1],
  ["a symbol", Symbol("s")],
  ["a disposed tensor", gone],
  ["an array of strings", ["a"]],
  ["a typed array", new Float32Array(2)],
  ["a date", new Date(0)],
];
