import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import type { Tensor } from "../engine/engine.ts";
import type { TorchEngine, TorchTensor } from "../engine/torch/torchEngine.ts";
import { describeIssues } from "../errors.ts";
import { FormatError } from "../io/formatError.ts";
import {
  decodeSafetensors,
  encodeSafetensors,
  misfits,
  type RawTensor,
  type SafetensorsFile,
  type Storage,
  type Weights,
} from "../io/safetensors.ts";
import type { NetworkConfig } from "../model/config.ts";
import { stateShapes } from "../model/state.ts";
import { trainingRun, type NetworkFacts } from "../network/facts.ts";
import { readModel, writeModel, type Model } from "../network/weightsFile.ts";
import { writeAtomically } from "../system/atomicFile.ts";
import { cannotRead } from "../system/errno.ts";
import { changedSettings, checkConfig, ConfigError, type TrainConfig } from "./config.ts";
import { DivergedError } from "./loop.ts";
import { trainedFacts } from "./trainedOn.ts";
import type { Trainer } from "./trainer.ts";

/** Where the data of a run is, as absolute paths; its configuration gives only the kind. */
const trainedOn = z
  .object({
    textures: z.string().optional(),
    textureCount: z.int().optional(),
    data: z.string().optional(),
    /** The runs that led to the weights it started from. */
    before: z.array(trainingRun).readonly().optional(),
  })
  .readonly();
export type TrainedOn = z.infer<typeof trainedOn>;

const position = z.object({
  step: z.int(),
  /** Of training, over all runs so far. */
  seconds: z.number(),
  /** Checked apart: `checkConfig` does more than a schema can. */
  config: z.custom<TrainConfig>((value) => value !== undefined, "missing"),
  /** Unknown in checkpoints of older versions. */
  trainedOn: trainedOn.optional(),
});

/** The state of a run besides its tensors. Batches follow from the seed and the step, so nothing else is needed to continue. */
export type Position = Readonly<z.infer<typeof position>>;

export interface Checkpoint extends Position {
  readonly tensors: ReadonlyMap<string, RawTensor>;
  readonly file: string;
}

const KIND = "dualfocus.checkpoint";
const AVERAGES = "ema.";

/**
 * One safetensors file: `weights.*`, `ema.*`, `adam.first.*`, `adam.second.*`, and the position as metadata. Values that are not
 * finite are refused: the loss checked during training is from before the last update, and the file may replace a good one.
 */
export async function saveCheckpoint(file: string, { engine, trainer, ...position }: Position & State): Promise<void> {
  const tensors = new Map<string, RawTensor>();
  for (const [name, tensor] of checkpointTensors(trainer)) {
    const raw = toRaw(engine, tensor);
    checkValues(raw, name, position.step);
    tensors.set(name, raw);
  }
  const text = JSON.stringify(position);
  const metadata = { kind: KIND, position: text, checksum: checksum(tensors, text) };
  await writeAtomically(file, encodeSafetensors({ tensors, metadata }));
}

/** SHA-256 of everything that a run continues from: one flipped bit of a moment would go unnoticed for the rest of it. */
function checksum(tensors: ReadonlyMap<string, RawTensor>, position: string): string {
  const hash = createHash("sha256").update(position);
  for (const [name, { dtype, shape, bytes }] of [...tensors].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`\n${name} ${dtype} [${shape.join(", ")}]\n`).update(bytes);
  return hash.digest("hex");
}

interface State {
  readonly engine: TorchEngine;
  readonly trainer: Trainer;
}

/** Every tensor that training changes, by its name in the file. */
export function checkpointTensors({ tree, ema, adam }: Trainer): Map<string, Tensor> {
  const entries: [string, Tensor][] = [];
  for (const [name, tensor] of tree.state) entries.push([`weights.${name}`, tensor]);
  for (const [name, tensor] of ema.averages) entries.push([AVERAGES + name, tensor]);
  for (const [name, { first, second }] of adam.moments) entries.push([`adam.first.${name}`, first], [`adam.second.${name}`, second]);
  return new Map(entries);
}

function toRaw(engine: TorchEngine, tensor: Tensor): RawTensor {
  const { buffer, byteOffset, byteLength } = engine.read(tensor);
  return { dtype: "F32", shape: tensor.shape as readonly number[], bytes: new Uint8Array(buffer, byteOffset, byteLength) };
}

