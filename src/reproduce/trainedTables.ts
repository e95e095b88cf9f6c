import type { PaperTable, Recipe } from "./paperTable.ts";
import { ours, type DualFocusVariant } from "./variant.ts";

/** The paper's Tables 5 and 7 to 10: networks trained with one thing changed. */

const changed = (change: Partial<DualFocusVariant>): Recipe => ({
  kind: "train",
  variant: { ...ours, ...change },
  planes: (change.planes ?? ours.planes)[0] as number,
});

const withPlanes = (planes: number): Recipe => changed({ planes: [planes] });
const dfvWithPlanes = (planes: number): Recipe => ({ kind: "train", variant: { network: "dfv", planes: [planes] }, planes });

export const ablation: PaperTable = {
  name: "ablation",
  number: 5,
  title: "Ablation studies of the proposed components",
  on: "NYU Depth v2",
  rows: [
    {
      label: "w/o spatio-focal variational constraints",
      paper: { RMSE: 0.094, logRMSE: 0.027, AbsRel: 0.02, SqRel: 0.0038 },
      recipe: changed({ spatial: "none", focal: "none" }),
    },
    {
      label: "w/o spatial variational constraints",
      paper: { RMSE: 0.09, logRMSE: 0.025, AbsRel: 0.018, SqRel: 0.0032 },
      recipe: changed({ spatial: "none" }),
    },
    {
      label: "w/o focal variational constraints",
      paper: { RMSE: 0.078, logRMSE: 0.022, AbsRel: 0.014, SqRel: 0.0022 },
      recipe: changed({ focal: "none" }),
    },
    {
      label: "w/ direct supervision on gradients Γ",
      paper: { RMSE: 0.083, logRMSE: 0.023, AbsRel: 0.015, SqRel: 0.0026 },
      recipe: changed({ spatial: "gradientField" }),
    },
    {
      label: "w/o sharpness weight q",
      paper: { RMSE: 0.077, logRMSE: 0.022, AbsRel: 0.014, SqRel: 0.0022 },
      recipe: changed({ planeWeight: "even" }),
    },
    {
      label: "w/ blurness weight (1 − q)",
      paper: { RMSE: 0.079, logRMSE: 0.022, AbsRel: 0.014, SqRel: 0.0025 },
      recipe: changed({ planeWeight: "blur" }),
    },
    { label: "Ours", paper: { RMSE: 0.075, logRMSE: 0.02, AbsRel: 0.013, SqRel: 0.0021 }, recipe: changed({}) },
  ],
};

export const grid: PaperTable = {
  name: "grid",
  number: 7,
  title: "Spatial resolution of the gradient fields Γ and surface fields z*",
  on: "NYU Depth v2",
  rows: [
    {
      label: "10 × 10",
      paper: { RMSE: 0.079, logRMSE: 0.022, AbsRel: 0.014, SqRel: 0.0024, "runtime ms": 25 },
      recipe: changed({ grid: 10 }),
    },
    { label: "14 × 14", paper: { RMSE: 0.075, logRMSE: 0.02, AbsRel: 0.013, SqRel: 0.0021, "runtime ms": 26 }, recipe: changed({}) },
    {
      label: "20 × 20",
      paper: { RMSE: 0.073, logRMSE: 0.02, AbsRel: 0.013, SqRel: 0.002, "runtime ms": 32 },
      recipe: changed({ grid: 20 }),
    },
    { label: "28 × 28 (not in the paper)", paper: {}, recipe: changed({ grid: 28 }) },
  ],
};

export const channels: PaperTable = {
  name: "channels",
  number: 8,
  title: "Number of feature channels C₂ of Γ and z*",
  on: "DDFF 12-Scene",
  rows: [
    { label: "1", paper: { RMSE: 0.0214, logRMSE: 0.226, AbsRel: 0.188, SqRel: 0.0067 }, recipe: changed({ channels: 1 }) },
    { label: "8", paper: { RMSE: 0.0203, logRMSE: 0.216, AbsRel: 0.174, SqRel: 0.006 }, recipe: changed({ channels: 8 }) },
    { label: "16", paper: { RMSE: 0.0195, logRMSE: 0.2, AbsRel: 0.162, SqRel: 0.0057 }, recipe: changed({}) },
  ],
};

/** Trained on rendered scenes, the same two networks stand beside both sets of the paper's. */
export const focal: PaperTable = {
  name: "focal",
  number: 9,
  title: "Impact of focal variational constraints on focus probability distribution and performance",
  on: "NYU Depth v2 and DDFF 12-Scene",
  rows: [
    {
      label: "NYU Depth v2, without L_fv",
      set: "nyu",
      paper: { "invalid trend %": 46.2, RMSE: 0.078, logRMSE: 0.022, AbsRel: 0.014 },
      recipe: changed({ focal: "none" }),
    },
    {
      label: "NYU Depth v2, with L_fv",
      set: "nyu",
      paper: { "invalid trend %": 6.2, RMSE: 0.075, logRMSE: 0.02, AbsRel: 0.013 },
      recipe: changed({}),
    },
    {
      label: "DDFF 12-Scene, without L_fv",
      set: "ddff12",
      paper: { "invalid trend %": 88.2, RMSE: 0.021, logRMSE: 0.211, AbsRel: 0.167 },
      recipe: changed({ focal: "none" }),
    },
    {
      label: "DDFF 12-Scene, with L_fv",
      set: "ddff12",
      paper: { "invalid trend %": 13.4, RMSE: 0.02, logRMSE: 0.2, AbsRel: 0.162 },
      recipe: changed({}),
    },
    { label: "with L_fv and a loss on the trend of log p (not in the paper)", paper: {}, recipe: changed({ focal: "trend" }) },
  ],
};

export const planes: PaperTable = {
  name: "planes",
  number: 10,
  title: "Varying focal stack size N",
  on: "NYU Depth v2",
  rows: [
    { label: "Depth Anything, N = 1", paper: { RMSE: 0.206, AbsRel: 0.056 } },
    { label: "HybridDepth, N = 3", paper: {} },
    { label: "DFV, N = 3", paper: { RMSE: 0.134, AbsRel: 0.03 }, recipe: dfvWithPlanes(3) },
    { label: "Ours, N = 3", paper: { RMSE: 0.119, AbsRel: 0.023 }, recipe: withPlanes(3) },
    { label: "HybridDepth, N = 5", paper: { RMSE: 0.128, AbsRel: 0.026 } },
    { label: "DFV, N = 5", paper: { RMSE: 0.094, AbsRel: 0.02 }, recipe: dfvWithPlanes(5) },
    { label: "Ours, N = 5", paper: { RMSE: 0.075, AbsRel: 0.013 }, recipe: withPlanes(5) },
    { label: "HybridDepth, N = 10", paper: { RMSE: 0.083, AbsRel: 0.015 } },
    { label: "DFV, N = 10", paper: { RMSE: 0.069, AbsRel: 0.011 }, recipe: dfvWithPlanes(10) },
    { label: "Ours, N = 10", paper: { RMSE: 0.052, AbsRel: 0.008 }, recipe: withPlanes(10) },
  ],
};

export const trainedTables = { ablation, grid, channels, focal, planes } as const;
