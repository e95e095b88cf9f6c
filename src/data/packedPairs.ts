import { open, readdir, type FileHandle } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import { DatasetError } from "./dataset.ts";
import type { PairSet, StoredPair } from "./pairSet.ts";

/**
 * A decoded RGB-D set in files of raw numbers, for machines without image decoders and for sets that are opened again and again. Each file
 * is one line of JSON (`header`), then for each pair its pixels (bytes, or f32 where `bytes` is false) and its depth (f32, little-endian).
 * The files `*.pairs` of a folder are one set, in the order of their names.
 */
export const PACKED_EXTENSION = ".pairs";

const header = z.object({
  camera: z.enum(["nyu", "arkit"]),
  pairs: z.array(z.object({ name: z.string(), width: z.int().min(1), height: z.int().min(1), bytes: z.boolean() })),
});
type Entry = z.infer<typeof header>["pairs"][number];

/** The file of these pairs, piece by piece. */
export function packPairs(camera: PairSet["camera"], pairs: readonly StoredPair[]): Uint8Array[] {
  const entries = pairs.map(({ name, width, height, pixels }): Entry => ({ name, width, height, bytes: pixels instanceof Uint8Array }));
  const raw = ({ buffer, byteOffset, byteLength }: Uint8Array | Float32Array): Uint8Array => new Uint8Array(buffer, byteOffset, byteLength);
  return [
    new TextEncoder().encode(`${JSON.stringify({ camera, pairs: entries })}\n`),
    ...pairs.flatMap(({ pixels, depth }) => [raw(pixels), raw(depth)]),
  ];
}

/** The packed set in a folder, or undefined where there is none. */
export async function openPackedPairs(dir: string): Promise<PairSet | undefined> {
  const names = (await readdir(dir)).filter((name) => name.endsWith(PACKED_EXTENSION)).sort();
  if (names.length === 0) return undefined;
  const files: FileHandle[] = [];
  const places: { readonly file: FileHandle; readonly path: string; readonly start: number; readonly entry: Entry }[] = [];
  let camera: PairSet["camera"] = "nyu";
  for (const name of names) {
    const path = join(dir, name);
    const file = await open(path);
    files.push(file);
    const { about, end } = await readHeader(file, path);
    camera = about.camera;
    let start = end;
    for (const entry of about.pairs) {
      places.push({ file, path, start, entry });
      start += pixelBytes(entry) + 4 * entry.width * entry.height;
    }
    const { size } = await file.stat();
    if (size !== start) throw new DatasetError(`${path}: holds ${size} bytes, its header says ${start}; pack the set again`);
  }
  return {
    camera,
    names: places.map(({ entry }) => entry.name),
    stored: async (index) => {
      const { file, path, start, entry } = places[index] as (typeof places)[number];
      const { name, width, height, bytes } = entry;
      const data = new Uint8Array(pixelBytes(entry) + 4 * width * height);
      await file.read(data, 0, data.length, start);
      const floats = (from: number, count: number): Float32Array => new Float32Array(data.slice(from, from + 4 * count).buffer);
      const pixels = bytes ? data.subarray(0, pixelBytes(entry)) : floats(0, 3 * width * height);
      const where = `${name} of ${basename(path)}`;
      return { name, where, width, height, pixels, depth: floats(pixelBytes(entry), width * height) };
    },
    close: () => {
      for (const file of files) void file.close();
    },
  };
}

const pixelBytes = ({ width, height, bytes }: Entry): number => 3 * width * height * (bytes ? 1 : 4);

const LONGEST_HEADER = 1 << 24;

async function readHeader(file: FileHandle, path: string): Promise<{ about: z.infer<typeof header>; end: number }> {
  const { size } = await file.stat();
  const start = new Uint8Array(Math.min(size, LONGEST_HEADER));
  await file.read(start, 0, start.length, 0);
  const end = start.indexOf(10) + 1;
  try {
    return { about: header.parse(JSON.parse(new TextDecoder().decode(start.subarray(0, end)))), end };
  } catch (cause) {
    throw new DatasetError(`${path}: is not a packed RGB-D set`, { cause });
  }
}