const LARGEST_HALF = 65_504;

/** All values must be finite; those of matrices and kernels also as half floats, in which they ship. */
function checkValues(tensor: RawTensor, name: string, step: number): void {
  const most = tensor.shape.length >= 2 && !name.startsWith("adam.") ? LARGEST_HALF : Number.MAX_VALUE;
  for (const value of values(tensor))
    if (!(Math.abs(value) <= most)) throw new DivergedError(`train: ${name} holds ${value} after step ${step}, which was not saved`);
}

/** The bytes of a file the user names. */
export const readInput = (file: string): Promise<Uint8Array> =>
  readFile(file).catch((cause: unknown) => Promise.reject(cannotRead(file, cause)));

/** Reads and checks a checkpoint. */
export async function readCheckpoint(file: string): Promise<Checkpoint> {
  return parseCheckpoint(decodeSafetensors(await readInput(file), file), file);
}

function parseCheckpoint({ tensors, metadata }: SafetensorsFile, file: string): Checkpoint {
  if (metadata.kind !== KIND) throw new FormatError(`${file}: holds weights, but is not a checkpoint to resume`);
  const { config, ...rest } = parsePosition(metadata.position ?? "", file);
  const { checksum: expected } = metadata; // checkpoints of older versions have none
  if (expected !== undefined && expected !== checksum(tensors, metadata.position ?? ""))
    throw new FormatError(`${file}: is damaged: its checksum does not match its contents`);
  return { ...rest, config: checkConfig(config, file), tensors, file };
}

function parsePosition(text: string, file: string): Position {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new FormatError(`${file}: its position in the run is not JSON`, { cause });
  }
  const result = position.safeParse(value);
  if (!result.success) throw new FormatError(`${file}: its position in the run is wrong: ${describeIssues(z.prettifyError(result.error))}`);
  return result.data;
}

/** Copies the tensors of a checkpoint into a trainer of the same network. With the trainer's `config`, errors name the changed settings. */
export function restoreCheckpoint(
  { tensors, file, config: before }: Checkpoint,
  { engine, trainer, config }: State & { readonly config?: TrainConfig },
): void {
  const places = checkpointTensors(trainer);
  const wrong = misfits(new Map([...places].map(([name, { shape }]) => [name, shape as readonly number[]])), tensors);
  if (wrong.length > 0) {
    const changed = config ? changedSettings(before.model, config.model, "model") : [];
    if (changed.length === 0) throw new FormatError(`${file}: belongs to another network: ${listed(wrong)}`);
    throw new ConfigError(
      `${changed.join(", ")}: cannot change in a resumed run, because the network's tensors would change: ${listed(wrong)}`,
    );
  }
  for (const [name, place] of places) engine.write(place, values(tensors.get(name) as RawTensor));
}

const MOST_LISTED = 5;

const listed = (problems: readonly string[]): string =>
  problems.length > MOST_LISTED
    ? `${problems.slice(0, MOST_LISTED).join("; ")}; and ${problems.length - MOST_LISTED} more`
    : problems.join("; ");

/** Throws unless the weights of `file` fit this network. */
export function checkInitial(weights: Weights, model: NetworkConfig, file: string): void {
  const wrong = misfits(stateShapes(model), weights);
  if (wrong.length > 0) throw new FormatError(`${file}: holds weights of a different network than the one to train: ${listed(wrong)}`);
}

/** Weights to start another run from: a weights file, or the averaged weights of a checkpoint. */
export async function readInitial(file: string): Promise<Model> {
  const bytes = await readInput(file);
  const decoded = decodeSafetensors(bytes, file);
  if (decoded.metadata.kind !== KIND) return readModel(bytes, file);
  const { tensors, ...checkpoint } = parseCheckpoint(decoded, file);
  const averages = [...tensors].filter(([name]) => name.startsWith(AVERAGES));
  const weights = new Map(averages.map(([name, raw]) => [name.slice(AVERAGES.length), { shape: raw.shape, data: values(raw) }]));
  return { config: checkpoint.config.model, weights, facts: trainedFacts(checkpoint) };
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
  readonly facts?: NetworkFacts;
}

/** What ships: the weights alone, as the network reads them. */
export async function exportWeights(file: string, { model, weights, storage, facts = {} }: ExportOptions): Promise<void> {
  await writeAtomically(file, writeModel({ config: model, weights, facts }, { storage }));
}
