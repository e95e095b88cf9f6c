import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { Space } from "../image/depthMap.ts";
import { openStack } from "../stack/node/openStack.ts";
import { planeFiles } from "../stack/stackFormat.ts";
import { readStack, type StackSource } from "../stack/stackSource.ts";
import {
  chooseSplit,
  layoutError,
  listDataset,
  listFolder,
  planesInWords,
  takePlanes,
  type Dataset,
  type DatasetOptions,
  type Sample,
} from "./dataset.ts";
import { readDepth } from "./readDepth.ts";

const LAYOUT = `  DIR/<stack>/plane_*.png   images that state their focus distances in a way that \`dualfocus depth\` understands, best in
  DIR/<stack>/stack.json    { "unit": "m"|"mm"|"um"|"dpt"|"disparity"|"index", "focus": [...], "files"?: [...] }
  DIR/<stack>/depth.npy     the truth in metres (.npy, .png 16-bit mm, .tif, .exr, .pfm), or disparity.npy for unit "disparity"
  (DIR may also be one such stack itself)`;
const missing = layoutError("folder", LAYOUT);

const TRUTH = /^(depth|disparity)\.(npy|png|tiff?|exr|pfm)$/;

/** Every sub-folder that is a stack with focus distances and a truth, or the folder itself. No split: the folder is the set. */
export async function openFolder(dir: string, options: DatasetOptions = {}): Promise<Dataset> {
  const split = chooseSplit(options.split, { dataset: "folder", among: ["all"] });
  const { stacks, leftOut } = await openStacks(dir);
  const rules = `${planesTaken(stacks, options.planes)}; truth valid where finite (and above 0 m)`;
  const without = leftOut.length === 0 ? "" : `; left out, with a truth but without focus distances: ${leftOut.join(", ")}`;
  const about = { name: "folder", split, protocol: rules + without, licence: "yours" };
  const byFolder = new Map(stacks.map((stack) => [stack.name, stack]));
  const read = (folder: string): Promise<Sample> => readStackSample(byFolder.get(folder) as StackSource, options);
  return listDataset(about, [...byFolder.keys()], read, { files: (folder) => [folder] });
}

/** The stacks in a folder, or itself, and the names of those whose images do not state where they were focused. Only headers are read. */
export async function openStacks(dir: string): Promise<{ stacks: StackSource[]; leftOut: string[] }> {
  const names = await listFolder(dir);
  if (!names) throw missing(dir);
  const folders = [dir, ...(names.includes("stack.json") ? [] : names.map((name) => join(dir, name)))];
  const stacks: StackSource[] = [];
  const leftOut: string[] = [];
  for (const folder of folders) {
    if (!isStack((await listFolder(folder)) ?? [])) continue;
    const stack = await openStack(folder);
    if (stack.focus[0]?.source === "file order") leftOut.push(basename(folder));
    else stacks.push(stack);
  }
  const absent = leftOut.length === 0 ? join(dir, "*", "stack.json") : `a stack.json in ${leftOut.join(" or ")}`;
  if (stacks.length === 0) throw missing(absent);
  return { stacks, leftOut };
}

const isStack = (names: readonly string[]): boolean =>
  names.includes("stack.json") || (names.some((name) => TRUTH.test(name)) && planeFiles(names).length > 0);

/** Which planes of these stacks are taken, in words. */
export function planesTaken(stacks: readonly StackSource[], planes: number | undefined): string {
  for (const { name, files } of stacks) takePlanes(name, { available: files.length, planes });
  const sources = new Set(stacks.flatMap(({ focus }) => focus.map(({ source }) => source)));
  const numbers = stacks.map(({ files }) => files.length);
  return `${planesInWords(numbers, planes)}, near to far, by ${[...sources].join(" or ")}`;
}

/** One stack folder and its truth. */
export async function readStackSample(source: StackSource, { planes }: Pick<DatasetOptions, "planes"> = {}): Promise<Sample> {
  const { name: folder, space, camera, files } = source;
  const trueDepth = await readDepth(truthFile(folder, space), space);
  const stack = await readStack(source, takePlanes(folder, { available: files.length, planes }));
  return { name: basename(folder), stack, trueDepth, ...(camera ? { camera } : {}) };
}

function truthFile(folder: string, space: Space): string {
  const stem = space === "disparity" ? "disparity" : "depth";
  const found = ["npy", "png", "tif", "tiff", "exr", "pfm"].map((ending) => join(folder, `${stem}.${ending}`)).find(existsSync);
  if (found === undefined) throw missing(join(folder, `${stem}.npy`));
  return found;
}
