import { Unzlib } from "fflate";
import { decoding, FormatError } from "./formatError.ts";

/** A numeric MATLAB array as MATLAB sees it: `shape` is [rows, columns, …], data column by column. */
interface MatArray {
  readonly shape: readonly number[];
  readonly data: Float64Array;
}

/** The numeric arrays of a `.mat` file of version 5 to 7. Other variables are skipped. Version 7.3 is HDF5. */
export function decodeMat(bytes: Uint8Array, file = "MAT data"): Record<string, MatArray> {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 10));
  if (head !== "MATLAB 5.0") throw new FormatError(`${file}: not a .mat file of version 5 to 7`);
  return decoding({ file, format: "MATLAB 5" }, () => decodeMat5(bytes));
}

interface Element {
  readonly type: number;
  readonly data: DataView;
  readonly next: number;
}

const [COMPRESSED, MATRIX] = [15, 14];
const NUMERIC_CLASSES = { from: 6, to: 13 }; // mxDOUBLE_CLASS … mxUINT32_CLASS

function decodeMat5(bytes: Uint8Array): Record<string, MatArray> {
  const order = String.fromCharCode(bytes[126] ?? 0, bytes[127] ?? 0);
  if (order !== "IM" && order !== "MI") throw new RangeError("the header's byte-order mark is missing");
  const little = order === "IM";
  const arrays = new Map<string, MatArray>();
  const visit = (view: DataView, from: number): void => {
    for (let at = from; at + 8 <= view.byteLength;) {
      const element = readElement(view, at, little);
      if (element.type === COMPRESSED) visit(viewOf(inflateElement(bytesOf(element.data), little)), 0);
      else if (element.type === MATRIX) {
        const named = readMatrix(element.data, little);
        if (named) arrays.set(named.name, named.array);
      }
      at = element.next;
    }
  };
  visit(viewOf(bytes), 128);
  return Object.fromEntries(arrays);
}

const MAX_DEFLATE = 1033;

/** A compressed element is one element with its tag: what comes after it, or more than its tag says, is not unpacked. */
function inflateElement(packed: Uint8Array, little: boolean): Uint8Array {
  let unpacked = new Uint8Array(0);
  let filled = 0;
  const inflate = new Unzlib((chunk) => {
    if (unpacked.length === 0 && chunk.length >= 8) {
      const claimed = viewOf(chunk).getUint32(4, little);
      if (claimed > MAX_DEFLATE * packed.length) throw new RangeError(`${claimed} bytes do not fit into ${packed.length} compressed ones`);
      unpacked = new Uint8Array(8 + claimed);
    }
    const kept = chunk.subarray(0, unpacked.length - filled);
    unpacked.set(kept, filled);
    filled += kept.length;
  });
  for (let at = 0; at < packed.length && (at === 0 || filled < unpacked.length); at += STEP)
    inflate.push(packed.subarray(at, at + STEP), at + STEP >= packed.length);
  if (filled < unpacked.length || filled === 0) throw new RangeError("a compressed variable is truncated");
  return unpacked;
}

const STEP = 1 << 12; // unpacks to 4 MB at most

/** A tag and its data; data of up to four bytes is inside the tag. */
function readElement(view: DataView, at: number, little: boolean): Element {
  const word = view.getUint32(at, little);
  const small = word >>> 16;
  const size = small > 0 ? small : view.getUint32(at + 4, little);
  const start = small > 0 ? at + 4 : at + 8;
  const type = small > 0 ? word & 0xffff : word;
  if (start + size > view.byteLength) throw new RangeError(`an element of ${size} bytes at ${at} runs past the end`);
  const data = new DataView(view.buffer, view.byteOffset + start, size);
  return { type, data, next: small > 0 ? at + 8 : start + (type === COMPRESSED ? size : Math.ceil(size / 8) * 8) };
}

function readMatrix(view: DataView, little: boolean): { name: string; array: MatArray } | undefined {
  const flags = readElement(view, 0, little);
  const arrayClass = flags.data.getUint32(0, little) & 0xff;
  if (arrayClass < NUMERIC_CLASSES.from || arrayClass > NUMERIC_CLASSES.to) return undefined;
  const dims = readElement(view, flags.next, little);
  const name = readElement(view, dims.next, little);
  const data = readNumbers(readElement(view, name.next, little), little);
  const shape = [...readNumbers(dims, little)];
  if (shape.reduce((product, size) => product * size, 1) !== data.length)
    throw new RangeError(`[${shape.join(", ")}] holds ${data.length} values`);
  return { name: new TextDecoder("latin1").decode(bytesOf(name.data)), array: { shape, data } };
}

/** The data types a numeric array may be stored in; MATLAB shrinks doubles to the smallest that holds them. */
function readNumbers({ type, data }: Element, little: boolean): Float64Array {
  const readers: Record<number, [size: number, read: (at: number) => number]> = {
    1: [1, (at) => data.getInt8(at)],
    2: [1, (at) => data.getUint8(at)],
    3: [2, (at) => data.getInt16(at, little)],
    4: [2, (at) => data.getUint16(at, little)],
    5: [4, (at) => data.getInt32(at, little)],
    6: [4, (at) => data.getUint32(at, little)],
    7: [4, (at) => data.getFloat32(at, little)],
    9: [8, (at) => data.getFloat64(at, little)],
  };
  const reader = readers[type];
  if (!reader) throw new RangeError(`data type ${type} is not supported`);
  const [size, read] = reader;
  return Float64Array.from({ length: Math.floor(data.byteLength / size) }, (_, i) => read(i * size));
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
const bytesOf = (view: DataView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
