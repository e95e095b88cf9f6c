import type { Tensor } from "../engine/engine.ts";
import { Conv2d } from "./conv.ts";
import { kaimingNormal, uniformFanIn, uniformWithin } from "./init.ts";
import type { ParameterSource } from "./module.ts";
import { BatchNorm } from "./norm.ts";

/** Features at 1/4, 1/8, 1/16 and 1/32 of the image size. */
export interface Pyramid {
  readonly quarter: Tensor;
  readonly eighth: Tensor;
  readonly sixteenth: Tensor;
  readonly thirtySecond: Tensor;
}

export type Widths = readonly [number, number, number, number];

/** 3×3, 3×3, plus the input (He et al. 2016). */
class BasicBlock {
  readonly conv1: Conv2d;
  readonly bn1: BatchNorm;
  readonly conv2: Conv2d;
  readonly bn2: BatchNorm;
  readonly downsample: { readonly conv: Conv2d; readonly norm: BatchNorm } | undefined;

  constructor(source: ParameterSource, { in: input, out, stride }: { readonly in: number; readonly out: number; readonly stride: number }) {
    const init = kaimingNormal("out");
    this.conv1 = new Conv2d(source.at("conv1"), { in: input, out, kernel: 3, stride, init });
    this.bn1 = new BatchNorm(source.at("bn1"), out);
    this.conv2 = new Conv2d(source.at("conv2"), { in: out, out, kernel: 3, init });
    this.bn2 = new BatchNorm(source.at("bn2"), out);
    if (stride !== 1 || input !== out)
      this.downsample = {
        conv: new Conv2d(source.at("downsample").at(0), { in: input, out, kernel: 1, stride, init }),
        norm: new BatchNorm(source.at("downsample").at(1), out),
      };
  }

  forward(x: Tensor): Tensor {
    const inner = this.bn1.forward(this.conv1.forward(x)).relu();
    const skip = this.downsample ? this.downsample.norm.forward(this.downsample.conv.forward(x)) : x;
    return this.bn2.forward(this.conv2.forward(inner)).add(skip).relu();
  }
}

/** Two blocks; the first halves the size unless `stride` is 1. */
class Stage {
  readonly blocks: readonly [BasicBlock, BasicBlock];

  constructor(source: ParameterSource, { in: input, out, stride }: { readonly in: number; readonly out: number; readonly stride: number }) {
    this.blocks = [new BasicBlock(source.at(0), { in: input, out, stride }), new BasicBlock(source.at(1), { in: out, out, stride: 1 })];
  }

  forward(x: Tensor): Tensor {
    return this.blocks[1].forward(this.blocks[0].forward(x));
  }
}

/**
 * ResNet-18's trunk (He et al. 2016). Parameter names are torchvision's, so that its ImageNet weights load.
 * `classifier` keeps the unused `fc` layer in the parameter list, as DFV's and the paper's parameter counts do.
 */
export class ResNet18 {
  readonly conv1: Conv2d;
  readonly bn1: BatchNorm;
  readonly stages: readonly [Stage, Stage, Stage, Stage];

  constructor(source: ParameterSource, { widths, classifier }: { readonly widths: Widths; readonly classifier: boolean }) {
    const [quarter, eighth, sixteenth, thirtySecond] = widths;
    this.conv1 = new Conv2d(source.at("conv1"), { in: 3, out: quarter, kernel: 7, stride: 2, init: kaimingNormal("out") });
    this.bn1 = new BatchNorm(source.at("bn1"), quarter);
    this.stages = [
      new Stage(source.at("layer1"), { in: quarter, out: quarter, stride: 1 }),
      new Stage(source.at("layer2"), { in: quarter, out: eighth, stride: 2 }),
      new Stage(source.at("layer3"), { in: eighth, out: sixteenth, stride: 2 }),
      new Stage(source.at("layer4"), { in: sixteenth, out: thirtySecond, stride: 2 }),
    ];
    if (!classifier) return;
    source.at("fc").parameter("weight", [1000, thirtySecond], uniformFanIn);
    source.at("fc").parameter("bias", [1000], uniformWithin(1 / Math.sqrt(thirtySecond)));
  }

  /** [B, 3, H, W] → features. */
  forward(x: Tensor): Pyramid {
    const stem = this.bn1
      .forward(this.conv1.forward(x))
      .relu()
      .maxPool2d({ kernel: [3, 3], stride: [2, 2], padding: [1, 1] });
    const quarter = this.stages[0].forward(stem);
    const eighth = this.stages[1].forward(quarter);
    const sixteenth = this.stages[2].forward(eighth);
    return { quarter, eighth, sixteenth, thirtySecond: this.stages[3].forward(sixteenth) };
  }
}
