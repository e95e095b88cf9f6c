import { findArkitPairs } from "./arkitScenes.ts";
import type { DatasetOptions } from "./dataset.ts";
import { findNyu } from "./nyu.ts";
import { pairSet, type PairSet } from "./pairSet.ts";

export type PairSetName = "nyu" | "arkit" | "pairs";

/**
 * An RGB-D set before any blur, to be synthesized elsewhere. `pairs` is any folder with rgb/NAME.jpg and depth_mm/NAME.png, whole
 * images under NYU's lens.
 */
export async function openPairs(name: PairSetName, dir: string, options: Pick<DatasetOptions, "split"> = {}): Promise<PairSet> {
  if (name === "arkit") return pairSet("arkit", await findArkitPairs(dir, options.split));
  return pairSet("nyu", await findNyu(dir, { ...options, crop: name === "nyu" ? "central" : "none" }));
}
