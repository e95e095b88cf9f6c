import { dims } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { Conv2d } from "../nn/conv.ts";
import type { ParameterSource } from "../nn/module.ts";
import type { DualFocusConfig } from "./config.ts";
import { Encoder, mapScales } from "./encoder.ts";
import { augmentFocusVolume } from "./focusVolume.ts";
import { expectedDepth, focusProbability } from "./focusHead.ts";
import { FusionDecoder } from "./fusion.ts";
import type { NetworkInput, Prediction } from "./network.ts";
import { VariationalModule } from "./variational.ts";
import { batchToPlanes, planesToBatch } from "./volume.ts";

/** The network of Figure 1. Shapes: PAPER.md, "Symbols". */
export class DualFocus {
  readonly encoder: Encoder;
  readonly variational: VariationalModule | CoarseStream;
  readonly decoder: FusionDecoder;

  constructor(source: ParameterSource, config: DualFocusConfig) {
    const { encoder, surface, coarse } = config;
    const volume = (scale: 0 | 1 | 2 | 3): number => 2 * encoder.out[scale];
    this.encoder = new Encoder(source.at("encoder"), encoder);
    this.variational = surface
      ? new VariationalModule(source.at("variational"), { in: volume(3), out: coarse, config: surface })
      : new CoarseStream(source.at("coarse"), { in: volume(3), out: coarse });
    this.decoder = new FusionDecoder(source.at("decoder"), { ...config, volume: volume(0) });
  }

  forward({ images, focusDistances }: NetworkInput): Prediction {
    const { H, W } = dims(images, "B N C H W", "DualFocus");
    const focusVolumes = this.encoder.forward(images); //                                    V at 1/4 … 1/32
    const volumes = mapScales(focusVolumes, augmentFocusVolume); //                          V*, eq. 1
    const { features, spatial } = this.variational.forward(volumes.thirtySecond); //         Γ, z*, eqs. 2–3
    const logits = this.decoder.forward({ volumes, coarse: features, images }); //           fusion, A.3
    const p = focusProbability(logits, [H, W]); //                                           Σ_n p_n = 1
    const depth = expectedDepth({ focusProbability: p, focusDistances }); //                 D̂, eq. 6
    return { depth, focusProbability: p, spatial, coarser: [] };
  }
}

/** Replaces the variational module if there is no spatial constraint: the coarsest volume, with one convolution per plane. */
class CoarseStream {
  readonly expand: Conv2d;

  constructor(source: ParameterSource, { in: input, out }: { readonly in: number; readonly out: number }) {
    this.expand = new Conv2d(source.at("expand"), { in: input, out, kernel: 3, bias: true });
  }

  forward(volume: Tensor): { readonly features: Tensor; readonly spatial: undefined } {
    const { B, N } = dims(volume, "B C N h w", "coarse stream");
    return { features: batchToPlanes(this.expand.forward(planesToBatch(volume)), { B, N }), spatial: undefined };
  }
}
