import type { ConfigName } from "../model/config.ts";
import type { Variant } from "../train/variants.ts";
import type { EvaluatedModel, PaperRow, PaperTable, Recipe } from "./paperTable.ts";

/** The figures of the paper's tables, and how each row is reproduced. */

const evaluated = (model: EvaluatedModel, planes?: number): Recipe => ({
  kind: "evaluate",
  model,
  ...(planes !== undefined && { planes }),
});
const timed = (model: ConfigName): Recipe => ({ kind: "time", model });
/** With five and ten planes, so that one training run is measured with both. */
const trained = (variant: Variant, planes: readonly number[] = [5, 10]): Recipe => ({ kind: "train", variant, planes });

/** Rows of a table with these columns; figures the paper leaves out stand last. */
function columns(...names: readonly string[]): (label: string, figures: readonly number[], recipe?: Recipe) => PaperRow {
  return (label, figures, recipe) => ({
    label,
    paper: Object.fromEntries(figures.map((figure, i) => [names[i] ?? "", figure])),
    ...(recipe && { recipe }),
  });
}

/** What this project has beside the paper's methods. */
const more: readonly PaperRow[] = [
  { label: "Ours, fine (not in the paper)", paper: {}, recipe: evaluated("fine") },
  { label: "Ours, small (not in the paper)", paper: {}, recipe: evaluated("small") },
  { label: "Sum-modified Laplacian (not in the paper)", paper: {}, recipe: evaluated("laplacian") },
];
const ringDifference: PaperRow = { label: "RDF (not in the paper)", paper: {}, recipe: evaluated("rdf") };

const depthRow = columns("RMSE", "AbsRel", "δ1", "δ2", "δ3");
const nyu: PaperTable = {
  name: "nyu",
  number: 1,
  title: "Comparison with single-image (SIDE) and depth from focus/defocus (DFF/DFD) methods",
  on: "NYU Depth v2",
  rows: [
    depthRow("ZoeDepth (SIDE)", [0.27, 0.075, 0.955, 0.995, 0.999]),
    depthRow("VPD (SIDE)", [0.254, 0.069, 0.964, 0.995, 0.999]),
    depthRow("Marigold (SIDE)", [0.224, 0.055, 0.964, 0.991, 0.998]),
    depthRow("ECoDepth (SIDE)", [0.218, 0.059, 0.978, 0.997, 0.999]),
    depthRow("Depth Anything (SIDE)", [0.206, 0.056, 0.984, 0.998, 1]),
    depthRow("DefocusNet (DFD)", [0.493]),
    depthRow("HybridDepth (DFF)", [0.128, 0.026, 0.995, 1, 1]),
    depthRow("DFV (DFF)", [0.094, 0.02, 0.998, 1, 1], evaluated("dfv")),
    depthRow("Ours (DFF)", [0.075, 0.013, 0.999, 1, 1], evaluated("base")),
    depthRow("HybridDepth, ten planes (Table 10)", [0.083, 0.015]),
    depthRow("DFV, ten planes (Table 10)", [0.069, 0.011], evaluated("dfv", 10)),
    depthRow("Ours, ten planes (Table 10)", [0.052, 0.008], evaluated("base", 10)),
    ...more,
    ringDifference,
  ],
};

const stackRow = columns("MSE", "RMSE", "AbsRel", "SqRel", "δ1", "δ2", "δ3", "Bump");
const fod500: PaperTable = {
  name: "fod500",
  number: 2,
  title: "Comparison on rendered stacks",
  on: "FoD500",
  rows: [
    stackRow("RDF", [0.112, 0.322, 0.46, 0.24, 0.395, 0.646, 0.761, 1.54], evaluated("rdf")),
    stackRow("DDFF", [0.033, 0.167, 0.17, 0.036, 0.728, 0.9, 0.963, 1.74]),
    stackRow("Defocus-Net", [0.022, 0.134, 0.15, 0.036, 0.811, 0.933, 0.966, 2.52]),
    stackRow("DFV", [0.02, 0.129, 0.13, 0.024, 0.819, 0.947, 0.98, 1.43], evaluated("dfv")),
    stackRow("Ours", [0.015, 0.112, 0.13, 0.022, 0.829, 0.948, 0.98, 1.31], evaluated("base")),
    ...more,
  ],
};

