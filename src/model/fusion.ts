import { AXIS } from "../engine/dims.ts";
import type { Dim } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { Conv3d } from "../nn/conv.ts";
import { convNorm3d, type ConvNorm } from "../nn/convNorm.ts";
import { kaimingNormal } from "../nn/init.ts";
import type { ParameterSource } from "../nn/module.ts";
import type { Pyramid } from "../nn/resnet.ts";
import type { DualFocusConfig } from "./config.ts";
import { ConvexUpsampling } from "./convexUpsampling.ts";
import { detailChannels, FineDetail } from "./fineDetail.ts";
import { PlaneContext } from "./planeContext.ts";
import { planeSize } from "./volume.ts";

const init = kaimingNormal("out");

/** 3-D ResNet block (Hara et al. 2017, as DFV's decoder): 3×3×3, 3×3×3, plus the input; stride 1. */
export class ResidualBlock3d {
  readonly first: ConvNorm;
  readonly second: ConvNorm;
  readonly skip: ConvNorm | undefined;

  constructor(source: ParameterSource, { in: input, out }: { readonly in: number; readonly out: number }) {
    this.first = convNorm3d(source.at("first"), { in: input, out, kernel: 3, activation: "relu", init });
    this.second = convNorm3d(source.at("second"), { in: out, out, kernel: 3, activation: "none", init });
    if (input !== out) this.skip = convNorm3d(source.at("skip"), { in: input, out, kernel: 1, activation: "none", init });
  }

  forward(x: Tensor): Tensor {
    const skip = this.skip ? this.skip.forward(x) : x;
    return this.second.forward(this.first.forward(x)).add(skip).relu();
  }
}

/** Two blocks on the focus volume joined with the coarser stream, at one scale. */
class FusionStage {
  readonly blocks: readonly [ResidualBlock3d, ResidualBlock3d];
  readonly context: PlaneContext | undefined;

  constructor(
    source: ParameterSource,
    { in: input, out, context }: { readonly in: number; readonly out: number; readonly context: DualFocusConfig["planeContext"] },
  ) {
    if (context) this.context = new PlaneContext(source.at("context"), { channels: out, ...context });
    this.blocks = [new ResidualBlock3d(source.at(0), { in: input, out }), new ResidualBlock3d(source.at(1), { in: out, out })];
  }

  forward({ volume, coarser, detail }: { readonly volume: Tensor; readonly coarser: Tensor; readonly detail: Tensor | undefined }): Tensor {
    const joined = volume.engine.concat([volume, coarser, ...(detail ? [detail.cast(volume.dtype)] : [])], AXIS.channel);
    const features = this.blocks[0].forward(joined);
    return this.blocks[1].forward(this.context ? this.context.forward(features) : features);
  }
}

/** A stage's features at the next finer scale: upsample and convolve, or convolve 1×1×1 and upsample. */
class UpConv {
  readonly conv: ConvNorm;
  readonly kernel: 1 | 3;

  constructor(source: ParameterSource, { in: input, out, kernel }: { readonly in: number; readonly out: number; readonly kernel: 1 | 3 }) {
    this.conv = convNorm3d(source, { in: input, out, kernel, activation: "relu", init });
    this.kernel = kernel;
  }

  forward(x: Tensor, size: readonly [Dim, Dim]): Tensor {
    return this.kernel === 3 ? this.conv.forward(x.resize2d(size, "bilinear")) : this.conv.forward(x).resize2d(size, "bilinear");
  }
}

export interface DecoderInput {
  readonly volumes: Omit<Pyramid, "thirtySecond">;
  readonly coarse: Tensor;
  /** [B, N, 3, H, W] in [0, 1]; needed only if the decoder sees images. */
  readonly images?: Tensor | undefined;
}

/**
 * The decoder of A.3: three fusion stages at 1/16, 1/8 and 1/4, all brought to 1/4 and concatenated, then the head: logits at 1/4. Ours may
 * look at the images again: at their detail in every stage, and at their edges when the logits are upsampled.
 */
