import { dfvLoss, type LossConfig } from "../losses/total.ts";
import { dfv, type NetworkConfig, type SurfaceConfig } from "../model/config.ts";
import { checkConfig, type TrainConfig } from "./config.ts";

/** What a variant changes in a recipe. */
interface Change {
  /** Another network altogether. */
  readonly model?: NetworkConfig;
  /** The spatial variational module; `none` leaves it out. */
  readonly surface?: Partial<SurfaceConfig> | "none";
  readonly weights?: Partial<LossConfig["weights"]>;
  readonly spatial?: Partial<LossConfig["spatial"]>;
  readonly levels?: LossConfig["levels"];
}

const paper = { trend: 0 }; // the paper has no loss on the trend of log p

/** The rows of the paper's Tables 5 and 7 to 9: its network with one thing changed. */
export const variants = {
  both: { weights: paper },
  "noSpatial-noFocal": { surface: "none", weights: { ...paper, spatial: 0, focal: 0 } },
  noSpatial: { surface: "none", weights: { ...paper, spatial: 0 } },
  noFocal: { weights: { ...paper, focal: 0 } },
  directGradient: { weights: paper, spatial: { supervise: "gradientField" } },
  noSharpness: { weights: paper, spatial: { planeWeight: "even" } },
  blurWeight: { weights: paper, spatial: { planeWeight: "blur" } },
  grid10: { weights: paper, surface: { grid: 10 } },
  grid20: { weights: paper, surface: { grid: 20 } },
  grid28: { weights: paper, surface: { grid: 28 } },
  channels1: { weights: paper, surface: { channels: 1 } },
  channels8: { weights: paper, surface: { channels: 8 } },
  /** With whatever weight the recipe gives our own loss on the trend of log p. */
  trend: {},
  /** The baseline, with its own loss. */
  dfv: { model: dfv, weights: dfvLoss.weights, levels: dfvLoss.levels },
} as const satisfies Readonly<Record<string, Change>>;
export type Variant = keyof typeof variants;

/** The recipe with a variant's network and losses; the rest, such as the weights of losses that stay, is the recipe's own. */
export function applyVariant(config: TrainConfig, variant: Variant): TrainConfig {
  const { model, surface, weights, spatial, levels }: Change = variants[variant];
  const { loss } = config;
  return checkConfig({
    ...config,
    model: model ?? paperNetwork(config.model, surface),
    loss: {
      ...loss,
      weights: { ...loss.weights, ...weights },
      spatial: { ...loss.spatial, ...spatial },
      levels: levels ?? loss.levels,
    },
  });
}

/** Without the parts that are ours (PAPER.md 39); unless the variant changes them, 14 × 14 cells and C₂ = 16. */
function paperNetwork(model: NetworkConfig, change: Change["surface"] = {}): NetworkConfig {
  if (model.kind === "dfv") return model;
  const paper = { ...model, detail: undefined, planeContext: undefined, convexUpsampling: undefined };
  if (change === "none" || !model.surface) return { ...paper, surface: undefined };
  return { ...paper, surface: { ...model.surface, grid: 14, channels: 16, ...change } };
}
