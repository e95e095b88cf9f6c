import { AXIS } from "../engine/dims.ts";
import { concrete, dims, times, type Dim } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { Conv3d } from "../nn/conv.ts";
import { convNorm3d, type ConvNorm } from "../nn/convNorm.ts";
import { kaimingNormal } from "../nn/init.ts";
import type { ParameterSource } from "../nn/module.ts";
import { partCounts } from "../nn/pyramidPooling.ts";
import type { DfvConfig } from "./config.ts";
import { Encoder, mapScales } from "./encoder.ts";
import { expectedDepth, focusProbability } from "./focusHead.ts";
import { dfvDifferences } from "./focusVolume.ts";
import { ResidualBlock3d } from "./fusion.ts";
import type { NetworkInput, Prediction } from "./network.ts";
import { planeSize } from "./volume.ts";

const init = kaimingNormal("out");

/** The coarsest pooling divides by half its side, so images must be at least as large as this. */
export const DFV_LEAST_SIDE = 64;

/** DFV's 3-D pyramid pooling: four window sizes over planes, rows and columns; ReLU((x + ¼ Σ branches) / 2). */
class VolumePooling {
  readonly branches: readonly ConvNorm[];

  constructor(source: ParameterSource, channels: number) {
    this.branches = [0, 1, 2, 3].map((i) => convNorm3d(source.at(i), { in: channels, out: channels, kernel: 1, activation: "none", init }));
  }

  forward(x: Tensor): Tensor {
    const { N, h, w } = dims(x, "B C N h w", "volume pooling");
    const size = [N, h, w].map((side) => concrete(side, "DFV's volume pooling"));
    const context = partCounts(Math.floor(Math.min(...size) / 2)).map((parts, i) => {
      const window = size.map((side) => Math.floor(side / parts));
      const pooled = x.avgPool({ kernel: window, stride: window });
      return resizeVolume((this.branches[i] as ConvNorm).forward(pooled), size as [number, number, number]);
    });
    return context
      .reduce((sum, branch) => sum.add(branch))
      .mul(1 / context.length)
      .add(x)
      .mul(0.5)
      .relu();
  }
}

/** Trilinear resampling to [n, h, w] (`align_corners=False`): rows and columns, then planes. */
function resizeVolume(x: Tensor, [n, h, w]: readonly [number, number, number]): Tensor {
  const { B, C, N } = dims(x, "B C N h w", "resizeVolume");
  const planes = x.resize2d([h, w], "bilinear");
  return planes
    .reshape([B, C, N, times(h, w)])
    .resize2d([n, times(h, w)], "bilinear")
    .reshape([B, C, n, h, w]);
}

/** DFV's decoder block: two residual blocks, pooling on the coarse levels, a classifier, and the way up. */
class DecoderBlock {
  readonly blocks: readonly [ResidualBlock3d, ResidualBlock3d];
  readonly pooling: VolumePooling | undefined;
  readonly classify: readonly [ConvNorm, Conv3d];
  readonly up: ConvNorm | undefined;

  constructor(source: ParameterSource, { in: input, out, pool, up }: { in: number; out: number; pool: boolean; up: boolean }) {
    this.blocks = [
      new ResidualBlock3d(source.at("blocks").at(0), { in: input, out }),
      new ResidualBlock3d(source.at("blocks").at(1), { in: out, out }),
    ];
    if (pool) this.pooling = new VolumePooling(source.at("pooling"), out);
    this.classify = [
      convNorm3d(source.at("classify"), { in: out, out, kernel: 3, activation: "relu", init }),
      new Conv3d(source.at("logit"), { in: out, out: 1, kernel: 3, bias: true, init }),
    ];
    if (up) this.up = convNorm3d(source.at("up"), { in: out, out: out / 2, kernel: 3, activation: "relu", init });
  }

  forward(x: Tensor): { readonly features: Tensor; readonly logits: Tensor } {
    const inner = this.blocks[1].forward(this.blocks[0].forward(x));
    const features = this.pooling ? this.pooling.forward(inner) : inner;
    return { features, logits: this.classify[1].forward(this.classify[0].forward(features)) };
  }

  /** The features at the next finer scale, half the channels. */
  upTo(features: Tensor, size: readonly [Dim, Dim]): Tensor {
    if (!this.up) throw new Error("decoder block: this level has no way up");
    return this.up.forward(features.resize2d(size, "bilinear"));
  }
}

/** Deep Depth from Focus with Differential Focus Volume (Yang et al., CVPR 2022), level 4 with differences, as its code computes it. */
export class Dfv {
  readonly encoder: Encoder;
  readonly levels: readonly [DecoderBlock, DecoderBlock, DecoderBlock, DecoderBlock];

  constructor(source: ParameterSource, { encoder }: DfvConfig) {
    this.encoder = new Encoder(source.at("encoder"), encoder);
    this.levels = [
      new DecoderBlock(source.at("dec6"), { in: 128, out: 128, pool: true, up: true }),
      new DecoderBlock(source.at("dec5"), { in: 128, out: 64, pool: true, up: true }),
      new DecoderBlock(source.at("dec4"), { in: 64, out: 32, pool: false, up: true }),
      new DecoderBlock(source.at("dec3"), { in: 32, out: 32, pool: false, up: false }),
    ];
  }

  forward({ images, focusDistances }: NetworkInput): Prediction {
    const { H, W } = dims(images, "B N C H W", "DFV");
    const volumes = mapScales(this.encoder.forward(images), dfvDifferences);
    const finer = [volumes.thirtySecond, volumes.sixteenth, volumes.eighth, volumes.quarter];
    let stream = volumes.thirtySecond;
    const predictions = this.levels.map((level, i) => {
      const { features, logits } = level.forward(stream);
      const next = finer[i + 1];
      if (next) stream = next.engine.concat([level.upTo(features, planeSize(next)), next], AXIS.channel);
      const p = focusProbability(logits, [H, W]);
      return { focusProbability: p, depth: expectedDepth({ focusProbability: p, focusDistances }) };
    });
    const [finest, ...coarser] = predictions.reverse() as [Pick<Prediction, "depth" | "focusProbability">];
    return { ...finest, spatial: undefined, coarser };
  }
}
