import { dims, times, type Dim } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { ShapeError } from "../engine/errors.ts";
import { keep } from "../engine/scope.ts";
import { TopDownPyramid } from "../nn/fpn.ts";
import type { ParameterSource } from "../nn/module.ts";
import { PyramidPooling } from "../nn/pyramidPooling.ts";
import { ResNet18, type Pyramid } from "../nn/resnet.ts";
import type { EncoderConfig } from "./config.ts";
import { batchToPlanes } from "./volume.ts";

/** Mean and standard deviation of ImageNet's images, RGB in [0, 1], by which ResNet-18 expects its input to be normalised. */
const MEAN = [0.485, 0.456, 0.406];
const DEVIATION = [0.229, 0.224, 0.225];

/** Image sides must be multiples of this: the trunk halves the resolution five times. */
export const SIZE_MULTIPLE = 32;

/** Focus volume V at four scales: ResNet-18 and the top-down pyramid over every plane, then stacked over the planes (§3.2). */
export class Encoder {
  readonly trunk: ResNet18;
  readonly pooling: PyramidPooling | undefined;
  readonly pyramid: TopDownPyramid;
  readonly scale: Tensor;
  readonly shift: Tensor;

  constructor(source: ParameterSource, { widths, out, upStep, pooling, classifier }: EncoderConfig) {
    this.trunk = new ResNet18(source.at("trunk"), { widths, classifier });
    this.pooling = pooling === "none" ? undefined : new PyramidPooling(source.at("pooling"), { channels: widths[3], windows: pooling });
    this.pyramid = new TopDownPyramid(source.at("pyramid"), { widths, out, step: upStep });
    const perChannel = (values: number[]): Tensor => keep(source.engine.constant(values, { shape: [3, 1, 1] }));
    this.scale = perChannel(DEVIATION.map((deviation) => 1 / deviation));
    this.shift = perChannel(MEAN.map((mean, c) => -mean / (DEVIATION[c] as number)));
  }

  /** `images` [B, N, 3, H, W] in [0, 1] → V, four volumes [B, C₁, N, h, w]. */
  forward(images: Tensor): Pyramid {
    const { B, N, H, W } = dims(images, "B N 3 H W", "encoder");
    checkSizes({ N, H, W });
    const features = this.features(images.reshape([times(B, N), 3, H, W]));
    const thirtySecond = this.context(features.thirtySecond);
    return mapScales(this.pyramid.forward({ ...features, thirtySecond }), (scale) => batchToPlanes(scale, { B, N }));
  }

  /** The trunk over images [B·N, 3, H, W] in [0, 1]. */
  features(images: Tensor): Pyramid {
    return this.trunk.forward(images.mul(this.scale).add(this.shift));
  }

  /** The trunk's coarsest features with context from around them, up to the whole image. */
  context(thirtySecond: Tensor): Tensor {
    return this.pooling ? this.pooling.forward(thirtySecond) : thirtySecond;
  }
}

function checkSizes({ N, H, W }: { readonly N: Dim; readonly H: Dim; readonly W: Dim }): void {
  if (typeof N === "number" && N < 2) throw new ShapeError(`encoder: a focal stack has at least 2 planes, got ${N}`);
  for (const [name, size] of Object.entries({ height: H, width: W }))
    if (typeof size === "number" && (size === 0 || size % SIZE_MULTIPLE !== 0))
      throw new ShapeError(`encoder: the ${name} must be a multiple of ${SIZE_MULTIPLE}, got ${size}; pad the images`);
}

export const mapScales = (scales: Pyramid, f: (volume: Tensor) => Tensor): Pyramid => ({
  quarter: f(scales.quarter),
  eighth: f(scales.eighth),
  sixteenth: f(scales.sixteenth),
  thirtySecond: f(scales.thirtySecond),
});