const ddff12: PaperTable = {
  name: "ddff12",
  number: 3,
  title: "Comparison on light-field stacks",
  on: "DDFF 12-Scene",
  rows: [
    stackRow("RDF", [91.8e-4, 0.0941, 1, 0.1394, 0.156, 0.331, 0.475, 1.33], evaluated("rdf")),
    stackRow("DDFF", [8.9e-4, 0.0276, 0.24, 0.0095, 0.613, 0.887, 0.965, 0.52]),
    stackRow("Defocus-Net", [8.6e-4, 0.0255, 0.17, 0.006, 0.726, 0.942, 0.979, 0.46]),
    stackRow("DFV", [5.7e-4, 0.0213, 0.17, 0.0063, 0.767, 0.942, 0.981, 0.42], evaluated("dfv")),
    stackRow("HybridDepth", [5.1e-4, 0.02, 0.17, 0.006, 0.789, 0.947, 0.981, 0.47]),
    stackRow("Ours", [4.7e-4, 0.0194, 0.16, 0.0056, 0.8, 0.954, 0.982, 0.4], evaluated("base")),
    ...more,
  ],
};

/** Networks trained on NYU Depth v2 alone; single-image ones on many sets. */
const zeroShotRow = columns("RMSE", "AbsRel", "parameters M");
const arkit: PaperTable = {
  name: "arkit",
  number: 4,
  title: "Zero-shot comparison with SIDE and DFF methods",
  on: "ARKitScenes, validation set",
  rows: [
    zeroShotRow("ZoeDepth (SIDE)", [0.61, 0.33, 335]),
    zeroShotRow("DistDepth (SIDE)", [0.94, 0.45, 69]),
    zeroShotRow("ZeroDepth (SIDE)", [0.62, 0.37, 233]),
    zeroShotRow("Depth Anything (SIDE)", [0.53, 0.32, 336]),
    zeroShotRow("DFV (DFF)", [0.43, 0.51, 20], evaluated("dfv")),
    zeroShotRow("HybridDepth (DFF)", [0.29, 0.42, 67]),
    zeroShotRow("Ours (DFF)", [0.28, 0.4, 27], evaluated("base")),
    ...more,
    ringDifference,
  ],
};

const ablationRow = columns("RMSE", "logRMSE", "AbsRel", "SqRel", "runtime ms");
const ablation: PaperTable = {
  name: "ablation",
  number: 5,
  title: "Ablation studies of the proposed components",
  on: "NYU Depth v2",
  rows: [
    ablationRow("w/o spatio-focal variational constraints", [0.094, 0.027, 0.02, 0.0038], trained("noSpatial-noFocal")),
    ablationRow("w/o spatial variational constraints", [0.09, 0.025, 0.018, 0.0032], trained("noSpatial")),
    ablationRow("w/o focal variational constraints", [0.078, 0.022, 0.014, 0.0022], trained("noFocal")),
    ablationRow("w/ direct supervision on gradients Γ", [0.083, 0.023, 0.015, 0.0026], trained("directGradient")),
    ablationRow("w/o sharpness weight q", [0.077, 0.022, 0.014, 0.0022], trained("noSharpness")),
    ablationRow("w/ blurness weight (1 − q)", [0.079, 0.022, 0.014, 0.0025], trained("blurWeight")),
    ablationRow("Ours", [0.075, 0.02, 0.013, 0.0021], trained("both")),
  ],
};

const grid: PaperTable = {
  name: "grid",
  number: 7,
  title: "Spatial resolution of the gradient fields Γ and surface fields z*",
  on: "NYU Depth v2",
  rows: [
    ablationRow("10 × 10", [0.079, 0.022, 0.014, 0.0024, 25], trained("grid10")),
    ablationRow("14 × 14", [0.075, 0.02, 0.013, 0.0021, 26], trained("both")),
    ablationRow("20 × 20", [0.073, 0.02, 0.013, 0.002, 32], trained("grid20")),
    ablationRow("28 × 28 (not in the paper)", [], trained("grid28")),
  ],
};

