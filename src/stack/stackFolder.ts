import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Image } from "../image/image.ts";
import { focalStack } from "./focalStack.ts";
import type { FocalStack } from "./focalStack.ts";
import { FormatError } from "../io/formatError.ts";
import { orderPlanes, parseStackJson, planeFiles } from "./stackFormat.ts";
import type { OrderedPlanes, StackJson, StackPlane, Unit } from "./stackFormat.ts";

export { naturalOrder, orderPlanes, planeFiles, UNITS } from "./stackFormat.ts";
export type { FocusSource, StackJson, StackPlane, Unit } from "./stackFormat.ts";

/** What a folder says about its stack, before any picture is read. Planes run from near to far. */
export interface StackDescription extends OrderedPlanes<StackPlane> {
  readonly folder: string;
  readonly camera?: { readonly focalLength: number; readonly fNumber: number; readonly pixelPitch: number };
}

/**
 * Finds the planes of a folder and their focus distances: `distances` if given (one per picture in natural order), else `stack.json`,
 * else none, and then the stack is in plane numbers. Whatever the order of the files, the planes come out near to far.
 */
export async function describeStack(
  folder: string,
  { distances, unit = "m" }: { distances?: readonly number[]; unit?: Unit } = {},
): Promise<StackDescription> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new FormatError(`${folder}: not a readable folder`, { cause });
  });
  const written = names.includes("stack.json") ? await readStackJson(join(folder, "stack.json")) : undefined;
  const files = written?.files ?? planeFiles(names);
  const missing = files.find((file) => !names.includes(file));
  if (missing !== undefined) throw new FormatError(`${folder}/stack.json names ${missing}, which is not in the folder`);
  if (files.length === 0) throw new FormatError(`${folder}: no pictures (jpg, png, tif, webp or avif) found`);
  const given = distances ?? written?.focus;
  const source = distances ? "argument" : written ? "stack.json" : "file order";
  if (given && given.length !== files.length)
    throw new FormatError(`${folder}: ${files.length} pictures but ${given.length} focus distances from the ${source}`);
  const usedUnit = distances ? unit : (written?.unit ?? "index");
  const planes = files.map((file, n) => ({ file: join(folder, file), value: given?.[n] ?? n, source }) as const);
  const camera = written?.camera;
  return { folder, ...orderPlanes(planes, usedUnit), ...(camera ? { camera } : {}) };
}

/** Reads the pictures. `readImage` is the caller's, so that this file depends on no decoder. */
export async function readStack(description: StackDescription, readImage: (file: string) => Promise<Image>): Promise<FocalStack> {
  const { planes, focusDistances, space } = description;
  const images: Image[] = [];
  for (const { file } of planes) images.push(await readImage(file));
  return focalStack({ images, focusDistances, space }, { minPlanes: 1 });
}

export async function readStackJson(file: string): Promise<StackJson> {
  return parseStackJson(await readFile(file, "utf8"), file);
}
