/** Training: everything `dualfocus train` does, for programs. Needs the native addon (`npm run build:native`). */
export { createTorchEngine, type TorchEngine, type TorchTensor } from "./engine/torch.ts";
export { scope } from "./engine/scope.ts";
export { configs, type NetworkConfig } from "./model/config.ts";
export { ablations, dfvLoss, paperLoss, type LossConfig } from "./losses/total.ts";
export { createAdam } from "./train/adam.ts";
export { exportWeights, readCheckpoint, restoreCheckpoint, saveCheckpoint } from "./train/checkpoint.ts";
export { checkConfig, overrideConfig, type TrainConfig } from "./train/config.ts";
export { evaluate, type Metrics } from "./train/evaluate.ts";
export { createClock, train, DivergedError, type BatchSource, type Run } from "./train/loop.ts";
export { presets } from "./train/presets.ts";
export { runTraining, type TrainRequest, type TrainResult } from "./train/run.ts";
export { createTrainer, type TrainBatch, type Trainer } from "./train/trainer.ts";