export class FusionDecoder {
  readonly stages: readonly [FusionStage, FusionStage, FusionStage];
  readonly ups: readonly [UpConv, UpConv];
  readonly taps: readonly [ConvNorm, ConvNorm] | undefined;
  readonly headNorm: ConvNorm;
  readonly headLogit: Conv3d;
  readonly detail: FineDetail | undefined;
  readonly upsampling: ConvexUpsampling | undefined;

  constructor(
    source: ParameterSource,
    config: Pick<
      DualFocusConfig,
      "coarse" | "fusion" | "upChannels" | "upKernel" | "head" | "detail" | "planeContext" | "convexUpsampling"
    > & {
      readonly volume: number;
    },
  ) {
    const { coarse, fusion, upChannels, upKernel, head, volume, detail, planeContext: context, convexUpsampling } = config;
    if (detail) this.detail = new FineDetail(source.at("detail"), detail);
    const joins = volume + (detail ? detailChannels(detail) : 0);
    this.stages = [
      new FusionStage(source.at("fuse16"), { in: joins + coarse, out: fusion[0], context }),
      new FusionStage(source.at("fuse8"), { in: joins + upChannels[0], out: fusion[1], context }),
      new FusionStage(source.at("fuse4"), { in: joins + upChannels[1], out: fusion[2], context }),
    ];
    this.ups = [
      new UpConv(source.at("to8"), { in: fusion[0], out: upChannels[0], kernel: upKernel }),
      new UpConv(source.at("to4"), { in: fusion[1], out: upChannels[1], kernel: upKernel }),
    ];
    const tap = (name: string, width: number): ConvNorm =>
      convNorm3d(source.at(name), { in: width, out: head.taps ?? width, kernel: 1, activation: "relu", init });
    if (head.taps !== undefined) this.taps = [tap("tap16", fusion[0]), tap("tap8", fusion[1])];
    const joined = (head.taps ?? fusion[0]) + (head.taps ?? fusion[1]) + fusion[2];
    this.headNorm = convNorm3d(source.at("head"), { in: joined, out: head.width, kernel: 3, activation: "relu", init });
    this.headLogit = new Conv3d(source.at("logit"), { in: head.width, out: 1, kernel: 3, bias: true, init });
    if (convexUpsampling) this.upsampling = new ConvexUpsampling(source.at("upsampling"), { in: head.width, ...convexUpsampling });
  }

  /** Whether `forward` reads the images. */
  get seesImages(): boolean {
    return this.detail !== undefined || this.upsampling !== undefined;
  }

  /** V* at 1/4, 1/8 and 1/16, the coarsest stream and the images → logits [B, 1, N, H/4, W/4], or of the images' size if it upsamples them. */
  forward({ volumes, coarse, images }: DecoderInput): Tensor {
    const detail = this.detail?.forward(given(images));
    const [size16, size8, size4] = [planeSize(volumes.sixteenth), planeSize(volumes.eighth), planeSize(volumes.quarter)];
    const at16 = this.stages[0].forward({
      volume: volumes.sixteenth,
      coarser: coarse.resize2d(size16, "bilinear"),
      detail: detail?.sixteenth,
    });
    const at8 = this.stages[1].forward({ volume: volumes.eighth, coarser: this.ups[0].forward(at16, size8), detail: detail?.eighth });
    const at4 = this.stages[2].forward({ volume: volumes.quarter, coarser: this.ups[1].forward(at8, size4), detail: detail?.quarter });
    const [cut16, cut8] = this.taps ? [this.taps[0].forward(at16), this.taps[1].forward(at8)] : [at16, at8];
    const joined = at4.engine.concat([cut16.resize2d(size4, "bilinear"), cut8.resize2d(size4, "bilinear"), at4], AXIS.channel);
    const features = this.headNorm.forward(joined);
    const logits = this.headLogit.forward(features);
    return this.upsampling ? this.upsampling.forward({ logits, features, images: given(images) }) : logits;
  }
}

function given(images: Tensor | undefined): Tensor {
  if (!images) throw new Error("decoder: this network looks at the images, but there are none");
  return images;
}
