/** The public API in Node. Training is `dualfocus/train`. */
export * from "./everywhere.ts";
export { createNodeSession as createSession, type NodeSessionOptions as SessionOptions } from "./network/node/onnxSession.ts";
export { createCudaSession, type CudaOptions } from "./network/node/cudaSession.ts";
export { createPlaneGraphs, type PlaneGraphOptions } from "./network/node/planeGraphs.ts";
export { openSession, type DeviceName, type OpenedSession, type SessionRequest } from "./network/node/openSession.ts";
export { openStack, type StackSource } from "./stack/node/openStack.ts";
export type { FocusOptions } from "./stack/focus.ts";
export type { FocusSource, Unit } from "./stack/stackFormat.ts";
export { runDepth, type DepthRun, type DepthRunOptions } from "./depth/run.ts";
export { StackError, type StackErrorCode } from "./stack/stackError.ts";
export { UserError, type ExitCode } from "./system/userError.ts";
export { readDepth } from "./data/readDepth.ts";
export { readImage } from "./stack/node/diskFiles.ts";
export { loadModel } from "./network/node/loadModel.ts";
