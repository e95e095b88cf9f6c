import type { Tensor } from "../engine/engine.ts";
import { ones, zeros } from "./init.ts";
import type { Mode, ParameterSource } from "./module.ts";

/** Batch normalisation per channel: batch statistics while training, running ones otherwise. PyTorch's defaults. */
export class BatchNorm {
  readonly weight: Tensor;
  readonly bias: Tensor;
  readonly runningMean: Tensor;
  readonly runningVariance: Tensor;
  readonly mode: Mode;

  constructor(source: ParameterSource, channels: number) {
    this.weight = source.parameter("weight", [channels], ones);
    this.bias = source.parameter("bias", [channels], zeros);
    this.runningMean = source.buffer("running_mean", [channels], zeros);
    this.runningVariance = source.buffer("running_var", [channels], ones);
    this.mode = source.mode;
  }

  forward(x: Tensor): Tensor {
    const { weight, bias, runningMean, runningVariance } = this;
    return x.batchNorm({ weight, bias, runningMean, runningVariance, training: this.mode.training, momentum: 0.1, epsilon: 1e-5 });
  }
}

/** Group normalisation: mean 0 and variance 1 over each group of channels and all pixels, per sample. */
export class GroupNorm {
  readonly weight: Tensor;
  readonly bias: Tensor;
  readonly groups: number;

  constructor(source: ParameterSource, { groups, channels }: { readonly groups: number; readonly channels: number }) {
    this.weight = source.parameter("weight", [channels], ones);
    this.bias = source.parameter("bias", [channels], zeros);
    this.groups = groups;
  }

  forward(x: Tensor): Tensor {
    return x.groupNorm({ groups: this.groups, weight: this.weight, bias: this.bias, epsilon: 1e-5 });
  }
}
