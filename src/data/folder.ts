import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { describeStack, readStack } from "../stack/stackFolder.ts";
import type { Space } from "../image/depthMap.ts";
import { selectPlanes } from "../stack/focalStack.ts";
import { chooseSplit, layoutError, listDataset, listFolder } from "./dataset.ts";
import type { Dataset, DatasetOptions, Sample } from "./dataset.ts";
import { planesInWords, takePlanes } from "./planeChoice.ts";
import { readDepth } from "./readDepth.ts";
import { readImage } from "../stack/readImage.ts";

const LAYOUT = `  DIR/<stack>/stack.json    { "unit": "m"|"mm"|"um"|"dpt"|"disparity"|"index", "focus": [...], "files"?: [...] }
  DIR/<stack>/plane_*.png   the pictures (or those named in "files")
  DIR/<stack>/depth.npy     the truth in metres (.npy, .png 16-bit mm, .tif, .exr, .pfm), or disparity.npy for unit "disparity"
  (DIR may also be one such stack itself)`;

const EXTENSIONS = ["npy", "png", "tif", "tiff", "exr", "pfm"];

/** Every sub-folder with a stack.json, or the folder itself. No split: the folder is the set. */
export async function openFolder(dir: string, options: DatasetOptions = {}): Promise<Dataset> {
  const split = chooseSplit(options.split, { dataset: "folder", among: ["all"] });
  const names = await listFolder(dir);
  if (!names) throw layoutError({ dataset: "folder", missing: dir, layout: LAYOUT });
  const folders = stackFolders(dir, names);
  if (folders.length === 0) throw layoutError({ dataset: "folder", missing: join(dir, "*", "stack.json"), layout: LAYOUT });
  const planes = await planesTaken(folders, options.planes);
  const about = { name: "folder", split, protocol: protocol(dir, { names, planes }), licence: "yours" };
  return listDataset(about, folders, (folder) => readStackSample(folder, options), { files: (folder) => [folder] });
}

/** The stacks of a folder with these entries: those in it, or itself. */
export const stackFolders = (dir: string, names: readonly string[]): string[] =>
  names.includes("stack.json") ? [dir] : names.map((name) => join(dir, name)).filter(holdsStack);

const holdsStack = (folder: string): boolean => existsSync(join(folder, "stack.json"));
const holdsTruth = (folder: string): boolean =>
  ["depth", "disparity"].some((stem) => EXTENSIONS.some((extension) => existsSync(join(folder, `${stem}.${extension}`))));

/** Which planes of these stacks are taken, in words; what is wrong with a stack.json is told before anything is computed. */
export async function planesTaken(folders: readonly string[], planes: number | undefined): Promise<string> {
  const available: number[] = [];
  for (const folder of folders) {
    const description = await describeStack(folder);
    takePlanes(folder, { available: description.planes.length, planes });
    available.push(description.planes.length);
  }
  return `${planesInWords(available, planes)}, near to far, by stack.json`;
}

/** Tells of stacks that look as if they belonged to the set, but cannot be measured. */
function protocol(dir: string, { names, planes }: { names: readonly string[]; planes: string }): string {
  const left = names.filter((name) => holdsTruth(join(dir, name)) && !holdsStack(join(dir, name)));
  const rules = `${planes}; truth valid where finite (and above 0 m)`;
  return left.length === 0 ? rules : `${rules}; left out, with a truth but without a stack.json: ${left.join(", ")}`;
}

/** One stack folder and its truth. */
export async function readStackSample(folder: string, { planes }: Pick<DatasetOptions, "planes"> = {}): Promise<Sample> {
  const description = await describeStack(folder);
  const { space, camera } = description;
  const trueDepth = await readDepth(truthFile(folder, space), space);
  const whole = await readStack(description, readImage);
  const stack = selectPlanes(whole, takePlanes(folder, { available: whole.images.length, planes }));
  return { name: basename(folder), stack, trueDepth, ...(camera ? { camera } : {}) };
}

function truthFile(folder: string, space: Space): string {
  const stem = space === "disparity" ? "disparity" : "depth";
  const found = EXTENSIONS.map((extension) => join(folder, `${stem}.${extension}`)).find((file) => existsSync(file));
  if (found === undefined) throw layoutError({ dataset: "folder", missing: join(folder, `${stem}.npy`), layout: LAYOUT });
  return found;
}
