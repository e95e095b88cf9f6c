import { dfvLoss, paperLoss } from "../losses/total.ts";
import { base, dfv as dfvNetwork, type DualFocusConfig } from "../model/config.ts";
import { THEME_DRAW } from "../optics/scene/random.ts";
import type { Theme } from "../optics/scene/themes.ts";
import type { TrainConfig } from "./config.ts";

const adam = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }; // Table 6; ε is Adam's own default

/** The published recipes only crop and flip images. */
const plain = {
  misalign: 0,
  shift: 0,
  scale: 0,
  gamma: [1, 1],
  colour: [1, 1],
  exposure: [1, 1],
  noise: 0,
  reverse: 0,
  dioptres: 0,
} as const satisfies TrainConfig["augment"];

/** Ours: procedural scenes only, so that the weights bind nobody to a dataset's licence. */
export const render = {
  model: base,
  data: {
    kind: "render",
    pool: 12_000,
    refresh: { every: 32, count: 32 }, //                 one new stack a step: a few per cent of the time
    planes: 10,
    size: 256,
    samples: 80,
    blur: [0.5, 10],
    imperfect: 0.4,
    gather: { gaussian: 0.25, powerExponential: 0.1, photos: 0.6, grain: 0.04 }, // the blurs of the NYU protocol and of FOSSA
    validation: { count: 384, samples: 192 },
  },
  batch: { size: 24, planes: [5, 3, 4, 5, 6, 8, 10, 10], crop: 224 }, // five and ten twice: what phones and the published sets have
  augment: {
    misalign: 0.4,
    shift: 0.6,
    scale: 0.002,
    gamma: [0.7, 1.4],
    colour: [0.75, 1.2],
    exposure: [0.96, 1.04],
    noise: 0.03,
    reverse: 0.5,
    dioptres: 1, // blur grows evenly in dioptres; a p that meant metres half the time would be wrong between planes in both
  },
  loss: {
    ...paperLoss,
    // Depth is in planes here, where the paper has metres: gradients are about 20 times larger, so λ_sv is 20 times smaller.
    weights: { spatial: 1, focal: 100, trend: 0.02 },
    beta: 0.15, // planes. The loss near zero decides the precision between planes: 1 would forgive errors of a quarter plane.
  },
  adam,
  learningRate: { from: 4e-4, to: 1e-6, warmUpSteps: 300 },
  clip: 1,
  ema: { decay: 0.999, every: 10 },
  budget: { minutes: 10 },
  precision: "bf16",
  logEvery: 50,
  evaluateEvery: 2000,
  saveEveryMinutes: 2,
  seed: 0,
} as const satisfies TrainConfig;

/**
 * Ours, the recipe of the latest runs, for stacks that `render` does not hold: as phones take them, objects in front of bare backgrounds, bare
 * walls, what a network is shown of sweeps of many planes, and scenes in the size of photos (docs/datasets.md). About a fifth of the stacks
 * are phones', a fifth are from sweeps. What came of 24 minutes on half of an H200: docs/runs.md, "More small crops".
 */
export const renderPhone = {
  ...render,
  data: {
    ...render.data,
    pool: 4000, // of 512×512: 31 GB
    refresh: { every: 32, count: 16 },
    size: 512,
    samples: 96, // wide blur of sweeps is noisy with fewer rays
    blur: [0.5, 14],
    gather: { ...render.data.gather, gaussian: 0.3, softness: 3 },
    themes: [...THEME_DRAW, ...Array<Theme>(5).fill("subject"), ...Array<Theme>(3).fill("wall"), ...Array<Theme>(3).fill("backdrop")],
    lightField: { share: 0.2, blur: [1.5, 9] },
    phone: { share: 0.35, blur: [0.3, 4], shadows: 0.5 },
    sweep: { share: 0.3, planes: [12, 60], blur: [0.3, 4] },
    validation: { ...render.data.validation, size: 256 },
  },
  batch: {
    ...render.batch,
    planes: [5, 3, 4, 5, 6, 8, 10, 10, 10], // long stacks are seen ten planes at a time
    crops: [
      { side: 448, reduced: 1 }, // as a photo, in full size
      { side: 448, reduced: 1 },
      { side: 448, reduced: 2 }, // and reduced
      { side: 448, reduced: 2 },
      { side: 224, reduced: 1 },
      { side: 224, reduced: 1 },
    ],
  },
  augment: { ...render.augment, exposure: [0.93, 1.07], blotches: 0.006, bare: 0.2, beyond: 0.1, inner: 0.4 },
  loss: { ...render.loss, weights: { ...render.loss.weights, trend: 0.1 }, beta: 0.1 },
  evaluateEvery: 8000,
} as const satisfies TrainConfig;

