import { basename } from "node:path";
import { DatasetError, listFolder } from "../../data/dataset.ts";
import { stackFolders } from "../../data/folder.ts";
import { openDataset, type DatasetSource } from "../../data/open.ts";
import { describeStack } from "../../stack/stackFolder.ts";
import { diskFiles } from "../../stack/picture.ts";
import { ConfigError, type BatchConfig, type TrainConfig } from "../config.ts";

export type FileData = Exclude<TrainConfig["data"], { kind: "render" }>;

/** What there is on disk to train and to validate on. */
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

export const findSets = (kind: FileData["kind"], dir: string): Promise<FileSets> =>
  kind === "folder" ? folderSets(dir) : publishedSets(kind, dir);

async function publishedSets(kind: Exclude<FileData["kind"], "folder">, dir: string): Promise<FileSets> {
  const held = { nyu: "test", fod500: "test", ddff12: "val" } as const;
  const train = { name: kind, dir, options: { split: "train" } } as const;
  const validation = { name: kind, dir, options: { split: held[kind], pad: true } } as const;
  const training = await openDataset(kind, dir, train.options);
  const validating = await openDataset(kind, dir, validation.options); // now: a set without it must not fail after hours
  try {
    for (const { size, split } of [training, validating])
      if (size === 0) throw new DatasetError(`${dir}: ${kind} has no stacks in its split "${split}"`);
    const { name, stack, trueDepth } = await training.sample(0);
    const planes = kind === "nyu" ? Infinity : stack.images.length; // nyu is blurred for as many as are asked for
    const seen = [{ name, width: trueDepth.width, height: trueDepth.height, planes }];
    return { train: [train], validation: [validation], stacks: { train: training.size, validation: validating.size }, seen };
  } finally {
    training.close();
    validating.close();
  }
}

/** A plain folder has no split of its own. Each of its stacks becomes a set of one, so that some can be held out. */
async function folderSets(dir: string): Promise<FileSets> {
  (await openDataset("folder", dir)).close(); // says what is missing
  const folders = stackFolders(dir, (await listFolder(dir)) ?? []);
  const seen: SeenStack[] = [];
  for (const folder of folders) {
    const { planes } = await describeStack(folder);
    const { width, height } = await diskFiles.probePicture(planes[0]?.file ?? folder);
    seen.push({ name: basename(folder), width, height, planes: planes.length });
  }
  const { train, validation } = holdOut(folders.map((folder) => ({ name: "folder", dir: folder })));
  return { train, validation, stacks: { train: train.length, validation: validation.length }, seen };
}

/** Every tenth stack, or the last of fewer than ten, is for validation alone; a single stack has to serve both. */
function holdOut<T>(stacks: readonly T[]): { train: readonly T[]; validation: readonly T[] } {
  if (stacks.length < 2) return { train: stacks, validation: stacks };
  const isHeld = (i: number): boolean => i % 10 === 9 || (stacks.length < 10 && i === stacks.length - 1);
  return { train: stacks.filter((_, i) => !isHeld(i)), validation: stacks.filter((_, i) => isHeld(i)) };
}

/** The batch's settings as far as the stacks allow: the crop must fit each, and a number of planes that some lack is left out. */
export function fitBatch({ batch, data }: TrainConfig, { seen }: FileSets, progress: (line: string) => void): BatchConfig {
  const small = seen.find(({ width, height }) => Math.min(width, height) < batch.crop);
  if (small)
    throw new ConfigError(
      `batch.crop (${batch.crop}) is larger than ${small.name} of the ${data.kind} data, ${small.width}×${small.height}`,
    );
  const fewest = seen.reduce((least, stack) => (stack.planes < least.planes ? stack : least));
  const fitting = batch.planes.filter((planes) => planes <= fewest.planes);
  if (fitting.length === batch.planes.length) return batch;
  const tooMany = batch.planes.filter((planes) => planes > fewest.planes).join(", ");
  const lack = `batch.planes has ${tooMany}, but ${fewest.name} of the ${data.kind} data has ${fewest.planes} planes`;
  if (fitting.length === 0) throw new ConfigError(lack);
  progress(`${lack}: training with ${fitting.join(", ")}`);
  return { ...batch, planes: fitting };
}

/** What the user should know about the sets before the first step. */
export function describeSets({ stacks, train, validation }: FileSets, { size }: BatchConfig): string[] {
  const isShared = train.some((source) => validation.includes(source));
  return [
    `stacks: ${stacks.train} to train on, ${stacks.validation} to validate on`,
    ...(isShared ? ["there is only one stack: validation is on the stack trained on"] : []),
    ...(stacks.train < size ? [`fewer stacks than a batch of ${size}: it holds some more than once`] : []),
  ];
}
