import type { Tensor } from "../engine/engine.ts";
import { Conv2d, Conv3d, type ConvConfig } from "./conv.ts";
import type { ParameterSource } from "./module.ts";
import { BatchNorm } from "./norm.ts";

export type Activation = "relu" | "leakyRelu" | "none";

/** LeakyReLU's slope in the pyramid of DFV's code; not the usual 0.01. */
const LEAK = 0.1;

export function activate(x: Tensor, activation: Activation): Tensor {
  switch (activation) {
    case "relu":
      return x.relu();
    case "leakyRelu":
      return x.leakyRelu(LEAK);
    case "none":
      return x;
  }
}

type ConvNormConfig = Omit<ConvConfig, "bias"> & { readonly activation: Activation };

/** Convolution without bias, batch norm, activation. Parameters `conv.*`, `norm.*`. */
export class ConvNorm2d {
  readonly conv: Conv2d;
  readonly norm: BatchNorm;
  readonly activation: Activation;

  constructor(source: ParameterSource, config: ConvNormConfig) {
    this.conv = new Conv2d(source.at("conv"), config);
    this.norm = new BatchNorm(source.at("norm"), config.out);
    this.activation = config.activation;
  }

  forward(x: Tensor): Tensor {
    return activate(this.norm.forward(this.conv.forward(x)), this.activation);
  }
}

/** The same in three dimensions. */
export class ConvNorm3d {
  readonly conv: Conv3d;
  readonly norm: BatchNorm;
  readonly activation: Activation;

  constructor(source: ParameterSource, config: ConvNormConfig) {
    this.conv = new Conv3d(source.at("conv"), config);
    this.norm = new BatchNorm(source.at("norm"), config.out);
    this.activation = config.activation;
  }

  forward(x: Tensor): Tensor {
    return activate(this.norm.forward(this.conv.forward(x)), this.activation);
  }
}
