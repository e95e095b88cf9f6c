import type { EvaluatedModel, Figures, PaperRow, PaperTable, Recipe } from "./paperTable.ts";

/** The paper's Tables 1 to 4 (methods on the published sets) and 11 (model size and runtime). */

const evaluated = (model: EvaluatedModel): Recipe => ({ kind: "evaluate", model });

/** What this project has beside the paper's methods. */
const more: readonly PaperRow[] = [
  { label: "Ours, small (not in the paper)", paper: {}, recipe: evaluated("small") },
  { label: "Sum-modified Laplacian (not in the paper)", paper: {}, recipe: evaluated("laplacian") },
];
const ringDifference: PaperRow = { label: "RDF (not in the paper)", paper: {}, recipe: evaluated("rdf") };

export const nyu: PaperTable = {
  name: "nyu",
  number: 1,
  title: "Comparison with single-image (SIDE) and depth from focus/defocus (DFF/DFD) methods",
  on: "NYU Depth v2",
  rows: [
    { label: "ZoeDepth (SIDE)", paper: { RMSE: 0.27, AbsRel: 0.075, δ1: 0.955, δ2: 0.995, δ3: 0.999 } },
    { label: "VPD (SIDE)", paper: { RMSE: 0.254, AbsRel: 0.069, δ1: 0.964, δ2: 0.995, δ3: 0.999 } },
    { label: "Marigold (SIDE)", paper: { RMSE: 0.224, AbsRel: 0.055, δ1: 0.964, δ2: 0.991, δ3: 0.998 } },
    { label: "ECoDepth (SIDE)", paper: { RMSE: 0.218, AbsRel: 0.059, δ1: 0.978, δ2: 0.997, δ3: 0.999 } },
    { label: "Depth Anything (SIDE)", paper: { RMSE: 0.206, AbsRel: 0.056, δ1: 0.984, δ2: 0.998, δ3: 1 } },
    { label: "DefocusNet (DFD)", paper: { RMSE: 0.493 } },
    { label: "HybridDepth (DFF)", paper: { RMSE: 0.128, AbsRel: 0.026, δ1: 0.995, δ2: 1, δ3: 1 } },
    { label: "DFV (DFF)", paper: { RMSE: 0.094, AbsRel: 0.02, δ1: 0.998, δ2: 1, δ3: 1 }, recipe: evaluated("dfv") },
    { label: "Ours (DFF)", paper: { RMSE: 0.075, AbsRel: 0.013, δ1: 0.999, δ2: 1, δ3: 1 }, recipe: evaluated("base") },
    ...more,
    ringDifference,
  ],
};

/** The columns of Tables 2 and 3. */
const stackFigures = (values: readonly [number, number, number, number, number, number, number, number]): Figures => {
  const [MSE, RMSE, AbsRel, SqRel, δ1, δ2, δ3, Bump] = values;
  return { MSE, RMSE, AbsRel, SqRel, δ1, δ2, δ3, Bump };
};

export const fod500: PaperTable = {
  name: "fod500",
  number: 2,
  title: "Comparison on rendered stacks",
  on: "FoD500",
  rows: [
    { label: "RDF", paper: stackFigures([0.112, 0.322, 0.46, 0.24, 0.395, 0.646, 0.761, 1.54]), recipe: evaluated("rdf") },
    { label: "DDFF", paper: stackFigures([0.033, 0.167, 0.17, 0.036, 0.728, 0.9, 0.963, 1.74]) },
    { label: "Defocus-Net", paper: stackFigures([0.022, 0.134, 0.15, 0.036, 0.811, 0.933, 0.966, 2.52]) },
    { label: "DFV", paper: stackFigures([0.02, 0.129, 0.13, 0.024, 0.819, 0.947, 0.98, 1.43]), recipe: evaluated("dfv") },
    { label: "Ours", paper: stackFigures([0.015, 0.112, 0.13, 0.022, 0.829, 0.948, 0.98, 1.31]), recipe: evaluated("base") },
    ...more,
  ],
};

