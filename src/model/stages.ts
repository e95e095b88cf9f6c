import { over, symbol, times, type Dim } from "../engine/dims.ts";
import type { Tensor } from "../engine/engine.ts";
import { createOnnxEngine, type OnnxEngine } from "../engine/onnx/onnxEngine.ts";
import { checkWeights } from "../io/safetensors.ts";
import { createParameters } from "../nn/module.ts";
import type { DualFocusConfig } from "./config.ts";
import { DualFocus } from "./dualFocus.ts";
import { SIZE_MULTIPLE } from "./encoder.ts";
import { focusProbability } from "./focusHead.ts";
import { augmentFocusVolume } from "./focusVolume.ts";
import type { GraphRequest, GraphSize } from "./graph.ts";
import { stateShapes } from "./state.ts";
import { batchToPlanes, planeSize, planesToBatch } from "./volume.ts";

/**
 * The network split so that tiles of an image give the same result as the whole. Two parts of it see the whole image, the surface z* and the
 * widest pooling of the encoder, and both need only the trunk's features at 1/32:
 *
 *     trunk     images, tile by tile        → features at 1/4 … 1/32
 *     context   1/32, the whole image       → the same with the image's context, and V at 1/32
 *     pyramid   features, tile by tile      → V at 1/16, 1/8, 1/4
 *     surface   V at 1/32, the whole        → the decoder's coarsest stream on the surface's grid (Γ, z*, eqs. 2–3)
 *     decode    V and stream, tile by tile  → p; the stream enters at 1/16, and the images too if the decoder looks at them
 *
 * All but the last two process one plane at a time, so that a plane is encoded once for all windows over the planes.
 */
export const STAGE_NAMES = ["trunk", "context", "pyramid", "surface", "decode"] as const;
export type StageName = (typeof STAGE_NAMES)[number];

type TileSize = Required<Pick<GraphSize, "height" | "width">>;

export interface StagesRequest extends Pick<GraphRequest, "config" | "weights" | "forCpu"> {
  /** Number of planes for `surface` and `decode`; default: any. */
  readonly planes?: number | undefined;
  /** Size of the tiles for `decode`, padded; default: any. */
  readonly tile?: TileSize | undefined;
}

/** The graph of each stage. Axes: plane, channel, row, column; `decode` gives `probability` [N, H, W]. */
export function recordStages({ config, weights, planes, tile, forCpu = false }: StagesRequest): Record<StageName, Uint8Array> {
  if (config.kind !== "dualfocus")
    throw new Error(`recordStages: ${config.kind} pools over parts of the image in every stage; it cannot be split`);
  checkWeights(stateShapes(config), weights);
  const record = (stage: Stage): Uint8Array => {
    const engine = createOnnxEngine({ planeByPlane: forCpu });
    const network = new DualFocus(createParameters(engine, { weights }).source, config);
    return engine.finish({ outputs: stage({ engine, network, config, planes: planes ?? N, tile }) });
  };
  return { trunk: record(trunk), context: record(context), pyramid: record(pyramid), surface: record(surface), decode: record(decode) };
}

interface Recording {
  readonly engine: OnnxEngine;
  readonly network: DualFocus;
  readonly config: DualFocusConfig;
  readonly planes: Dim;
  readonly tile: TileSize | undefined;
}

type Stage = (recording: Recording) => Record<string, Tensor>;

const [N, h, w] = [symbol("N"), symbol("h"), symbol("w")];

function trunk({ engine, network }: Recording): Record<string, Tensor> {
  const multipleOf = { H: SIZE_MULTIPLE, W: SIZE_MULTIPLE };
  const images = engine.input("images", [N, 3, symbol("H"), symbol("W")], { multipleOf });
  return { ...network.encoder.features(images) };
}

function context({ engine, network, config }: Recording): Record<string, Tensor> {
  const features = engine.input("features", [N, config.encoder.widths[3], h, w]);
  const pooled = network.encoder.context(features);
  return { pooled, volume: network.encoder.pyramid.projections[3].forward(pooled) };
}

function pyramid({ engine, network, config }: Recording): Record<string, Tensor> {
  const [quarter, eighth, sixteenth, thirtySecond] = config.encoder.widths.map((channels, scale) => ({ channels, factor: 8 >> scale })) as [Scale, Scale, Scale, Scale]; // prettier-ignore
  const input = scaleInput(engine, N);
  const features = {
    thirtySecond: input("pooled", thirtySecond), // first: it determines the sizes of the others
    sixteenth: input("sixteenth", sixteenth),
    eighth: input("eighth", eighth),
    quarter: input("quarter", quarter),
  };
  const volumes = network.encoder.pyramid.forward(features);
  return { volume16: volumes.sixteenth, volume8: volumes.eighth, volume4: volumes.quarter };
}

function surface({ engine, network, config, planes }: Recording): Record<string, Tensor> {
  const volume = batchToPlanes(engine.input("volume", [planes, config.encoder.out[3], h, w]), { B: 1, N: planes });
  const { features } = network.variational.forward(augmentFocusVolume(volume));
  return { coarse: planesToBatch(features) };
}

function decode({ engine, network, config, planes, tile }: Recording): Record<string, Tensor> {
  const input = scaleInput(engine, planes, tile && [over(tile.height, 16), over(tile.width, 16)]);
  const volume = (name: string, scale: 0 | 1 | 2): Tensor =>
    augmentFocusVolume(batchToPlanes(input(name, { channels: config.encoder.out[scale], factor: 4 >> scale }), { B: 1, N: planes }));
  const [sixteenth, eighth, quarter] = [volume("volume16", 2), volume("volume8", 1), volume("volume4", 0)];
  const coarse = batchToPlanes(input("coarse", { channels: config.coarse, factor: 1 }), { B: 1, N: planes });
  const images = network.decoder.seesImages ? input("images", { channels: 3, factor: 16 }) : undefined;
  const logits = network.decoder.forward({ volumes: { sixteenth, eighth, quarter }, coarse, images: images?.unsqueeze(0) });
  const [rows, columns] = planeSize(quarter);
  const p = focusProbability(logits, [times(rows, 4), times(columns, 4)]);
  return { probability: p.squeeze(0) };
}

interface Scale {
  readonly channels: number;
  /** Its size in cells of the coarsest input. */
  readonly factor: number;
}

const scaleInput =
  (engine: OnnxEngine, planes: Dim, [rows, columns]: readonly [Dim, Dim] = [h, w]) =>
  (name: string, { channels, factor }: Scale): Tensor =>
    engine.input(name, [planes, channels, times(rows, factor), times(columns, factor)]);
