import { times } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { convNorm2d, type ConvNorm } from "./convNorm.ts";
import type { ParameterSource } from "./module.ts";
import type { Pyramid, Widths } from "./resnet.ts";

/**
 * `conv3`: upsample, then a 3×3 convolution at the finer size (DFV). `conv1`: a 1×1 convolution at the coarser size, then upsample:
 * 1/36 of the work, for the small network.
 */
export type UpStep = "conv3" | "conv1";

/** One step down the pyramid: upsamples the coarse map by 2 and joins it with the lateral map of that size. */
class TopDownStep {
  readonly up: ConvNorm;
  readonly join: ConvNorm;
  readonly step: UpStep;

  constructor(source: ParameterSource, { coarse, fine, step }: { readonly coarse: number; readonly fine: number; readonly step: UpStep }) {
    this.up = convNorm2d(source.at("up"), { in: coarse, out: fine, kernel: step === "conv3" ? 3 : 1, activation: "leakyRelu" });
    this.join = convNorm2d(source.at("join"), { in: 2 * fine, out: fine, kernel: 3, activation: "leakyRelu" });
    this.step = step;
  }

  forward({ coarse, lateral }: { readonly coarse: Tensor; readonly lateral: Tensor }): Tensor {
    const up = this.step === "conv3" ? this.up.forward(twice(coarse)) : twice(this.up.forward(coarse));
    return this.join.forward(coarse.engine.concat([lateral, up], 1));
  }
}

const twice = (x: Tensor): Tensor => x.resize2d([times(x.shape[2] ?? 0, 2), times(x.shape[3] ?? 0, 2)], "nearest");

/** The top-down half of the encoder (DFV's: concatenation, not Lin et al.'s sum), then a 1×1 projection per scale. */
export class TopDownPyramid {
  readonly steps: readonly [TopDownStep, TopDownStep, TopDownStep];
  readonly projections: readonly [ConvNorm, ConvNorm, ConvNorm, ConvNorm];

  constructor(source: ParameterSource, { widths, out, step }: { readonly widths: Widths; readonly out: Widths; readonly step: UpStep }) {
    const [quarter, eighth, sixteenth, thirtySecond] = widths;
    this.steps = [
      new TopDownStep(source.at("to16"), { coarse: thirtySecond, fine: sixteenth, step }),
      new TopDownStep(source.at("to8"), { coarse: sixteenth, fine: eighth, step }),
      new TopDownStep(source.at("to4"), { coarse: eighth, fine: quarter, step }),
    ];
    const project = (name: string, scale: 0 | 1 | 2 | 3): ConvNorm =>
      convNorm2d(source.at(name), { in: widths[scale], out: out[scale], kernel: 1, activation: "leakyRelu" });
    this.projections = [project("project4", 0), project("project8", 1), project("project16", 2), project("project32", 3)];
  }

  forward(features: Pyramid): Pyramid {
    const sixteenth = this.steps[0].forward({ coarse: features.thirtySecond, lateral: features.sixteenth });
    const eighth = this.steps[1].forward({ coarse: sixteenth, lateral: features.eighth });
    const quarter = this.steps[2].forward({ coarse: eighth, lateral: features.quarter });
    return {
      quarter: this.projections[0].forward(quarter),
      eighth: this.projections[1].forward(eighth),
      sixteenth: this.projections[2].forward(sixteenth),
      thirtySecond: this.projections[3].forward(features.thirtySecond),
    };
  }
}
