import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { DualFocusError } from "../../errors.ts";
import type { FocusOptions } from "../focus.ts";
import { folderListing, jsonListing, missingImage, type Listing } from "../listing.ts";
import { naturalOrder, parseStackJson, planeFiles } from "../stackFormat.ts";
import { openListing, type StackSource } from "../stackSource.ts";
import { countTyped, parseDistanceFile } from "../distanceList.ts";
import { diskFiles, reading, readText } from "./diskFiles.ts";
import { isVideo } from "../sweep.ts";
import { withVideoFrames, type VideoOptions } from "./video.ts";

export type { StackSource };

/** Opens a folder, a stack.json, a multi-page TIFF or a list of images on a disk. Only headers are read. */
export async function openStack(input: string | readonly string[], options: FocusOptions = {}): Promise<StackSource> {
  return openListing(await listStack(typeof input === "string" ? [input] : input), diskFiles, options);
}

/**
 * Opens a stack, or a video whose frames exist only as long as `use` runs. As many frames are taken as there are distances; without any, as many
 * as the sweep needs.
 */
export async function withStack<T>(
  inputs: readonly string[],
  { distances, unit, ...video }: FocusOptions & Omit<VideoOptions, "count">,
  use: (source: StackSource) => Promise<T>,
): Promise<T> {
  const options = { ...(distances === undefined ? {} : { distances }), ...(unit === undefined ? {} : { unit }) };
  const clip = inputs.find(isVideo);
  if (clip === undefined) return use(await openStack(inputs, options));
  if (inputs.length > 1)
    throw new DualFocusError("video-among-files", `${clip}: is a video, given together with other files`, { facts: { file: clip } });
  await statOf(clip);
  const count = distances === undefined ? undefined : await countDistances(distances);
  return withVideoFrames(clip, { ...video, count }, async (listing) => use(await openListing(listing, diskFiles, options)));
}

async function countDistances(distances: readonly number[] | string): Promise<number | undefined> {
  if (typeof distances !== "string") return distances.length;
  const isList = /\.(csv|tsv|txt)$/i.test(distances);
  return isList ? parseDistanceFile(await readText(distances), distances).entries.length : countTyped(distances);
}

/** The images of what was given, and what lies beside them. */
export async function listStack(inputs: readonly string[]): Promise<Listing> {
  const [only, ...others] = inputs;
  if (only === undefined) throw new DualFocusError("no-stack", "no stack was given");
  if (others.length > 0) return listFiles(inputs);
  if ((await statOf(only)).isDirectory()) return listFolder(only);
  if (extname(only).toLowerCase() === ".json") return listJson(only);
  return { name: only, files: [only], notes: [] };
}

async function listFolder(folder: string): Promise<Listing> {
  const names = await namesIn(folder);
  if (names.includes("stack.json")) return listJson(join(folder, "stack.json"));
  const folders = new Set<string>();
  for (const name of planeFiles(names)) if (!(await statOf(join(folder, name))).isFile()) folders.add(name);
  return folderListing({ name: folder, names: names.filter((name) => !folders.has(name)), place: (name) => join(folder, name) });
}

async function listJson(file: string): Promise<Listing> {
  const content = parseStackJson(await readText(file), file);
  const folder = dirname(file);
  const listing = jsonListing({ file, content, names: content.files ? [] : await namesIn(folder), place: (name) => join(folder, name) });
  for (const path of listing.files)
    await statOf(path).catch((cause: unknown) => {
      throw missingImage(file, relative(folder, path), cause);
    });
  return basename(file) === "stack.json" ? { ...listing, name: folder } : listing;
}

/** A list sorted letter by letter is what a shell's `*` gives, with 10 before 2: it is put into natural order. Any other order is kept. */
async function listFiles(inputs: readonly string[]): Promise<Listing> {
  for (const file of inputs)
    if ((await statOf(file)).isDirectory())
      throw new DualFocusError("folder-among-files", `${file}: is a folder, given together with other files`, { facts: { file } });
  const twice = inputs.find((file, n) => inputs.findIndex((other) => resolve(other) === resolve(file)) !== n);
  if (twice !== undefined) throw new DualFocusError("image-given-twice", `${twice}: is given twice`, { facts: { file: twice } });
  const byLetters = inputs.every((file, n) => n === 0 || (inputs[n - 1] as string) < file);
  return { name: dirname(inputs[0] as string), files: byLetters ? naturalOrder(inputs) : inputs, notes: [] };
}

const namesIn = (folder: string): Promise<string[]> => reading(folder, () => readdir(folder));
const statOf = (path: string): Promise<Stats> => reading(path, () => stat(path));
