import type { Tensor } from "../engine/engine.ts";
import type { ParameterSource } from "../nn/module.ts";
import type { NetworkConfig } from "./config.ts";
import { Dfv } from "./dfv.ts";
import { DualFocus } from "./dualFocus.ts";
import type { SpatialFields } from "./variational.ts";

export interface NetworkInput {
  /** [B, N, 3, H, W], values in [0, 1], near focus first; H and W multiples of 32. */
  readonly images: Tensor;
  /** f, [B, N]: metres, or whatever the depth is to be in. They enter only the expectation (eq. 6). */
  readonly focusDistances: Tensor;
}

export interface Prediction {
  /** D̂, [B, 1, H, W], in the unit of the focus distances. */
  readonly depth: Tensor;
  /** p, [B, N, H, W]. */
  readonly focusProbability: Tensor;
  /** Γ, z* and θ_grad(z*), where the network has the spatial constraint. */
  readonly spatial: SpatialFields | undefined;
  /** Predictions of coarser levels, finest first: DFV's deep supervision. */
  readonly coarser: readonly { readonly depth: Tensor; readonly focusProbability: Tensor }[];
}

export interface Network {
  forward(input: NetworkInput): Prediction;
}

export function createNetwork(source: ParameterSource, config: NetworkConfig): Network {
  return config.kind === "dfv" ? new Dfv(source, config) : new DualFocus(source, config);
}