export const ddff12: PaperTable = {
  name: "ddff12",
  number: 3,
  title: "Comparison on light-field stacks",
  on: "DDFF 12-Scene",
  rows: [
    { label: "RDF", paper: stackFigures([91.8e-4, 0.0941, 1, 0.1394, 0.156, 0.331, 0.475, 1.33]), recipe: evaluated("rdf") },
    { label: "DDFF", paper: stackFigures([8.9e-4, 0.0276, 0.24, 0.0095, 0.613, 0.887, 0.965, 0.52]) },
    { label: "Defocus-Net", paper: stackFigures([8.6e-4, 0.0255, 0.17, 0.006, 0.726, 0.942, 0.979, 0.46]) },
    { label: "DFV", paper: stackFigures([5.7e-4, 0.0213, 0.17, 0.0063, 0.767, 0.942, 0.981, 0.42]), recipe: evaluated("dfv") },
    { label: "HybridDepth", paper: stackFigures([5.1e-4, 0.02, 0.17, 0.006, 0.789, 0.947, 0.981, 0.47]) },
    { label: "Ours", paper: stackFigures([4.7e-4, 0.0194, 0.16, 0.0056, 0.8, 0.954, 0.982, 0.4]), recipe: evaluated("base") },
    ...more,
  ],
};

/** Networks trained on NYU Depth v2 alone; single-image ones on many sets. */
export const arkit: PaperTable = {
  name: "arkit",
  number: 4,
  title: "Zero-shot comparison with SIDE and DFF methods",
  on: "ARKitScenes, validation set",
  rows: [
    { label: "ZoeDepth (SIDE)", paper: { RMSE: 0.61, AbsRel: 0.33, "parameters M": 335 } },
    { label: "DistDepth (SIDE)", paper: { RMSE: 0.94, AbsRel: 0.45, "parameters M": 69 } },
    { label: "ZeroDepth (SIDE)", paper: { RMSE: 0.62, AbsRel: 0.37, "parameters M": 233 } },
    { label: "Depth Anything (SIDE)", paper: { RMSE: 0.53, AbsRel: 0.32, "parameters M": 336 } },
    { label: "DFV (DFF)", paper: { RMSE: 0.43, AbsRel: 0.51, "parameters M": 20 }, recipe: evaluated("dfv") },
    { label: "HybridDepth (DFF)", paper: { RMSE: 0.29, AbsRel: 0.42, "parameters M": 67 } },
    { label: "Ours (DFF)", paper: { RMSE: 0.28, AbsRel: 0.4, "parameters M": 27 }, recipe: evaluated("base") },
    ...more,
    ringDifference,
  ],
};

export const runtime: PaperTable = {
  name: "runtime",
  number: 11,
  title: "Model size and runtime",
  on: "DDFF 12-Scene, one NVIDIA RTX A6000",
  rows: [
    { label: "ZoeDepth-M12-N (SIDE, N = 1)", paper: { "parameters M": 335, "runtime ms": 189 } },
    { label: "Depth Anything, ViT-L (SIDE, N = 1)", paper: { "parameters M": 336, "runtime ms": 113 } },
    { label: "Depth Anything, ViT-S (SIDE, N = 1)", paper: { "parameters M": 25, "runtime ms": 37 } },
    { label: "DFV (N = 5)", paper: { "parameters M": 20, "runtime ms": 16 }, recipe: { kind: "time", model: "dfv" } },
    { label: "HybridDepth (N = 5)", paper: { "parameters M": 66, "runtime ms": 41 } },
    { label: "Ours (N = 5)", paper: { "parameters M": 27, "runtime ms": 28 }, recipe: { kind: "time", model: "base" } },
    { label: "Ours, small (N = 5, not in the paper)", paper: {}, recipe: { kind: "time", model: "small" } },
  ],
};

export const evaluatedTables = { nyu, fod500, ddff12, arkit } as const;
