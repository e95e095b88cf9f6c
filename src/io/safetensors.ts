import { bfloatToFloat, floatToHalf, halfToFloat } from "./halfFloat.ts";
import { FormatError } from "./formatError.ts";

/** Element types of the format and their bytes. */
const ELEMENT_BYTES = { F64: 8, I64: 8, F32: 4, I32: 4, F16: 2, BF16: 2, I8: 1, U8: 1, BOOL: 1 } as const;

type ElementType = keyof typeof ELEMENT_BYTES;

/** A tensor as stored in the file: little-endian, row-major. */
export interface RawTensor {
  readonly dtype: ElementType;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

export interface SafetensorsFile {
  readonly tensors: ReadonlyMap<string, RawTensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface WeightArray {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

export type Weights = ReadonlyMap<string, WeightArray>;

/** Named tensors as bytes of a `.safetensors` file: the header's length, the header as JSON, the data end to end. */
export function encodeSafetensors({ tensors, metadata }: SafetensorsFile): Uint8Array {
  // Wide elements first, so that every tensor starts at a multiple of its element size.
  const sorted = [...tensors].sort(([a, x], [b, y]) => ELEMENT_BYTES[y.dtype] - ELEMENT_BYTES[x.dtype] || (a < b ? -1 : 1));
  const header: Record<string, unknown> = Object.keys(metadata).length > 0 ? { __metadata__: metadata } : {};
  let end = 0;
  for (const [name, { dtype, shape, bytes }] of sorted) {
    const needed = elements(shape) * ELEMENT_BYTES[dtype];
    if (bytes.length !== needed)
      throw new RangeError(`encodeSafetensors: ${name} [${shape.join(", ")}] of ${dtype} needs ${needed} bytes, got ${bytes.length}`);
    header[name] = { dtype, shape, data_offsets: [end, end + needed] };
    end += needed;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil(text.length / 8) * 8;
  const file = new Uint8Array(8 + length + end).fill(0x20, 8, 8 + length); // the header is padded with spaces
  new DataView(file.buffer).setBigUint64(0, BigInt(length), true);
  file.set(text, 8);
  let offset = 8 + length;
  for (const [, { bytes }] of sorted) {
    file.set(bytes, offset);
    offset += bytes.length;
  }
  return file;
}

/** The tensors of a file, as views of `bytes`. Refuses a file that is truncated, has gaps or overlaps, or contains unknown types. */
export function decodeSafetensors(bytes: Uint8Array, file = "weights"): SafetensorsFile {
  const { header, data } = splitHeader(bytes, file);
  const { __metadata__: metadata = {}, ...entries } = header;
  if (!isRecord(metadata) || Object.values(metadata).some((value) => typeof value !== "string"))
    throw new FormatError(`${file}: __metadata__ must contain only strings`);
  const placed = Object.entries(entries).map(([name, entry]) => readEntry(name, entry, { data, file }));
  let end = 0;
  for (const { name, start, tensor } of placed.sort((a, b) => a.start - b.start || a.tensor.bytes.length - b.tensor.bytes.length)) {
    if (start !== end)
      throw new FormatError(`${file}: ${name} starts at ${start}, ${start < end ? "inside another tensor" : "after a gap"}`);
    end += tensor.bytes.length;
  }
  if (end !== data.length) throw new FormatError(`${file}: ${data.length - end} bytes after the last tensor`);
  return { tensors: new Map(placed.map(({ name, tensor }) => [name, tensor])), metadata: metadata as Record<string, string> };
}

const LARGEST_HEADER = 100_000_000; // the format's own limit

function splitHeader(bytes: Uint8Array, file: string): { header: Record<string, unknown>; data: Uint8Array } {
  if (bytes.length < 8) throw new FormatError(`${file}: not a .safetensors file: it has only ${bytes.length} bytes`);
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (length > LARGEST_HEADER) throw new FormatError(`${file}: not a .safetensors file: a header of ${length} bytes is too large`);
  if (8 + length > bytes.length)
    throw new FormatError(`${file}: truncated: the header takes ${length} bytes, the file has ${bytes.length}`);
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(8, 8 + length)));
  } catch (cause) {
    throw new FormatError(`${file}: not a .safetensors file: its header is not JSON`, { cause });
  }
  if (!isRecord(header)) throw new FormatError(`${file}: not a .safetensors file: its header is not a JSON object`);
  return { header, data: bytes.subarray(8 + length) };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const isSizes = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && (size as number) >= 0);

const elements = (shape: readonly number[]): number => shape.reduce((product, length) => product * length, 1);

function readEntry(
  name: string,
  entry: unknown,
  { data, file }: { readonly data: Uint8Array; readonly file: string },
): { name: string; start: number; tensor: RawTensor } {
  if (!isRecord(entry)) throw new FormatError(`${file}: the entry of ${name} is not a JSON object`);
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== "string" || !Object.hasOwn(ELEMENT_BYTES, dtype))
    throw new FormatError(
      `${file}: ${name} has elements of type ${typeof dtype === "string" ? dtype : "unknown"}; known are ${Object.keys(ELEMENT_BYTES).join(", ")}`,
    );
  const [start, end] = isSizes(offsets) ? offsets : [];
  if (!isSizes(shape) || start === undefined || end === undefined)
    throw new FormatError(`${file}: ${name} has a wrong shape or wrong offsets`);
  const needed = elements(shape) * ELEMENT_BYTES[dtype as ElementType];
  if (end - start !== needed)
    throw new FormatError(`${file}: ${name} [${shape.join(", ")}] of ${dtype} needs ${needed} bytes, its offsets hold ${end - start}`);
  if (end > data.length) throw new FormatError(`${file}: truncated: ${name} ends at ${end}, the data at ${data.length}`);
  return { name, start, tensor: { dtype: dtype as ElementType, shape, bytes: data.subarray(start, end) } };
}

