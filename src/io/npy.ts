import { halfToFloat } from "./halfFloat.ts";
import { FormatError } from "./formatError.ts";

/** A NumPy array, C order. `f2` is widened to Float32Array; every other type keeps its own. */
export interface NpyArray {
  readonly shape: readonly number[];
  readonly data: Float32Array | Float64Array | Uint8Array | Uint16Array | Int32Array;
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59] as const; // "\x93NUMPY"

/** Reads `.npy` version 1 to 3 with elements f2, f4, f8, u1, u2 or i4, either byte order. */
export function decodeNpy(bytes: Uint8Array, file = "NPY data"): NpyArray {
  const { descriptor, shape, start } = readHeader(bytes, file);
  const type = descriptor.slice(1);
  const little = !descriptor.startsWith(">");
  const size = Number(type.slice(1));
  const count = shape.reduce((product, length) => product * length, 1);
  if (bytes.length - start !== count * size) {
    const expected = `[${shape.join(", ")}] of ${descriptor} needs ${count * size} bytes`;
    throw new FormatError(`${file}: truncated or wrong .npy file: ${expected}, got ${bytes.length - start}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, count * size);
  const fill = <T extends NpyArray["data"]>(data: T, at: (offset: number) => number): T => {
    for (let i = 0; i < count; i++) data[i] = at(i * size);
    return data;
  };
  const read = {
    f2: () => halfToFloat(fill(new Uint16Array(count), (offset) => view.getUint16(offset, little))),
    f4: () => fill(new Float32Array(count), (offset) => view.getFloat32(offset, little)),
    f8: () => fill(new Float64Array(count), (offset) => view.getFloat64(offset, little)),
    u1: () => new Uint8Array(bytes.slice(start)),
    u2: () => fill(new Uint16Array(count), (offset) => view.getUint16(offset, little)),
    i4: () => fill(new Int32Array(count), (offset) => view.getInt32(offset, little)),
  }[type];
  if (!read) throw new FormatError(`${file}: .npy elements of type ${descriptor} are not supported; use f2, f4, f8, u1, u2 or i4`);
  return { shape, data: read() };
}

/** Writes little-endian float32, version 1. */
export function encodeNpy({ shape, data }: { readonly shape: readonly number[]; readonly data: Float32Array }): Uint8Array {
  const count = shape.reduce((product, length) => product * length, 1);
  if (data.length !== count) throw new RangeError(`encodeNpy: [${shape.join(", ")}] needs ${count} values, got ${data.length}`);
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': ${tuple}, }`;
  const padded = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + "\n"; // data starts at a multiple of 64
  const bytes = new Uint8Array(10 + padded.length + 4 * count);
  const view = new DataView(bytes.buffer);
  bytes.set([...MAGIC, 1, 0]);
  view.setUint16(8, padded.length, true);
  bytes.set(new TextEncoder().encode(padded), 10);
  for (let i = 0; i < count; i++) view.setFloat32(10 + padded.length + 4 * i, data[i] as number, true);
  return bytes;
}

function readHeader(bytes: Uint8Array, file: string): { descriptor: string; shape: number[]; start: number } {
  if (bytes.length < 12 || MAGIC.some((byte, i) => bytes[i] !== byte)) throw new FormatError(`${file}: not a .npy file`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const long = (bytes[6] as number) >= 2;
  const length = long ? view.getUint32(8, true) : view.getUint16(8, true);
  const start = (long ? 12 : 10) + length;
  const text = new TextDecoder("latin1").decode(bytes.subarray(start - length, start));
  const descriptor = /'descr':\s*'([<>|=][a-z]\d+)'/.exec(text)?.[1];
  const shape = /'shape':\s*\(([\d,\s]*)\)/.exec(text)?.[1];
  if (start > bytes.length || descriptor === undefined || shape === undefined)
    throw new FormatError(`${file}: truncated or wrong .npy header`);
  if (/'fortran_order':\s*True/.test(text))
    throw new FormatError(`${file}: the array is in Fortran order; save it with numpy.ascontiguousarray`);
  return { descriptor, start, shape: shape.split(",").flatMap((part) => (part.trim() === "" ? [] : [Number(part)])) };
}
