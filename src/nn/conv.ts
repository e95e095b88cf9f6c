import type { Tensor } from "../engine/engine.ts";
import { uniformFanIn, uniformWithin } from "./init.ts";
import type { Initialiser, ParameterSource } from "./module.ts";

export interface ConvConfig {
  readonly in: number;
  readonly out: number;
  /** Side of the window; zeros are padded so that stride 1 keeps the size. */
  readonly kernel: number;
  readonly stride?: number;
  readonly bias?: boolean;
  readonly init?: Initialiser;
}

/** Weight [out, in, k, …] and bias of a convolution over `rank` spatial axes. */
function convParameters(source: ParameterSource, rank: 2 | 3, { in: input, out, kernel, bias = false, init = uniformFanIn }: ConvConfig) {
  const window = Array.from({ length: rank }, () => kernel);
  return {
    weight: source.parameter("weight", [out, input, ...window], init),
    bias: bias ? source.parameter("bias", [out], uniformWithin(1 / Math.sqrt(input * kernel ** rank))) : undefined,
  };
}

/** [B, in, h, w] → [B, out, h/stride, w/stride]. */
export class Conv2d {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
  readonly stride: number;
  readonly padding: number;

  constructor(source: ParameterSource, config: ConvConfig) {
    ({ weight: this.weight, bias: this.bias } = convParameters(source, 2, config));
    this.stride = config.stride ?? 1;
    this.padding = (config.kernel - 1) >> 1;
  }

  forward(x: Tensor): Tensor {
    return x.conv2d(this.weight, { bias: this.bias, stride: this.stride, padding: this.padding });
  }
}

/** [B, in, N, h, w] → [B, out, N, h, w]. */
export class Conv3d {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
  readonly padding: number;

  constructor(source: ParameterSource, config: Omit<ConvConfig, "stride">) {
    ({ weight: this.weight, bias: this.bias } = convParameters(source, 3, config));
    this.padding = (config.kernel - 1) >> 1;
  }

  forward(x: Tensor): Tensor {
    return x.conv3d(this.weight, { bias: this.bias, padding: this.padding });
  }
}