export type Storage = "f32" | "f16" | "int8";

const SCALE_SUFFIX = ".scale";
const INT8_KEY = "dualfocus.int8"; // metadata: JSON list of the tensors stored as whole numbers × scale

/**
 * Tensors below this share of all values stay f16 in int8 files: the small layers, mostly early and late ones, together a twentieth of `base`.
 * In int8 they alone cost the exactness of blur: models/README.md, storage.
 */
const FEW_VALUES = 1 / 150;

/**
 * A network's weights as a file. `f16` and `int8` shrink the tensors with two axes or more; norms, biases and running
 * statistics stay f32. `int8` keeps q and a scale per output channel (axis 0) of the large tensors: w ≈ q · scale, q ∈ [−127, 127].
 */
export function writeWeights(
  weights: Weights,
  { storage = "f32", metadata = {} }: { readonly storage?: Storage; readonly metadata?: Readonly<Record<string, string>> } = {},
): Uint8Array {
  const tensors = new Map<string, RawTensor>();
  const quantised: string[] = [];
  const few = FEW_VALUES * [...weights.values()].reduce((sum, { data }) => sum + data.length, 0);
  for (const [name, { shape, data }] of weights) {
    if (data.length !== elements(shape)) throw new RangeError(`writeWeights: ${name} [${shape.join(", ")}] has ${data.length} values`);
    if (storage === "f32" || shape.length < 2) tensors.set(name, { dtype: "F32", shape, bytes: bytesOf(data) });
    else if (storage === "f16" || data.length < few) tensors.set(name, { dtype: "F16", shape, bytes: bytesOf(floatToHalf(data)) });
    else {
      if (weights.has(name + SCALE_SUFFIX))
        throw new RangeError(`writeWeights: ${name}${SCALE_SUFFIX} is the name of the scale of ${name}`);
      const { values, scale } = quantise(data, shape[0] as number);
      tensors.set(name, { dtype: "I8", shape, bytes: bytesOf(values) });
      tensors.set(name + SCALE_SUFFIX, { dtype: "F32", shape: [scale.length], bytes: bytesOf(scale) });
      quantised.push(name);
    }
  }
  const notes = quantised.length > 0 ? { ...metadata, [INT8_KEY]: JSON.stringify(quantised) } : metadata;
  return encodeSafetensors({ tensors, metadata: notes });
}

/** The weights in f32, whatever they are stored as. f32 weights are views of `bytes` where they lie aligned. */
export function readWeights(bytes: Uint8Array, file = "weights"): Map<string, WeightArray> {
  const { tensors, metadata } = decodeSafetensors(bytes, file);
  const quantised = new Set(quantisedNames(metadata, file));
  const scales = new Set([...quantised].map((name) => name + SCALE_SUFFIX));
  const weights = new Map<string, WeightArray>();
  for (const [name, tensor] of tensors) {
    if (scales.has(name)) continue;
    const { shape } = tensor;
    const data = quantised.has(name) ? dequantise(name, { tensors, file }) : toFloat(name, tensor, file);
    weights.set(name, { shape, data });
  }
  return weights;
}

