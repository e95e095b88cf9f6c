/** Training: everything `dualfocus train` does, for programs. Needs the native addon (`npm run build:native`). */
export { createTorchEngine, type TorchEngine, type TorchTensor } from "./engine/torch/torchEngine.ts";
export type { DType, Engine, Shape, Tensor } from "./engine/engine.ts";
export { scope } from "./engine/scope.ts";
export type { Weights } from "./io/safetensors.ts";
export { configs, type DfvConfig, type DualFocusConfig, type NetworkConfig } from "./model/config.ts";
export { dfvLoss, paperLoss, type LossConfig } from "./losses/total.ts";
export { createAdam, type Adam, type AdamConfig } from "./train/adam.ts";
export { exportWeights, readCheckpoint, restoreCheckpoint, saveCheckpoint, type Checkpoint } from "./train/checkpoint.ts";
export type { TrainBatch } from "./train/batch.ts";
export { checkConfig, overrideConfig, ConfigError, type TrainConfig } from "./train/config.ts";
export { evaluate, type Metrics } from "./train/evaluate.ts";
export { createClock, train, DivergedError, type BatchSource, type Clock, type LogEntry, type Run } from "./train/loop.ts";
export { presets } from "./train/presets.ts";
export { applyVariant, variants, type Variant } from "./train/variants.ts";
export { runTraining, type TrainRequest, type TrainResult } from "./train/run.ts";
export { createTrainer, type Losses, type Trainer, type TrainerOptions } from "./train/trainer.ts";
