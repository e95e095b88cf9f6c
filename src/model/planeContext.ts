import { AXIS } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { Conv2d } from "../nn/conv.ts";
import { convNorm2d, type ConvNorm } from "../nn/convNorm.ts";
import { kaimingNormal, zeros } from "../nn/init.ts";
import type { ParameterSource } from "../nn/module.ts";

/**
 * What all planes show together at a place, given to each of them: mean and maximum over the planes through a hidden layer, added to the
 * features. A convolution over planes sees its neighbours; how a plane compares with the sharpest of ten it would have to pass along.
 */
export class PlaneContext {
  readonly squeeze: ConvNorm;
  readonly expand: Conv2d;

  constructor(source: ParameterSource, { channels, width }: { readonly channels: number; readonly width: number }) {
    const init = kaimingNormal("out");
    this.squeeze = convNorm2d(source.at("squeeze"), { in: 2 * channels, out: width, kernel: 1, activation: "relu", init });
    this.expand = new Conv2d(source.at("expand"), { in: width, out: channels, kernel: 1, init: zeros });
  }

  /** `features` [B, C, N, h, w]; the same shape. */
  forward(features: Tensor): Tensor {
    return planeContext(features, (pooled) => this.expand.forward(this.squeeze.forward(pooled)));
  }
}

/** `features` [B, C, N, h, w] + `contextOf`(their mean, then their maximum over the planes, [B, 2C, h, w]) at each plane. */
export function planeContext(features: Tensor, contextOf: (pooled: Tensor) => Tensor): Tensor {
  const { engine } = features;
  const fused = engine.addPlaneContext?.(features, contextOf);
  if (fused) return fused;
  const pooled = engine.concat([features.mean([AXIS.plane]), features.max(AXIS.plane)], AXIS.channel);
  return features.add(contextOf(pooled).unsqueeze(AXIS.plane));
}
