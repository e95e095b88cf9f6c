import { z } from "zod";

import { describeIssues } from "../errors.ts";
import { FormatError } from "../io/formatError.ts";

const width = z.int().positive();
const widths = z.tuple([width, width, width, width]).readonly();

const encoderConfig = z
  .strictObject({
    /** Channels of the ResNet-18 trunk at 1/4, 1/8, 1/16, 1/32. */
    widths,
    /** Channels of the focus volume V (C₁) at the same scales. */
    out: widths,
    upStep: z.enum(["conv3", "conv1"]),
    pooling: z.enum(["dfv", "sliding", "none"]),
    /** Keep ResNet's unused classifier in the state: only for parameter counts and files of DFV's own code. */
    classifier: z.boolean(),
  })
  .readonly();

/** The variational module (§3.3, A.3). */
const surfaceConfig = z
  .strictObject({
    /** C₂. */
    channels: width,
    /** Side of the square grid of Γ and z*, or `native`: that of the coarsest volume (then a graph is for one image size). */
    grid: z.union([z.literal("native"), z.int().min(2)]),
    /** `cosine` is exact; `dense` solves the normal equations as the paper does; `confidence` adds VA-DepthNet's weights (both torch only). */
    solver: z.enum(["cosine", "dense", "confidence"]),
    /** One GroupNorm group over channels and planes together, or each plane by itself. */
    norm: z.enum(["joint", "perPlane"]),
  })
  .readonly();

const dualFocusConfig = z
  .strictObject({
    kind: z.literal("dualfocus"),
    encoder: encoderConfig,
    /** Left out: no spatial variational constraint; the coarsest volume then enters the decoder as it is. */
    surface: surfaceConfig.optional(),
    /** Channels of the coarsest stream (expanded z*, or the coarsest volume) as it enters the decoder. */
    coarse: width,
    /** Channels of the fusion stages at 1/16, 1/8, 1/4. */
    fusion: z.tuple([width, width, width]).readonly(),
    /** Channels passed from a stage up to the next finer one. */
    upChannels: z.tuple([width, width]).readonly(),
    /** Window of the convolution on the way up: 3 after upsampling, 1 before it. */
    upKernel: z.union([z.literal(1), z.literal(3)]),
    head: z
      .strictObject({
        width,
        /** Channels to which the two coarser stages are cut before they are upsampled; left out: all of them. */
        taps: width.optional(),
      })
      .readonly(),
    /** Ours: this many filters at full resolution, whose sharpness joins the fusion stages. */
    detail: z.strictObject({ filters: width }).readonly().optional(),
    /** Ours: every fusion stage compares each plane with all of them, through this many hidden channels. */
    planeContext: z.strictObject({ width }).readonly().optional(),
    /** Ours: logits upsampled by learned convex weights, with this many hidden channels; left out: bilinearly, as in the paper. */
    convexUpsampling: z.strictObject({ width }).readonly().optional(),
  })
  .readonly();

const dfvConfig = z.strictObject({ kind: z.literal("dfv"), encoder: encoderConfig }).readonly();

export const networkConfig = z.discriminatedUnion("kind", [dualFocusConfig, dfvConfig]);

export type EncoderConfig = z.infer<typeof encoderConfig>;
export type SurfaceConfig = z.infer<typeof surfaceConfig>;
export type DualFocusConfig = z.infer<typeof dualFocusConfig>;
export type DfvConfig = z.infer<typeof dfvConfig>;
export type NetworkConfig = z.infer<typeof networkConfig>;

/** Names that files of earlier versions use. */
const RENAMED: Readonly<Record<string, string>> = { handedOn: "upChannels", handKernel: "upKernel" };

/** A network description from JSON text, checked. `file` is named in errors. */
export function parseNetworkConfig(text: string, file: string): NetworkConfig {
  let value: unknown;
  try {
    value = JSON.parse(text, function (this: Record<string, unknown>, key, inner: unknown) {
      const renamed = RENAMED[key];
      if (renamed === undefined) return inner;
      this[renamed] = inner;
      return undefined;
    });
  } catch {
    throw new FormatError(`${file}: the network description is not JSON`);
  }
  const result = networkConfig.safeParse(value);
  if (!result.success) throw new FormatError(`${file}: the network description is wrong: ${describeIssues(z.prettifyError(result.error))}`);
  return result.data;
}

/** The paper's network: 27 093 643 parameters with the unused classifier (27 M in Table 11). PAPER.md explains the choices. */
export const base: DualFocusConfig = {
  kind: "dualfocus",
  encoder: { widths: [64, 128, 256, 512], out: [32, 32, 32, 32], upStep: "conv3", pooling: "sliding", classifier: false },
  surface: { channels: 16, grid: 14, solver: "cosine", norm: "joint" },
  coarse: 128,
  fusion: [256, 128, 64],
  upChannels: [128, 64],
  upKernel: 3,
  head: { width: 64 },
};

/** Ours, for quality: `base` that looks at the detail of the images, at all planes together, and upsamples logits along the edges of the images. */
export const fine: DualFocusConfig = {
  ...base,
  detail: { filters: 8 },
  planeContext: { width: 32 },
  convexUpsampling: { width: 64 },
};

/** Ours, for CPUs and browsers: a tenth of the work, a context of all planes, and logits upsampled along the edges of the images. */
export const small: DualFocusConfig = {
  kind: "dualfocus",
  encoder: { widths: [32, 64, 128, 192], out: [16, 16, 16, 16], upStep: "conv1", pooling: "none", classifier: false },
  surface: { channels: 16, grid: 14, solver: "cosine", norm: "joint" },
  coarse: 48,
  fusion: [64, 32, 24],
  upChannels: [32, 16],
  upKernel: 1,
  head: { width: 16, taps: 8 },
  planeContext: { width: 16 },
  convexUpsampling: { width: 24 },
};

/** DFV (Yang et al. 2022) as in its authors' code: 19 501 484 parameters with the unused classifier. */
export const dfv: DfvConfig = {
  kind: "dfv",
  encoder: { widths: [64, 128, 256, 512], out: [16, 32, 64, 128], upStep: "conv3", pooling: "dfv", classifier: false },
};

export const configs = { small, fine, base, dfv } as const;
export type ConfigName = keyof typeof configs;
