import type { Shape } from "../engine.ts";
import type { GraphValue } from "./bytes.ts";

/** Multiply-accumulates of one node: those of convolutions and matrix products, which are nearly all; NaN where a size is not known. */
export function multiplyAccumulates(operator: string, inputs: readonly (GraphValue | undefined)[], shape: Shape): number {
  const product = (sizes: Shape): number => sizes.reduce<number>((result, size) => result * (typeof size === "number" ? size : NaN), 1);
  if (operator === "Conv") return product(shape) * product(inputs[1]?.shape.slice(1) ?? []); //    per output: channels × window
  if (operator === "MatMul") return product(shape) * product(inputs[0]?.shape.slice(-1) ?? []); // per output: the inner size
  return 0;
}
