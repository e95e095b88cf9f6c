/** The public API in Node. Training is `dualfocus/train`. */
export * from "./everywhere.ts";
export { openNetwork, type OpenOptions } from "./network/node/openNetwork.ts";
export type { DeviceName } from "./network/node/devices.ts";
export { openStack, type StackSource } from "./stack/node/openStack.ts";
export type { FocusOptions } from "./stack/focus.ts";
export type { FocusSource, Unit } from "./stack/stackFormat.ts";
export { runDepth, type DepthRun, type DepthRunOptions } from "./depth/run.ts";
export { readDepth } from "./data/readDepth.ts";
export { readImage } from "./stack/node/diskFiles.ts";
export { loadModel } from "./network/node/loadModel.ts";
