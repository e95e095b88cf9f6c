import type { Tensor } from "../engine/engine.ts";
import { Conv2d, Conv3d, type ConvConfig } from "./conv.ts";
import type { ParameterSource } from "./module.ts";
import { BatchNorm } from "./norm.ts";

export type Activation = "relu" | "leakyRelu" | "none";

/** LeakyReLU's slope in the pyramid of DFV's code; not the usual 0.01. */
const LEAK = 0.1;

type ConvNormConfig = Omit<ConvConfig, "bias"> & { readonly activation: Activation };

/** Convolution without bias, batch norm, activation. Parameters `conv.*`, `norm.*`. */
export class ConvNorm {
  readonly conv: Conv2d | Conv3d;
  readonly norm: BatchNorm;
  readonly activation: Activation;

  constructor(source: ParameterSource, conv: Conv2d | Conv3d, { out, activation }: Pick<ConvNormConfig, "out" | "activation">) {
    this.conv = conv;
    this.norm = new BatchNorm(source.at("norm"), out);
    this.activation = activation;
  }

  forward(x: Tensor): Tensor {
    const y = this.norm.forward(this.conv.forward(x));
    switch (this.activation) {
      case "relu":
        return y.relu();
      case "leakyRelu":
        return y.leakyRelu(LEAK);
      case "none":
        return y;
    }
  }
}

/** [B, in, h, w] → [B, out, h/stride, w/stride]. */
export const convNorm2d = (source: ParameterSource, config: ConvNormConfig): ConvNorm =>
  new ConvNorm(source, new Conv2d(source.at("conv"), config), config);

/** [B, in, N, h, w] → [B, out, N, h, w]. */
export const convNorm3d = (source: ParameterSource, config: Omit<ConvNormConfig, "stride">): ConvNorm =>
  new ConvNorm(source, new Conv3d(source.at("conv"), config), config);
