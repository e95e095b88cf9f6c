/** The part of the public API that is the same in Node and in a browser. Pictures and files are arrays here; reading disks is Node's. */

// Pictures, stacks, depth
export { image, type Image, type StoredImage } from "./image/image.ts";
export type { Space } from "./image/depthMap.ts";
export { checkFocusDistances, choosePlanes, focalStack, selectPlanes, type FocalStack } from "./stack/focalStack.ts";
export { depthMap, type DepthMap } from "./image/depthMap.ts";
export { DualFocusError, ERRORS, type ErrorCode, type ErrorFacts, type ErrorInfo, type ErrorKind } from "./errors.ts";
export { createRandom, type Random, type RandomState } from "./random.ts";

// From a stack to depth
export type { Preference } from "./depth/allInFocus/prior.ts";
export { finishDepth, type Finishable } from "./depth/finish.ts";
export type { FilledDepth } from "./depth/fill.ts";
export { estimateDepth, type DepthEstimate, type EstimateOptions } from "./depth/estimate.ts";
export type { DepthMaps } from "./depth/maps.ts";
export type { Average, Cue, ErrorModel, NetworkFacts, TrainingRun } from "./network/facts.ts";
export type { DepthNetwork } from "./network/depthNetwork.ts";
export type { Fields, FocusProbability, PredictOptions } from "./network/focusProbability.ts";
export type { Device, Value } from "./network/session.ts";
export { alignStack, type AlignedStack, type AlignOptions } from "./align/align.ts";
export { formatAlignment, parseAlignment, type Alignment, type FrameAlignment } from "./align/alignment.ts";
export type { Gain } from "./align/exposure.ts";
export type { Similarity } from "./align/similarity.ts";
export { checkStack, inspectStack, type CheckOptions, type PlaneReport, type StackReport } from "./check/checkStack.ts";
export type { Candidate } from "./check/description.ts";
export type { PlaneOrder } from "./check/planeOrder.ts";
export type { DirectionCue } from "./check/direction.ts";
export type { Finding, FindingCode, Severity } from "./check/finding.ts";
export { laplacianDepth } from "./classical/modifiedLaplacian.ts";
export { ringDifferenceDepth, type RingDifferenceOptions, type RingShape } from "./classical/ringDifference.ts";
export type { FocusResult, PeakFit, SharpnessVolume } from "./classical/focusPeak.ts";
export type { DType, NumericArray } from "./engine/engine.ts";
export { DeviceLimitError, EngineError, ShapeError } from "./engine/errors.ts";

// Networks and their weights
export {
  configs,
  type ConfigName,
  type DfvConfig,
  type DualFocusConfig,
  type EncoderConfig,
  type NetworkConfig,
  type SurfaceConfig,
} from "./model/config.ts";
export { countMultiplyAccumulates, countParameters, initialWeights } from "./model/state.ts";
export { recordGraph, type GraphRequest, type GraphSize } from "./model/graph.ts";
export { readModel, writeModel, type Model } from "./network/weightsFile.ts";
export type { Storage, WeightArray, Weights } from "./io/safetensors.ts";

// Results as files
export {
  encodeOutputs,
  DEFAULT_OUTPUTS,
  OUTPUT_NAMES,
  type EncodeJpeg,
  type OutputFile,
  type OutputName,
  type OutputOptions,
} from "./output/outputs.ts";
export type { ColorMap } from "./output/colorMap.ts";
export type { MeshOptions } from "./output/model.ts";
export type { Deflate } from "./io/pngWriter.ts";
export type { DepthResult, DepthUnit } from "./output/result.ts";
export { FormatError } from "./io/formatError.ts";
export type { PhotoMetadata } from "./io/photoMetadata.ts";
export { decodePng, encodePng, type PngOptions } from "./io/png.ts";
export { decodeNpy, encodeNpy, type NpyArray } from "./io/npy.ts";
export { decodeTiff, encodeTiff, tiffImage, type TiffOptions, type TiffPage, type TiffValues, type WritableTiffPage } from "./io/tiff.ts";

// How good is it
export { measure, meanMetrics, type DepthMetrics, type MeasureOptions } from "./metrics/meter.ts";
export type { Comparison } from "./metrics/comparison.ts";
export * from "./metrics/depthErrors.ts";
export { boundaryF1 } from "./metrics/boundary.ts";
export { bumpiness, laplacianBumpiness, type ScharrBorder } from "./metrics/bumpiness.ts";
export { invalidFocusTrend } from "./metrics/focusTrend.ts";

// Stacks made from scenes or from a picture and its depth
export { checkScene, formatScene, parseScene, SceneError, type Scene } from "./optics/scene/scene.ts";
export { randomScene, type RandomSceneOptions } from "./optics/scene/random.ts";
export type { Theme } from "./optics/scene/themes.ts";
export { renderScene, type Rendering, type RenderOptions } from "./optics/render/render.ts";
export { generateTextures, type TextureSet } from "./optics/texture/texture.ts";
export {
  synthesize,
  type Light,
  type SynthesisKernel,
  type SynthesisOptions,
  type SynthesisRecord,
} from "./optics/synthesize/synthesize.ts";
export type { FocusProtocol } from "./optics/synthesize/focus.ts";
export type { HoleRule } from "./optics/synthesize/holes.ts";
export { presetCamera, type CameraPreset } from "./optics/synthesize/cameras.ts";
export type { Camera } from "./stack/stackFormat.ts";
export { circleOfConfusion } from "./optics/lens/thinLens.ts";
