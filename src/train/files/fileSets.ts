import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { DatasetError, listFolder } from "../../data/dataset.ts";
import { openStacks } from "../../data/folder.ts";
import { openDataset, type DatasetSource } from "../../data/open.ts";
import { ConfigError, type BatchConfig, type TrainConfig } from "../config.ts";
import { checkCrop, holdOut, type StackKind } from "./heldSets.ts";

/** Focal stacks on disk to train and to validate on. */
export interface FileSets {
  readonly train: readonly DatasetSource[];
  readonly validation: readonly DatasetSource[];
  readonly stacks: { readonly train: number; readonly validation: number };
  /** The stacks that were looked at: all of a folder, whose sizes differ, and the first of a published set. */
  readonly seen: readonly SeenStack[];
}

interface SeenStack {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly planes: number;
}

export async function findSets(kind: StackKind, dir: string): Promise<FileSets> {
  switch (kind) {
    case "folder":
      return folderSets(dir);
    case "hci":
      return hciSets(dir);
    case "fod500":
    case "ddff12":
      return publishedSets(kind, dir);
  }
}

async function publishedSets(kind: "fod500" | "ddff12", dir: string): Promise<FileSets> {
  const held = { fod500: "test", ddff12: "val" } as const;
  const train = { name: kind, dir, options: { split: "train" } } as const;
  const validation = { name: kind, dir, options: { split: held[kind], pad: true } } as const;
  const training = await openDataset(kind, dir, train.options);
  const validating = await openDataset(kind, dir, validation.options); // now: a set without it must not fail after hours
  try {
    for (const { size, split } of [training, validating])
      if (size === 0) throw new DatasetError(`${dir}: ${kind} has no stacks in its split "${split}"`);
    const { name, stack, trueDepth } = await training.sample(0);
    const seen = [{ name, width: trueDepth.width, height: trueDepth.height, planes: stack.images.length }];
    return { train: [train], validation: [validation], stacks: { train: training.size, validation: validating.size }, seen };
  } finally {
    training.close();
    validating.close();
  }
}

/** Light fields have no split either; all scenes have one size. */
async function hciSets(dir: string): Promise<FileSets> {
  const whole = await openDataset("hci", dir); // says what is missing
  const { name, stack, trueDepth } = await whole.sample(0);
  const isScene = (folder: string): boolean => ["stack.json", "input_Cam000.png"].some((file) => existsSync(join(folder, file)));
  const scenes = [dir, ...((await listFolder(dir)) ?? []).map((entry) => join(dir, entry))].filter(isScene);
  const { train, validation } = holdOut(scenes.map((scene) => ({ name: "hci", dir: scene })));
  const seen = [{ name, width: trueDepth.width, height: trueDepth.height, planes: stack.images.length }];
  return { train, validation, stacks: { train: train.length, validation: validation.length }, seen };
}

/** A plain folder has no split of its own. Each of its stacks becomes a set of one, so that some can be held out. */
async function folderSets(dir: string): Promise<FileSets> {
  const { stacks } = await openStacks(dir);
  const seen = stacks.map(({ name, size, files }) => ({ name: basename(name), ...size, planes: files.length }));
  const { train, validation } = holdOut(stacks.map(({ name }) => ({ name: "folder", dir: name })));
  return { train, validation, stacks: { train: train.length, validation: validation.length }, seen };
}

/** The batch's settings as far as the stacks allow: the crop must fit each, and a number of planes that some lack is left out. */
export function fitBatch(
  { batch, data }: Pick<TrainConfig, "batch" | "data">,
  { seen }: FileSets,
  progress: (line: string) => void,
): BatchConfig {
  for (const stack of seen) checkCrop(stack, { batch, data });
  const fewest = seen.reduce((least, stack) => (stack.planes < least.planes ? stack : least));
  const fitting = batch.planes.filter((planes) => planes <= fewest.planes);
  if (fitting.length === batch.planes.length) return batch;
  const tooMany = batch.planes.filter((planes) => planes > fewest.planes).join(", ");
  const lack = `batch.planes has ${tooMany}, but ${fewest.name} of the ${data.kind} data has ${fewest.planes} planes`;
  if (fitting.length === 0) throw new ConfigError(lack);
  progress(`${lack}: training with ${fitting.join(", ")}`);
  return { ...batch, planes: fitting };
}
