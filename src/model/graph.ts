import { symbol } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { createOnnxEngine, type GraphOptions } from "../engine/onnx/onnxEngine.ts";
import { checkWeights, type Weights } from "../io/safetensors.ts";
import { createParameters } from "../nn/module.ts";
import type { NetworkConfig } from "./config.ts";
import { SIZE_MULTIPLE } from "./encoder.ts";
import { depthSpread, expectedDepth } from "./focusHead.ts";
import { createNetwork, type Prediction } from "./network.ts";
import { stateShapes } from "./state.ts";

/** Sizes a graph is recorded for; those left out are free when the graph runs. */
export interface GraphSize {
  readonly batch?: number;
  readonly planes?: number;
  readonly height?: number;
  readonly width?: number;
}

export interface GraphRequest extends Pick<GraphOptions, "storage" | "metadata"> {
  readonly config: NetworkConfig;
  readonly weights: Weights;
  readonly size?: GraphSize;
  /** Arrange the graph for ONNX Runtime on a CPU; the number of planes must be fixed by `size`. */
  readonly forCpu?: boolean;
  /** How `depth` averages focus distances in metres (eq. 6): as they are (default), or in dioptres, D̂ = 1 / Σ p/f. */
  readonly average?: "metres" | "dioptres";
  /** Also output Γ, z* and θ_grad(z*), for the paper's figures. */
  readonly fields?: boolean;
}

/** Outputs for the paper's figures: Γ, z* and θ_grad(z*). */
export const FIELD_NAMES = ["gradientX", "gradientY", "surface", "surfaceGradientX", "surfaceGradientY"] as const;

/**
 * The network as the bytes of an ONNX model. Inputs `images` [B, N, 3, H, W] in [0, 1] and `focusDistances` [B, N]; outputs `depth`
 * [B, 1, H, W], `probability` [B, N, H, W] and `spread` [B, 1, H, W] (and, with `fields`, those of
 * `FIELD_NAMES`). DFV's pooling windows depend on N, H and W, so its graph needs all three fixed.
 */
export function recordGraph(request: GraphRequest): Uint8Array {
  const { config, weights, size = {}, forCpu = false, fields = false, average = "metres", ...options } = request;
  const engine = createOnnxEngine({ planeByPlane: forCpu });
  checkWeights(stateShapes(config), weights);
  const network = createNetwork(createParameters(engine, { weights }).source, config);
  const [B, N] = [size.batch ?? symbol("B"), size.planes ?? symbol("N")];
  const [H, W] = [size.height ?? symbol("H"), size.width ?? symbol("W")];
  const multipleOf = {
    ...(typeof H === "number" ? {} : { H: SIZE_MULTIPLE }),
    ...(typeof W === "number" ? {} : { W: SIZE_MULTIPLE }),
  };
  const images = engine.input("images", [B, N, 3, H, W], { multipleOf });
  const focusDistances = engine.input("focusDistances", [B, N]);
  const prediction = network.forward({ images, focusDistances });
  const { focusProbability } = prediction;
  const inDioptres = (): Tensor => expectedDepth({ focusProbability, focusDistances: focusDistances.pow(-1) }).pow(-1);
  const depth = average === "dioptres" ? inDioptres() : prediction.depth;
  const spread = depthSpread({ focusProbability, focusDistances });
  return engine.finish({
    outputs: { depth, probability: focusProbability, spread, ...(fields ? spatialOutputs(prediction) : {}) },
    ...options,
  });
}

function spatialOutputs({ spatial }: Prediction): Record<(typeof FIELD_NAMES)[number], Tensor> {
  if (!spatial) throw new Error("recordGraph: this network has no spatial constraint, so it has no Γ and z*");
  const { gradientField, surface, surfaceGradient } = spatial;
  return {
    gradientX: gradientField.x,
    gradientY: gradientField.y,
    surface,
    surfaceGradientX: surfaceGradient.x,
    surfaceGradientY: surfaceGradient.y,
  };
}
