import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { Image } from "../image/image.ts";
import { focalStack } from "../stack/focalStack.ts";
import { openStack, type StackSource } from "../stack/node/openStack.ts";
import {
  chooseSplit,
  DatasetError,
  layoutError,
  listDataset,
  listFolder,
  type Dataset,
  type DatasetOptions,
  type Sample,
} from "./dataset.ts";
import { planesTaken, readStackSample } from "./folder.ts";
import { readDepth } from "./readDepth.ts";
import { readBytes, readImage } from "../stack/node/diskFiles.ts";
import { refocus } from "./refocus.ts";

const LAYOUT = `  either, already refocused:
  DIR/<scene>/stack.json       { "unit": "disparity", "focus": [...] }
  DIR/<scene>/plane_00.png ... + disparity.npy
  or the benchmark's light fields:
  DIR/<scene>/input_Cam000.png ... input_Cam080.png + gt_disp_lowres.pfm + parameters.cfg (disp_min, disp_max)`;
const missing = layoutError("hci", LAYOUT);

const SIDE = 9;
const DEFAULT_PLANES = 10;

/** HCI 4D light fields as focal stacks in disparity, larger nearer. */
export async function openHci(dir: string, options: DatasetOptions = {}): Promise<Dataset> {
  const split = chooseSplit(options.split, { dataset: "hci", among: ["all"] });
  const names = (await listFolder(dir)) ?? [];
  const folders = [dir, ...names.map((name) => join(dir, name))].filter((folder) => isRefocused(folder) || isLightField(folder));
  if (folders.length === 0) throw missing(join(dir, "*", "stack.json"));
  const refocused = new Map<string, StackSource>();
  for (const folder of folders.filter(isRefocused)) refocused.set(folder, await openStack(folder));
  const protocol = `${planesOf(folders, { refocused: [...refocused.values()], planes: options.planes })}; truth in disparity (pixels between neighbouring views), all finite pixels valid`;
  const about = { name: "hci", split, protocol, licence: "CC BY-NC-SA 4.0" };
  const read = (folder: string): Promise<Sample> => {
    const stack = refocused.get(folder);
    return stack ? readStackSample(stack, options) : readLightField(folder, options);
  };
  return listDataset(about, folders, read, { files: (folder) => [folder] });
}

const isRefocused = (folder: string): boolean => existsSync(join(folder, "stack.json"));
const isLightField = (folder: string): boolean => existsSync(join(folder, "input_Cam000.png"));

/** A set may hold both kinds. Only light fields are known to be refocused evenly. */
function planesOf(
  folders: readonly string[],
  { refocused, planes }: { refocused: readonly StackSource[]; planes?: number | undefined },
): string {
  const kinds = [
    ...(refocused.length > 0 ? [planesTaken(refocused, planes)] : []),
    ...(refocused.length < folders.length
      ? [`light fields refocused at ${planes ?? DEFAULT_PLANES} disparities evenly over the scene's range`]
      : []),
  ];
  return kinds.join(", and ");
}

async function readLightField(folder: string, { planes = DEFAULT_PLANES }: DatasetOptions): Promise<Sample> {
  const files = Array.from({ length: SIDE * SIDE }, (_, i) => join(folder, `input_Cam${String(i).padStart(3, "0")}.png`));
  const truth = join(folder, "gt_disp_lowres.pfm");
  const absent = [...files, truth, join(folder, "parameters.cfg")].find((file) => !existsSync(file));
  if (absent !== undefined) throw missing(absent);
  const { min, max } = await disparityRange(join(folder, "parameters.cfg"));
  const views: Image[] = [];
  for (const file of files) views.push(await readImage(file));
  const focusDistances = Array.from({ length: planes }, (_, n) => max + ((min - max) * n) / (planes - 1));
  const images = focusDistances.map((disparity) => refocus({ side: SIDE, views }, disparity));
  const trueDepth = await readDepth(truth, "disparity");
  return { name: basename(folder), stack: focalStack({ images, focusDistances, space: "disparity" }), trueDepth };
}

async function disparityRange(file: string): Promise<{ min: number; max: number }> {
  const text = new TextDecoder().decode(await readBytes(file));
  const value = (key: string): number => Number(new RegExp(`^\\s*${key}\\s*=\\s*(\\S+)`, "m").exec(text)?.[1]);
  const [min, max] = [value("disp_min"), value("disp_max")];
  if (!(min < max)) throw new DatasetError(`hci: ${file} gives no disp_min below disp_max`);
  return { min, max };
}
