import { openArkitScenes } from "./arkitScenes.ts";
import { DatasetError, type Dataset, type DatasetOptions } from "./dataset.ts";
import { openDdff12 } from "./ddff12.ts";
import { openFod500 } from "./fod500.ts";
import { openFolder } from "./folder.ts";
import { openHci } from "./hci.ts";
import { openInfinigen } from "./infinigen.ts";
import { openNyu } from "./nyu.ts";
import { openZedd } from "./zedd.ts";

const LOADERS = {
  nyu: openNyu,
  fod500: openFod500,
  ddff12: openDdff12,
  arkit: openArkitScenes,
  zedd: openZedd,
  infinigen: openInfinigen,
  hci: openHci,
  folder: openFolder,
} as const satisfies Record<string, (dir: string, options: DatasetOptions) => Promise<Dataset>>;

type DatasetName = keyof typeof LOADERS;

const DATASET_NAMES = Object.keys(LOADERS) as readonly DatasetName[];

/** Enough to open the same set again, here or in a worker thread. */
export interface DatasetSource {
  readonly name: string;
  readonly dir: string;
  readonly options?: DatasetOptions;
}

/** Opens a set by name; letter case does not matter. docs/datasets.md shows the layout of each. */
export async function openDataset(name: string, dir: string, options: DatasetOptions = {}): Promise<Dataset> {
  const known = DATASET_NAMES.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
  if (known === undefined) throw new DatasetError(`there is no dataset "${name}"; choose ${DATASET_NAMES.join(", ")}`);
  return LOADERS[known](dir, options);
}
