/** The public API in Node. Training is `dualfocus/train`. */
export * from "./everywhere.ts";
export { createNodeSession as createSession, type NodeSessionOptions as SessionOptions } from "./infer/node.ts";
export { createCudaSession, type CudaOptions } from "./infer/cuda.ts";
export { createPlaneGraphs, type PlaneGraphOptions } from "./infer/planeGraphs.ts";
export { openSession, type DeviceName, type OpenedSession, type SessionRequest } from "./job/openSession.ts";
export { openStack, type StackSource } from "./source/openStack.ts";
export type { FocusOptions } from "./source/focus.ts";
export type { FocusSource, Unit } from "./io/stackFormat.ts";
export { runDepth, type DepthRun, type DepthRunOptions } from "./job/depthRun.ts";
export { StackError, type StackErrorCode } from "./io/stackError.ts";
export { UserError, type ExitCode } from "./job/errors.ts";
export { readDepth } from "./data/readDepth.ts";
export { readImage } from "./data/readImage.ts";
export { loadModel } from "./job/loadModel.ts";
