import { dfvLoss } from "../losses/total.ts";
import { dfv, type DualFocusConfig, type NetworkConfig } from "../model/config.ts";

/** DualFocus with or without each of its parts: a row of the paper's ablation tables. */
export interface DualFocusVariant {
  readonly network: "dualfocus";
  /** What L_sv supervises; `none` leaves out the loss and the module. */
  readonly spatial: "surface" | "gradientField" | "none";
  /** Weight of the planes in L_sv: q, none, or 1 − q. */
  readonly planeWeight: "sharpness" | "even" | "blur";
  /** With L_fv, without it, or with it and our own loss on the trend of log p. */
  readonly focal: "variational" | "none" | "trend";
  /** Side of the grid of Γ and z*. */
  readonly grid: number;
  /** C₂. */
  readonly channels: number;
  /** Plane counts it is trained with, drawn evenly; on a published set the first alone. The first is measured. */
  readonly planes: readonly number[];
}

/** DFV with its own loss, as the baseline. */
export interface DfvVariant {
  readonly network: "dfv";
  readonly planes: readonly number[];
}

export type Variant = DualFocusVariant | DfvVariant;

/** The paper's model. Trained with five and ten planes, so that one training is measured with both. */
export const ours: DualFocusVariant = {
  network: "dualfocus",
  spatial: "surface",
  planeWeight: "sharpness",
  focal: "variational",
  grid: 14,
  channels: 16,
  planes: [5, 10],
};

/** Unique among variants, the same for equal ones, and a folder's name. */
export function variantName(variant: Variant): string {
  const planes = variant.planes.join("_") === ours.planes.join("_") ? [] : [`planes${variant.planes.join("_")}`];
  if (variant.network === "dfv") return ["dfv", ...planes].join("-");
  const { spatial, planeWeight, focal, grid, channels } = variant;
  const parts = [
    ...(spatial === "none" ? ["noSpatial"] : spatial === "gradientField" ? ["directGradient"] : []),
    ...(planeWeight === "even" ? ["noSharpness"] : planeWeight === "blur" ? ["blurWeight"] : []),
    ...(focal === "none" ? ["noFocal"] : focal === "trend" ? ["trend"] : []),
    ...(grid === ours.grid ? [] : [`grid${grid}`]),
    ...(channels === ours.channels ? [] : [`channels${channels}`]),
    ...planes,
  ];
  return parts.length === 0 ? "both" : parts.join("-");
}

/** The network of a variant of `model`. */
export function variantNetwork(variant: Variant, model: DualFocusConfig): NetworkConfig {
  if (variant.network === "dfv") return dfv;
  if (variant.spatial === "none" || !model.surface) return { ...model, surface: undefined };
  return { ...model, surface: { ...model.surface, grid: variant.grid, channels: variant.channels } };
}

/** What a variant changes in a recipe, as `dualfocus train --set` takes it. */
export function variantSettings(variant: Variant): readonly string[] {
  const planes = `batch.planes=${JSON.stringify(variant.planes)}`;
  if (variant.network === "dfv") {
    const { weights, levels } = dfvLoss;
    return [planes, `loss.weights=${JSON.stringify(weights)}`, `loss.levels=${JSON.stringify(levels)}`];
  }
  const { spatial, planeWeight, focal } = variant;
  return [
    planes,
    ...(spatial === "none" ? ["loss.weights.spatial=0"] : [`loss.spatial.supervise=${spatial}`, `loss.spatial.planeWeight=${planeWeight}`]),
    ...(focal === "none" ? ["loss.weights.focal=0"] : []),
    ...(focal === "trend" ? [] : ["loss.weights.trend=0"]), // not in the paper
  ];
}
