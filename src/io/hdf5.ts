import type { File as H5File } from "h5wasm";
import { decoding, FormatError } from "./formatError.ts";

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

/** What we use of the library's file system in memory. */
interface MemoryFiles {
  writeFile(name: string, data: Uint8Array): void;
  unlink(name: string): void;
  analyzePath(name: string): { exists: boolean };
}

/** Runs a call of the library. Of the trace it throws, only the innermost reason is reported: "file signature not found". */
export function readingHdf5<T>(file: string, read: () => T): T {
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

/** Opens a file held in memory. On Node, `data/hdf5File.ts` opens one on disk without loading it. */
export async function openHdf5(bytes: Uint8Array, file = "HDF5 data"): Promise<Hdf5File> {
  const h5wasm = await import("h5wasm"); // WebAssembly; loaded only when HDF5 is read
  const module = await h5wasm.ready;
  module.activate_throwing_error_handler();
  const memory = (module as { FS: MemoryFiles }).FS;
  return readingHdf5(file, () => {
    let name = "file.h5";
    while (memory.analyzePath(name).exists) name = `next-${name}`;
    memory.writeFile(name, bytes);
    try {
      const handle = new h5wasm.File(name, "r");
      return wrapHdf5(handle, {
        file,
        onClose: () => {
          memory.unlink(name);
        },
      });
    } catch (cause) {
      memory.unlink(name);
      throw cause;
    }
  });
}

/** Our view of a file that h5wasm (browser or Node build) has opened. */
export function wrapHdf5(handle: H5File, { file, onClose }: { file: string; onClose?: () => void }): Hdf5File {
  if (handle.file_id < 0n) throw new FormatError(`${file}: not a readable HDF5 file`);
  const dataset = (name: string): { shape: number[]; slice: (ranges: [number, number][]) => unknown } => {
    const entity = readingHdf5(file, () => (handle.keys().includes(name) ? handle.get(name) : null));
    if (!entity || !("slice" in entity) || !entity.shape) {
      const present = handle.keys().join(", ");
      throw new FormatError(`${file}: there is no dataset "${name}"; the file has ${present || "nothing"}`);
    }
    return { shape: entity.shape, slice: (ranges) => entity.slice(ranges) };
  };
  return {
    file,
    has: (name) => handle.keys().includes(name),
    shape: (name) => dataset(name).shape,
    read: (name, ranges = []) => {
      const { shape, slice } = dataset(name);
      const bad = ranges.findIndex(([from, to], axis) => !(from >= 0 && from < to && to <= (shape[axis] ?? 0)));
      if (bad >= 0)
        throw new RangeError(`${file}: "${name}" is [${shape.join(", ")}]; range ${String(ranges[bad])} of axis ${bad} is outside`);
      const full = shape.map((size, axis): [number, number] => [...(ranges[axis] ?? [0, size])] as [number, number]);
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
      onClose?.();
    },
  };
}
