import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import h5wasm from "h5wasm/node";

export type Arrays = Record<string, { shape: number[]; data: Float32Array | Float64Array | Uint8Array | Uint16Array }>;

export async function writeHdf5(path: string, arrays: Arrays): Promise<void> {
  await h5wasm.ready;
  const file = new h5wasm.File(path, "w");
  for (const [name, { shape, data }] of Object.entries(arrays)) file.create_dataset({ name, shape, data });
  file.close();
}

/** MATLAB 7.3: HDF5 after a 512-byte user block that starts with MATLAB's text; axes in reverse. */
export async function writeMat73(path: string, arrays: Arrays): Promise<void> {
  await writeHdf5(`${path}.tmp`, arrays);
  const block = Buffer.alloc(512, " ");
  block.write("MATLAB 7.3 MAT-file, Platform: GLNXA64");
  block.write("\x00\x02IM", 124, "latin1");
  writeFileSync(path, Buffer.concat([block, readFileSync(`${path}.tmp`)]));
  rmSync(`${path}.tmp`);
}

/** One column vector of doubles, stored as MATLAB 5 to 7 do: shrunk to 16 bits, with or without compression. */
export function mat5(vectors: Record<string, readonly number[]>, { compressed = true } = {}): Uint8Array {
  const element = (type: number, data: Uint8Array): Buffer => {
    const padded = Buffer.alloc(8 + (type === 15 ? data.length : Math.ceil(data.length / 8) * 8));
    padded.writeUInt32LE(type, 0);
    padded.writeUInt32LE(data.length, 4);
    padded.set(data, 8);
    return padded;
  };
  const words = (values: readonly number[]): Uint8Array => new Uint8Array(Int32Array.from(values).buffer);
  const matrices = Object.entries(vectors).map(([name, values]) => {
    const body = [
      element(6, words([6, 0])), // double
      element(5, words([values.length, 1])),
      element(1, new TextEncoder().encode(name)),
      element(4, new Uint8Array(Uint16Array.from(values).buffer)),
    ];
    const matrix = element(14, Buffer.concat(body));
    return compressed ? element(15, deflateSync(matrix)) : matrix;
  });
  const header = Buffer.alloc(128, " ");
  header.write("MATLAB 5.0 MAT-file, Platform: GLNXA64");
  header.write("\x00\x01IM", 124, "latin1");
  return Buffer.concat([header, ...matrices]);
}
