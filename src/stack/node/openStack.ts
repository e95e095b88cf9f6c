import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import type { FocusOptions } from "../focus.ts";
import { folderListing, jsonListing, missingPicture, type Listing } from "../listing.ts";
import { StackError } from "../stackError.ts";
import { naturalOrder, parseStackJson, planeFiles } from "../stackFormat.ts";
import { asStackError, openListing, type StackSource } from "../stackSource.ts";
import { diskFiles, naming, readText } from "./diskFiles.ts";

export type { StackSource };

/** Opens a folder, a stack.json, a TIFF of many pages or a list of pictures on a disk. Only headers are read. */
export async function openStack(input: string | readonly string[], options: FocusOptions = {}): Promise<StackSource> {
  try {
    return await openListing(await listStack(typeof input === "string" ? [input] : input), diskFiles, options);
  } catch (error) {
    throw asStackError(error);
  }
}

/** A folder, a stack.json, one TIFF of many pages, or a list of pictures. */
export async function listStack(inputs: readonly string[]): Promise<Listing> {
  const [only, ...others] = inputs;
  if (only === undefined)
    throw new StackError("no stack was given", { code: "input", remedy: "name a folder, pictures, a stack.json or a multi-page TIFF" });
  if (others.length > 0) return listFiles(inputs);
  if ((await typeOf(only)).isDirectory()) return listFolder(only);
  if (extname(only).toLowerCase() === ".json") return listJson(only);
  return { name: only, files: [only], notes: [] };
}

async function listFolder(folder: string): Promise<Listing> {
  const names = await naming(folder, () => readdir(folder));
  if (names.includes("stack.json")) return listJson(join(folder, "stack.json"));
  const folders = new Set<string>();
  for (const name of planeFiles(names)) if (!(await typeOf(join(folder, name))).isFile()) folders.add(name);
  return folderListing({ name: folder, names: names.filter((name) => !folders.has(name)), place: (name) => join(folder, name) });
}

async function listJson(file: string): Promise<Listing> {
  const content = parseStackJson(await readText(file), file);
  const folder = dirname(file);
  const listing = jsonListing({
    file,
    content,
    names: content.files ? [] : await naming(folder, () => readdir(folder)),
    place: (name) => join(folder, name),
  });
  for (const path of listing.files)
    await typeOf(path).catch((cause: unknown) => {
      throw missingPicture(file, relative(folder, path), cause);
    });
  return basename(file) === "stack.json" ? { ...listing, name: folder } : listing;
}

/** A list sorted letter by letter is what a shell's `*` gives, with 10 before 2: it is put into natural order. Any other order is meant. */
async function listFiles(inputs: readonly string[]): Promise<Listing> {
  for (const file of inputs)
    if ((await typeOf(file)).isDirectory())
      throw new StackError(`${file}: is a folder, given together with other files`, {
        code: "input",
        remedy: "give one folder, or pictures only",
      });
  const twice = inputs.find((file, n) => inputs.findIndex((other) => resolve(other) === resolve(file)) !== n);
  if (twice !== undefined) throw new StackError(`${twice}: is given twice`, { code: "input", remedy: "name each picture once" });
  const byLetters = inputs.every((file, n) => n === 0 || (inputs[n - 1] as string) < file);
  return { name: dirname(inputs[0] as string), files: byLetters ? naturalOrder(inputs) : inputs, notes: [] };
}

const typeOf = (path: string): Promise<Stats> => naming(path, () => stat(path));
