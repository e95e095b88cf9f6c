import type { Tensor } from "../engine/engine.ts";
import { uniformFanIn, uniformWithin } from "./init.ts";
import type { ParameterSource } from "./module.ts";

/** x Wᵀ + b over the last axis. */
export class Linear {
  readonly weight: Tensor;
  readonly bias: Tensor;

  constructor(source: ParameterSource, { in: input, out }: { readonly in: number; readonly out: number }) {
    this.weight = source.parameter("weight", [out, input], uniformFanIn);
    this.bias = source.parameter("bias", [out], uniformWithin(1 / Math.sqrt(input)));
  }

  forward(x: Tensor): Tensor {
    return x.linear(this.weight, this.bias);
  }
}
