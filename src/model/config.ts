import type { PoolingWindows } from "../nn/pyramidPooling.ts";
import type { UpStep } from "../nn/fpn.ts";
import type { Widths } from "../nn/resnet.ts";

export interface EncoderConfig {
  /** Channels of the ResNet-18 trunk at 1/4, 1/8, 1/16, 1/32. */
  readonly widths: Widths;
  /** Channels of the focus volume V (C₁) at the same scales. */
  readonly out: Widths;
  readonly upStep: UpStep;
  readonly pooling: PoolingWindows | "none";
  /** Keep ResNet's unused classifier in the state: only for parameter counts and files of DFV's own code. */
  readonly classifier: boolean;
}

/** The variational module (§3.3, A.3). */
export interface SurfaceConfig {
  /** C₂. */
  readonly channels: number;
  /** Side of the square grid of Γ and z*, or `native`: that of the coarsest volume (then a graph is for one picture size). */
  readonly grid: number | "native";
  /** `cosine` is exact; `dense` solves the normal equations as the paper does; `confidence` adds VA-DepthNet's weights (both torch only). */
  readonly solver: "cosine" | "dense" | "confidence";
  /** One GroupNorm group over channels and planes together, or each plane by itself. */
  readonly norm: "joint" | "perPlane";
}

export interface DualFocusConfig {
  readonly kind: "dualfocus";
  readonly encoder: EncoderConfig;
  /** Undefined: no spatial variational constraint; the coarsest volume then enters the decoder as it is. */
  readonly surface: SurfaceConfig | undefined;
  /** Channels of the coarsest stream (expanded z*, or the coarsest volume) as it enters the decoder. */
  readonly coarse: number;
  /** Channels of the fusion stages at 1/16, 1/8, 1/4. */
  readonly fusion: readonly [number, number, number];
  /** Channels handed from a stage to the next finer one. */
  readonly handedOn: readonly [number, number];
  /** Window of the convolution that hands them on: 3 after upsampling, 1 before it. */
  readonly handKernel: 1 | 3;
  readonly head: {
    readonly width: number;
    /** Channels to which the two coarser stages are cut before they are upsampled; undefined: all of them. */
    readonly taps: number | undefined;
  };
}

export interface DfvConfig {
  readonly kind: "dfv";
  readonly encoder: EncoderConfig;
}

export type NetworkConfig = DualFocusConfig | DfvConfig;

/** The paper's network: 27 093 643 parameters with the unused classifier (27 M in Table 11). PAPER.md has the readings behind it. */
export const base: DualFocusConfig = {
  kind: "dualfocus",
  encoder: { widths: [64, 128, 256, 512], out: [32, 32, 32, 32], upStep: "conv3", pooling: "sliding", classifier: false },
  surface: { channels: 16, grid: 14, solver: "cosine", norm: "joint" },
  coarse: 128,
  fusion: [256, 128, 64],
  handedOn: [128, 64],
  handKernel: 3,
  head: { width: 64, taps: undefined },
};

/** Ours, for CPUs and browsers: the same wiring, a tenth of the work. */
export const small: DualFocusConfig = {
  kind: "dualfocus",
  encoder: { widths: [32, 64, 128, 192], out: [16, 16, 16, 16], upStep: "conv1", pooling: "none", classifier: false },
  surface: { channels: 16, grid: 14, solver: "cosine", norm: "joint" },
  coarse: 48,
  fusion: [64, 32, 24],
  handedOn: [32, 16],
  handKernel: 1,
  head: { width: 16, taps: 8 },
};

/** DFV (Yang et al. 2022) as its authors' code has it: 19 501 484 parameters with the unused classifier. */
export const dfv: DfvConfig = {
  kind: "dfv",
  encoder: { widths: [64, 128, 256, 512], out: [16, 32, 64, 128], upStep: "conv3", pooling: "dfv", classifier: false },
};

export const configs = { base, small, dfv } as const;
export type ConfigName = keyof typeof configs;
