import { existsSync } from "node:fs";
import { FormatError } from "../io/formatError.ts";
import { readingHdf5, wrapHdf5, type Hdf5File } from "../io/hdf5.ts";

/** Opens a file on disk; slices are read from the disk as they are asked for, however large the file. */
export async function openHdf5File(file: string): Promise<Hdf5File> {
  if (!existsSync(file)) throw new FormatError(`${file}: there is no such file`);
  const { default: h5wasm } = await import("h5wasm/node"); // WebAssembly; loaded only by those who read HDF5
  const module = await h5wasm.ready;
  module.activate_throwing_error_handler();
  return readingHdf5(file, () => wrapHdf5(new h5wasm.File(file, "r"), { file }));
}