const channels: PaperTable = {
  name: "channels",
  number: 8,
  title: "Number of feature channels C₂ of Γ and z*",
  on: "DDFF 12-Scene",
  rows: [
    ablationRow("1", [0.0214, 0.226, 0.188, 0.0067], trained("channels1")),
    ablationRow("8", [0.0203, 0.216, 0.174, 0.006], trained("channels8")),
    ablationRow("16", [0.0195, 0.2, 0.162, 0.0057], trained("both")),
  ],
};

/** Trained on rendered scenes, the same two networks stand beside both sets of the paper's. */
const focalRow = columns("invalid trend %", "RMSE", "logRMSE", "AbsRel");
const focal: PaperTable = {
  name: "focal",
  number: 9,
  title: "Impact of focal variational constraints on focus probability distribution and performance",
  on: "NYU Depth v2 and DDFF 12-Scene",
  rows: [
    { set: "nyu", ...focalRow("NYU Depth v2, without L_fv", [46.2, 0.078, 0.022, 0.014], trained("noFocal")) },
    { set: "nyu", ...focalRow("NYU Depth v2, with L_fv", [6.2, 0.075, 0.02, 0.013], trained("both")) },
    { set: "ddff12", ...focalRow("DDFF 12-Scene, without L_fv", [88.2, 0.021, 0.211, 0.167], trained("noFocal")) },
    { set: "ddff12", ...focalRow("DDFF 12-Scene, with L_fv", [13.4, 0.02, 0.2, 0.162], trained("both")) },
    focalRow("with L_fv and a loss on the trend of log p (not in the paper)", [], trained("trend")),
  ],
};

const planesRow = columns("RMSE", "AbsRel");
const planes: PaperTable = {
  name: "planes",
  number: 10,
  title: "Varying focal stack size N",
  on: "NYU Depth v2",
  rows: [
    planesRow("Depth Anything, N = 1", [0.206, 0.056]),
    planesRow("HybridDepth, N = 3", []),
    planesRow("DFV, N = 3", [0.134, 0.03], trained("dfv", [3])),
    planesRow("Ours, N = 3", [0.119, 0.023], trained("both", [3])),
    planesRow("HybridDepth, N = 5", [0.128, 0.026]),
    planesRow("DFV, N = 5", [0.094, 0.02], trained("dfv", [5])),
    planesRow("Ours, N = 5", [0.075, 0.013], trained("both", [5])),
    planesRow("HybridDepth, N = 10", [0.083, 0.015]),
    planesRow("DFV, N = 10", [0.069, 0.011], trained("dfv", [10])),
    planesRow("Ours, N = 10", [0.052, 0.008], trained("both", [10])),
  ],
};

const timeRow = columns("parameters M", "runtime ms");
const runtime: PaperTable = {
  name: "runtime",
  number: 11,
  title: "Model size and runtime",
  on: "DDFF 12-Scene, one NVIDIA RTX A6000",
  rows: [
    timeRow("ZoeDepth-M12-N (SIDE, N = 1)", [335, 189]),
    timeRow("Depth Anything, ViT-L (SIDE, N = 1)", [336, 113]),
    timeRow("Depth Anything, ViT-S (SIDE, N = 1)", [25, 37]),
    timeRow("DFV (N = 5)", [20, 16], timed("dfv")),
    timeRow("HybridDepth (N = 5)", [66, 41]),
    timeRow("Ours (N = 5)", [27, 28], timed("base")),
    timeRow("Ours, fine (N = 5, not in the paper)", [], timed("fine")),
    timeRow("Ours, small (N = 5, not in the paper)", [], timed("small")),
  ],
};

/** By what fills their rows: measuring networks on a set, training networks, timing them. */
export const evaluatedTables = { nyu, fod500, ddff12, arkit } as const;
export const trainedTables = { ablation, grid, channels, focal, planes } as const;
export const paperTables = { ...evaluatedTables, ...trainedTables, runtime } as const;
export type TableName = keyof typeof paperTables;