/** The paper on NYU Depth v2 (§4.1, Table 6). */
export const nyu = {
  model: base,
  data: { kind: "nyu", depthScale: 1, validation: { count: 654 } },
  batch: { size: 16, planes: [5], crop: 224 }, //                       Table 6; crops and flips as for the other sets (PAPER.md)
  augment: plain,
  loss: paperLoss, //                                                   λ_sv 20, λ_fv 100, Table 6
  adam,
  learningRate: { from: 1e-4, to: 1e-5, warmUpSteps: 0 }, //            §4.1; Table 6 says 1e-3 → PAPER.md "Learning rate"
  clip: 0.5, //                                                         DFV's train.py
  ema: { decay: 0, every: 1 }, //                                       none
  budget: { epochs: 40 }, //                                            Table 6
  precision: "bf16",
  logEvery: 50,
  evaluateEvery: 1000,
  saveEveryMinutes: 5,
  seed: 0,
} as const satisfies TrainConfig;

/** Ours on NYU Depth v2, from weights trained on rendered scenes (docs/runs.md): for both of the paper's plane counts at once. */
export const nyuTuned = {
  ...nyu,
  data: { ...nyu.data, foreignDepth: 0.25 },
  batch: { size: 24, planes: [5, 5, 10], crop: 224 },
  augment: { ...plain, gamma: [0.7, 1.4], colour: [0.75, 1.2] },
  loss: { ...paperLoss, weights: { ...paperLoss.weights, spatial: 1 }, beta: 0.3 }, // λ_sv 20 would be 99 % of the loss: PAPER.md 36
  learningRate: { from: 4e-4, to: 1e-6, warmUpSteps: 300 },
  clip: 1,
  ema: { decay: 0.999, every: 10 },
  budget: { minutes: 20 },
  evaluateEvery: 4000,
} as const satisfies TrainConfig;

/** The paper on FoD500 (Table 6). */
export const fod500 = {
  ...nyu,
  data: { kind: "fod500", depthScale: 0.2, validation: { count: 100 } }, // × 0.2: DFV's train.py
  batch: { size: 20, planes: [5], crop: 224 }, //                           Table 6
  budget: { epochs: 2000 }, //                                              Table 6
} as const satisfies TrainConfig;

/** The paper on DDFF 12-Scene (Table 6); depth is disparity in pixels. */
export const ddff12 = {
  ...fod500,
  data: { kind: "ddff12", depthScale: 1, validation: { count: 200 } },
} as const satisfies TrainConfig;

/** DFV's own recipe (its train.py), on FoD500: 28 000 steps at a constant rate. */
export const dfv = {
  ...fod500,
  model: dfvNetwork,
  loss: dfvLoss,
  learningRate: { from: 1e-4, to: 1e-4, warmUpSteps: 0 },
  budget: { steps: 28_000 },
  seed: 2021,
} as const satisfies TrainConfig;

const tiny: DualFocusConfig = {
  kind: "dualfocus",
  encoder: { widths: [8, 8, 16, 16], out: [4, 4, 4, 4], upStep: "conv1", pooling: "none", classifier: false },
  surface: { channels: 4, grid: 8, solver: "cosine", norm: "joint" },
  coarse: 8,
  fusion: [8, 8, 8],
  upChannels: [8, 8],
  upKernel: 1,
  head: { width: 8, taps: 4 },
};

/** A whole run in seconds on two CPU cores: for tests and for trying things out. */
export const smoke = {
  ...render,
  model: tiny,
  data: {
    ...render.data,
    pool: 6,
    refresh: { every: 4, count: 1 },
    planes: 4,
    size: 64,
    samples: 4,
    gather: { gaussian: 0.25, powerExponential: 0.25, photos: 0.5, grain: 0.04 },
    validation: { count: 2, samples: 8 },
  },
  batch: { size: 3, planes: [3, 4], crop: 64 },
  learningRate: { from: 2e-3, to: 1e-5, warmUpSteps: 5 },
  budget: { steps: 12 },
  precision: "f32",
  logEvery: 4,
  evaluateEvery: 6,
} as const satisfies TrainConfig;

export const presets = { render, renderPhone, nyu, nyuTuned, fod500, ddff12, dfv, smoke } as const satisfies Record<string, TrainConfig>;
export type PresetName = keyof typeof presets;
