import { readFile } from "node:fs/promises";
import type { Tensor } from "../engine/engine.ts";
import type { TorchEngine, TorchTensor } from "../engine/torch.ts";
import { FormatError } from "../io/formatError.ts";
import { decodeSafetensors, encodeSafetensors, type RawTensor, type Storage, type Weights } from "../io/safetensors.ts";
import type { NetworkConfig } from "../model/config.ts";
import { writeModel } from "../model/weightsFile.ts";
import { writeAtomically } from "./atomicFile.ts";
import { checkConfig, type TrainConfig } from "./config.ts";
import type { Trainer } from "./trainer.ts";

/** Where a run stands. Batches follow from the seed and the step, so this and the tensors are all there is to continue from. */
export interface Position {
  readonly step: number;
  /** Of training, over all runs so far. */
  readonly seconds: number;
  readonly config: TrainConfig;
}

export interface Checkpoint extends Position {
  readonly tensors: ReadonlyMap<string, RawTensor>;
  readonly file: string;
}

const KIND = "dualfocus.checkpoint";

/** One safetensors file: `weights.*`, `ema.*`, `adam.first.*`, `adam.second.*`, and the position as metadata. */
export async function saveCheckpoint(file: string, { engine, trainer, ...position }: Position & State): Promise<void> {
  const tensors = new Map<string, RawTensor>();
  for (const [name, tensor] of checkpointTensors(trainer)) tensors.set(name, toRaw(engine, tensor));
  const metadata = { kind: KIND, position: JSON.stringify(position) };
  await writeAtomically(file, encodeSafetensors({ tensors, metadata }));
}

interface State {
  readonly engine: TorchEngine;
  readonly trainer: Trainer;
}

/** Every tensor that changes while training, by its name in the file. */
export function checkpointTensors({ tree, ema, adam }: Trainer): Map<string, Tensor> {
  const entries: [string, Tensor][] = [];
  for (const [name, tensor] of tree.state) entries.push([`weights.${name}`, tensor]);
  for (const [name, tensor] of ema.averages) entries.push([`ema.${name}`, tensor]);
  for (const [name, { first, second }] of adam.moments) entries.push([`adam.first.${name}`, first], [`adam.second.${name}`, second]);
  return new Map(entries);
}

function toRaw(engine: TorchEngine, tensor: Tensor): RawTensor {
  const { buffer, byteOffset, byteLength } = engine.read(tensor);
  return { dtype: "F32", shape: tensor.shape as readonly number[], bytes: new Uint8Array(buffer, byteOffset, byteLength) };
}

/** Reads and checks a checkpoint; says what is wrong with a file that is none. */
export async function readCheckpoint(file: string): Promise<Checkpoint> {
  const { tensors, metadata } = decodeSafetensors(await readFile(file), file);
  if (metadata.kind !== KIND) throw new FormatError(`${file}: holds weights, but is no checkpoint to resume; start from it with --init`);
  const position = parsePosition(metadata.position ?? "", file);
  return { ...position, config: checkConfig(position.config, file), tensors, file };
}

function parsePosition(text: string, file: string): Position {
  let value: Partial<Position>;
  try {
    value = JSON.parse(text) as Partial<Position>;
  } catch (cause) {
    throw new FormatError(`${file}: its position is no JSON`, { cause });
  }
  const { step, seconds, config } = value;
  if (!Number.isSafeInteger(step) || !Number.isFinite(seconds) || config === undefined)
    throw new FormatError(`${file}: its position lacks step, seconds or config`);
  return { step: step as number, seconds: seconds as number, config };
}

/** Puts the tensors of a checkpoint into a trainer of the same network. */
export function restoreCheckpoint({ tensors, file }: Checkpoint, { engine, trainer }: State): void {
  const places = checkpointTensors(trainer);
  const missing = [...places.keys()].filter((name) => !tensors.has(name));
  const extra = [...tensors.keys()].filter((name) => !places.has(name));
  const wrong = missing[0] ?? extra[0];
  if (wrong !== undefined)
    throw new FormatError(`${file}: is of another network: ${wrong} is ${missing.length > 0 ? "missing" : "too many"}`);
  for (const [name, place] of places) engine.write(place, values(tensors.get(name) as RawTensor));
}

function values({ bytes }: RawTensor): Float32Array {
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Float32Array(buffer, byteOffset, length / 4);
}

/** The averaged weights of a trainer, on the host. */
export function averagedWeights(engine: TorchEngine, averages: ReadonlyMap<string, TorchTensor>): Weights {
  return new Map([...averages].map(([name, tensor]) => [name, { shape: tensor.shape, data: engine.read(tensor) as Float32Array }]));
}

export interface ExportOptions {
  readonly model: NetworkConfig;
  readonly weights: Weights;
  readonly storage: Storage;
  /** How it was trained, for whoever opens the file. */
  readonly notes?: Readonly<Record<string, string>>;
}

/** What ships: the weights alone, as the network reads them. */
export async function exportWeights(file: string, { model, weights, storage, notes = {} }: ExportOptions): Promise<void> {
  await writeAtomically(file, writeModel({ config: model, weights, metadata: notes }, { storage }));
}
