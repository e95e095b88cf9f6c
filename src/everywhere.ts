/** The part of the public API that is the same in Node and in a browser. Pictures and files are arrays here; reading disks is Node's. */

// Pictures, stacks, depth
export { image, type Image } from "./image.ts";
export { checkFocusDistances, choosePlanes, focalStack, selectPlanes, type FocalStack, type Space } from "./stack.ts";
export { depthMap, type DepthMap } from "./depth.ts";
export { createRandom, type Random } from "./random.ts";

// From a stack to depth
export { estimateDepth, type DepthEstimate, type EstimateOptions } from "./infer/estimateDepth.ts";
export { ERROR_TABLES } from "./infer/errorTable.ts";
export type { ProbabilityOptions } from "./infer/focusProbability.ts";
export type { Session } from "./infer/session.ts";
export { disposeStages, loadStages, type StageSessions } from "./infer/stages.ts";
export { alignStack, type AlignedStack, type AlignOptions } from "./align/align.ts";
export { AlignmentError, formatAlignment, parseAlignment, type Alignment } from "./align/alignment.ts";
export { checkStack, type CheckOptions } from "./check/checkStack.ts";
export type { Finding } from "./check/finding.ts";
export { laplacianDepth } from "./classical/modifiedLaplacian.ts";
export { ringDifferenceDepth, type RingDifferenceOptions } from "./classical/ringDifference.ts";
export type { FocusResult } from "./classical/focusPeak.ts";
export { EngineError, ShapeError } from "./engine/errors.ts";

// Networks and their weights
export { configs, type ConfigName, type NetworkConfig } from "./model/config.ts";
export { countMultiplyAccumulates, countParameters, initialWeights } from "./model/state.ts";
export { recordGraph, type GraphRequest, type GraphSize } from "./model/graph.ts";
export { recordStages, type StageName } from "./model/stages.ts";
export { readModel, writeModel, type Model } from "./model/weightsFile.ts";
export type { Weights } from "./io/safetensors.ts";

// Results as files
export { encodeOutputs, DEFAULT_OUTPUTS, OUTPUT_NAMES, type OutputFile, type OutputName } from "./output/outputs.ts";
export type { DepthResult, DepthUnit } from "./output/result.ts";
export { FormatError } from "./io/formatError.ts";
export { decodePng, encodePng } from "./io/png.ts";
export { decodeNpy, encodeNpy } from "./io/npy.ts";
export { decodeTiff, encodeTiff, tiffImage } from "./io/tiff.ts";

// How good is it
export { measure, meanMetrics, type DepthMetrics, type MeasureOptions } from "./metrics/meter.ts";
export type { Comparison } from "./metrics/comparison.ts";
export * from "./metrics/depthErrors.ts";
export { boundaryF1 } from "./metrics/boundary.ts";
export { bumpiness, laplacianBumpiness } from "./metrics/bumpiness.ts";
export { invalidFocusTrend } from "./metrics/focusTrend.ts";

// Stacks made from scenes or from a picture and its depth
export { checkScene, formatScene, parseScene, SceneError, type Scene } from "./optics/scene.ts";
export { randomScene, type RandomSceneOptions } from "./optics/sceneRandom.ts";
export { renderScene, type Rendering, type RenderOptions } from "./optics/render.ts";
export { generateTextures, type TextureSet } from "./optics/texture.ts";
export { synthesize, type SynthesisOptions } from "./optics/synthesize.ts";
export { presetCamera, type CameraPreset } from "./optics/synthesizeCameras.ts";
export { circleOfConfusion, type Camera } from "./optics/thinLens.ts";