/** The metadata that the writer stored, such as the network's configuration. */
export function readMetadata(bytes: Uint8Array, file = "weights"): Readonly<Record<string, string>> {
  const { metadata } = decodeSafetensors(bytes, file);
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => key !== INT8_KEY));
}

/** Throws unless `found` holds exactly the expected tensors; the message names each that is missing, extra or of another shape. */
export function checkWeights(expected: ReadonlyMap<string, readonly number[]>, found: Weights, file = "weights"): void {
  const problems = misfits(expected, found);
  if (problems.length > 0) throw new FormatError(`${file}: these are weights of another network: ${problems.join("; ")}`);
}

/** How the tensors differ from these names and shapes, one sentence each. */
export function misfits(
  expected: ReadonlyMap<string, readonly number[]>,
  found: ReadonlyMap<string, { readonly shape: readonly number[] }>,
): string[] {
  const format = (shape: readonly number[]): string => `[${shape.join(", ")}]`;
  const problems = [...expected].flatMap(([name, shape]) => {
    const tensor = found.get(name);
    if (!tensor) return [`${name} ${format(shape)} is missing`];
    return format(tensor.shape) === format(shape) ? [] : [`${name} is ${format(tensor.shape)}, not ${format(shape)}`];
  });
  for (const name of found.keys()) if (!expected.has(name)) problems.push(`${name} is not a tensor of this network`);
  return problems;
}

function bytesOf(data: ArrayBufferView): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** Whole numbers × a scale per row: the row's largest magnitude becomes 127. */
function quantise(data: Float32Array, rows: number): { values: Int8Array; scale: Float32Array } {
  const values = new Int8Array(data.length);
  const scale = new Float32Array(rows);
  const length = data.length / rows;
  for (let row = 0; row < rows; row++) {
    const weights = data.subarray(row * length, (row + 1) * length);
    let largest = 0;
    for (const weight of weights) largest = Math.max(largest, Math.abs(weight));
    scale[row] = largest / 127;
    const step = scale[row] || 1;
    for (let i = 0; i < length; i++) values[row * length + i] = Math.round((weights[i] as number) / step);
  }
  return { values, scale };
}

function dequantise(
  name: string,
  { tensors, file }: { readonly tensors: SafetensorsFile["tensors"]; readonly file: string },
): Float32Array {
  const [whole, scales] = [tensors.get(name), tensors.get(name + SCALE_SUFFIX)];
  const rows = whole?.shape[0] ?? 0;
  if (whole?.dtype !== "I8" || scales?.dtype !== "F32" || scales.shape.length !== 1 || scales.shape[0] !== rows)
    throw new FormatError(`${file}: ${name} should be I8 with an F32 ${name}${SCALE_SUFFIX} of ${rows} values`);
  const scale = toFloat(name + SCALE_SUFFIX, scales, file);
  const values = new Int8Array(whole.bytes.buffer, whole.bytes.byteOffset, whole.bytes.length);
  const data = new Float32Array(values.length);
  const length = values.length / rows;
  for (let row = 0; row < rows; row++) {
    const step = scale[row] as number;
    for (let i = row * length; i < (row + 1) * length; i++) data[i] = (values[i] as number) * step;
  }
  return data;
}

function quantisedNames(metadata: Readonly<Record<string, string>>, file: string): string[] {
  try {
    const names: unknown = JSON.parse(metadata[INT8_KEY] ?? "[]");
    if (Array.isArray(names)) return names.map(String);
  } catch {
    // falls through to the same error
  }
  throw new FormatError(`${file}: the metadata entry ${INT8_KEY} is not a JSON list of names`);
}

function toFloat(name: string, { dtype, bytes }: RawTensor, file: string): Float32Array {
  const width = ELEMENT_BYTES[dtype];
  const { buffer, byteOffset, length } = bytes.byteOffset % width === 0 ? bytes : bytes.slice();
  const count = length / width;
  switch (dtype) {
    case "F32":
      return new Float32Array(buffer, byteOffset, count);
    case "F16":
      return halfToFloat(new Uint16Array(buffer, byteOffset, count));
    case "BF16":
      return bfloatToFloat(new Uint16Array(buffer, byteOffset, count));
    case "F64":
      return Float32Array.from(new Float64Array(buffer, byteOffset, count));
    case "I64":
      return Float32Array.from(new BigInt64Array(buffer, byteOffset, count), Number);
    case "I32":
    case "I8":
    case "U8":
    case "BOOL":
      throw new FormatError(`${file}: ${name} is stored as ${dtype}, which is not a type for weights; use F32, F16, BF16 or F64`);
  }
}
