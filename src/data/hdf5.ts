import { statSync } from "node:fs";
import type { File as H5File } from "h5wasm";
import { decoding, FormatError } from "../io/formatError.ts";

type Hdf5Values = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array;

/** Half-open index range of each axis; omitted axes are read in full. */
type Hdf5Ranges = readonly (readonly [from: number, to: number])[];

/** An open HDF5 file. Reads only the requested slices. */
export interface Hdf5File {
  readonly file: string;
  has(dataset: string): boolean;
  shape(dataset: string): readonly number[];
  read(dataset: string, ranges?: Hdf5Ranges): Hdf5Values;
  close(): void;
}

/** Also MATLAB 7.3, which is HDF5 after a block of text. */
export const isHdf5 = (bytes: Uint8Array): boolean =>
  /^(MATLAB 7\.3|\x89HDF)/.test(new TextDecoder("latin1").decode(bytes.subarray(0, 10)));

/** Runs a call of the library. Of the trace it throws, only the innermost reason is reported: "file signature not found". */
function readingHdf5<T>(file: string, read: () => T): T {
  return decoding({ file, format: "HDF5" }, () => {
    try {
      return read();
    } catch (cause) {
      const trace = cause instanceof Error ? cause.message : String(cause);
      const reason = [...trace.matchAll(/ in \w+\(\): (.+)/g)].at(-1)?.[1];
      throw reason === undefined ? cause : new Error(reason, { cause });
    }
  });
}

/** Opens a file on disk; slices are read from the disk on demand, however large the file. */
export async function openHdf5(file: string): Promise<Hdf5File> {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) throw new FormatError(`${file}: there is no such file`);
  const { default: h5wasm } = await import("h5wasm/node"); // WebAssembly; loaded only when HDF5 is read
  const module = await h5wasm.ready;
  module.activate_throwing_error_handler();
  return readingHdf5(file, () => wrapHdf5(new h5wasm.File(file, "r"), { file, bytes: stats.size }));
}

/** A higher compression ratio than this means a damaged shape: what was never written is read as zeros. */
const MAX_RATIO = 5000;

function wrapHdf5(handle: H5File, { file, bytes }: { readonly file: string; readonly bytes: number }): Hdf5File {
  if (handle.file_id < 0n) throw new FormatError(`${file}: not a readable HDF5 file`);
  const names = (): string[] => readingHdf5(file, () => handle.keys());
  const dataset = (name: string): { shape: number[]; slice: (ranges: [number, number][]) => unknown } => {
    const entity = readingHdf5(file, () => (names().includes(name) ? handle.get(name) : null));
    if (!entity || !("slice" in entity) || !entity.shape) {
      const present = names().join(", ");
      throw new FormatError(`${file}: there is no dataset "${name}"; the file has ${present || "nothing"}`);
    }
    return { shape: entity.shape, slice: (ranges) => entity.slice(ranges) };
  };
  return {
    file,
    has: (name) => names().includes(name),
    shape: (name) => dataset(name).shape,
    read: (name, ranges = []) => {
      const { shape, slice } = dataset(name);
      const bad = ranges.findIndex(([from, to], axis) => !(from >= 0 && from < to && to <= (shape[axis] ?? 0)));
      if (bad >= 0)
        throw new RangeError(`${file}: "${name}" is [${shape.join(", ")}]; range ${String(ranges[bad])} of axis ${bad} is outside`);
      const full = shape.map((size, axis): [number, number] => [...(ranges[axis] ?? [0, size])] as [number, number]);
      const count = full.reduce((product, [from, to]) => product * (to - from), 1);
      if (count > MAX_RATIO * bytes)
        throw new FormatError(`${file}: "${name}" claims ${count} values [${shape.join(", ")}], the file has ${bytes} bytes`);
      const values = readingHdf5(file, () => slice(full));
      if (
        ArrayBuffer.isView(values) &&
        !(values instanceof DataView) &&
        !(values instanceof BigInt64Array) &&
        !(values instanceof BigUint64Array)
      )
        return values as Hdf5Values;
      throw new FormatError(`${file}: dataset "${name}" does not hold plain numbers`);
    },
    close: () => {
      handle.close();
    },
  };
}
