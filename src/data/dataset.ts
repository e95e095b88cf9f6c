import { readdir } from "node:fs/promises";
import { DualFocusError } from "../errors.ts";
import type { DepthMap } from "../image/depthMap.ts";
import { naturalOrder, type Camera } from "../stack/stackFormat.ts";
import type { SynthesisKernel } from "../optics/synthesize/synthesize.ts";
import { choosePlanes, type FocalStack } from "../stack/focalStack.ts";
import { markOf, rememberStamps } from "./mark.ts";

/** A focal stack and what it should give. `stack.space` and `trueDepth.space` agree. */
export interface Sample {
  readonly name: string;
  readonly stack: FocalStack;
  readonly trueDepth: DepthMap;
  readonly camera?: Camera;
  /** Of sets of single objects: 1 where the object is, 0 where the background is. */
  readonly object?: Uint8Array;
  /** Of sets with a bare wall behind objects. */
  readonly wall?: Wall;
}

/** Pixels of a bare wall and of the objects in front of it are 1 in their mask; a table is in neither. */
export interface Wall {
  readonly pixels: Uint8Array;
  readonly objects: Uint8Array;
}

export type Split = "train" | "val" | "test" | "all";

/** Samples that are read on demand. */
export interface Dataset {
  readonly name: string;
  readonly split: Split;
  readonly size: number;
  sample(index: number): Promise<Sample>;
  /** Identifies the sample and the state of its files, whatever its index in the set. */
  mark(index: number): Promise<string>;
  /** Focus distances, mask, crop and units as text, for reports. */
  readonly protocol: string;
  readonly licence: string;
  /** Frees open files. */
  close(): void;
}

/** Each loader says which of these it uses. */
export interface DatasetOptions {
  readonly split?: Split;
  /** Number of planes; by default all of the set, or the number of its protocol. */
  readonly planes?: number;
  /** Multiplies depth and focus distances (FoD500: DFV trains with 0.2). */
  readonly depthScale?: number;
  /** nyu, arkit: how RGB-D pairs are blurred; by default the published Gaussian. */
  readonly kernel?: SynthesisKernel;
  /** nyu, arkit: HybridDepth's planes and camera (`linear`, the paper's), or FOSSA's (`adaptive`). */
  readonly focus?: "linear" | "adaptive";
  /** nyu: `central` keeps the middle 4/5 of each side (384×512 of 480×640), as HybridDepth. */
  readonly crop?: "central" | "none";
  /** ddff12: reflect to multiples of 32, 383×552 → 384×576, as DFV's test; the added truth is invalid. */
  readonly pad?: boolean;
  /** zedd, infinigen: f-number of the photographs. */
  readonly aperture?: number;
}

/** The files are not laid out as the loader needs. The message names what is missing and shows the layout. */
export class DatasetError extends DualFocusError {
  override readonly name = "DatasetError";

  constructor(message: string, { cause }: { cause?: unknown } = {}) {
    super("bad-dataset", message, { cause });
  }
}

/** The error of a loader for a file or folder that is not there. */
export const layoutError =
  (dataset: string, layout: string) =>
  (missing: string): DatasetError =>
    new DatasetError(`${dataset}: ${missing} is missing. Expected layout:\n${layout}`);

/** Refuses a split the set does not have. */
export function chooseSplit<S extends Split>(
  split: Split | undefined,
  { dataset, among }: { dataset: string; among: readonly [S, ...S[]] },
): S {
  const chosen = split ?? among[0];
  const known = among.find((name) => name === chosen);
  if (known === undefined) throw new DatasetError(`${dataset}: there is no split "${chosen}"; choose ${among.join(" or ")}`);
  return known;
}

/** Names in a folder in natural order, or undefined if it cannot be read. */
export async function listFolder(folder: string): Promise<string[] | undefined> {
  try {
    return naturalOrder(await readdir(folder));
  } catch {
    return undefined;
  }
}

interface ListOptions<T> {
  /** The files a sample is read from; a folder means the files in it. */
  readonly files?: (item: T) => readonly string[];
  readonly close?: () => void;
}

/** A dataset over a list of items and a way to read one. */
export function listDataset<T>(
  about: Pick<Dataset, "name" | "split" | "protocol" | "licence">,
  items: readonly T[],
  read: (item: T) => Sample | Promise<Sample>,
  { files = () => [], close = () => undefined }: ListOptions<T> = {},
): Dataset {
  const size = items.length;
  const stampOf = rememberStamps();
  const itemAt = (index: number): T => {
    if (index in items) return items[index] as T;
    throw new RangeError(`${about.name}: there is no sample ${index}; the set has ${size}`);
  };
  return {
    ...about,
    size,
    sample: async (index) => read(itemAt(index)),
    mark: async (index) => markOf(itemAt(index), files(itemAt(index)), stampOf),
    close,
  };
}

/** How many planes a stack has, and how many of them were asked for; all, without a number. */
interface Choice {
  readonly available: number;
  readonly planes: number | undefined;
}

/** Which planes of a stack are taken, counted from the nearest. `where` names the stack, should it have too few. */
export function takePlanes(where: string, { available, planes = available }: Choice): number[] {
  if (planes > available) throw new DatasetError(`${where}: has ${available} planes, fewer than the ${planes} asked for`);
  return choosePlanes(available, planes);
}

/** The planes taken of stacks that have these numbers of them, for a protocol's text: they need not be evenly spread. */
export function planesInWords(available: readonly number[], planes: number | undefined): string {
  const numbers = [...new Set(available)].sort((a, b) => a - b);
  if (planes === undefined) return `all ${numbers.join(" or ")} planes`;
  return `planes ${numbers.map((number) => `${choosePlanes(number, planes).join(" ")} of ${number}`).join(" or ")}`;
}
