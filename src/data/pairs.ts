import { DatasetError, type DatasetOptions } from "./dataset.ts";
import { openPackedPairs } from "./packedPairs.ts";
import { pairSet, type PairSet } from "./pairSet.ts";

export type PairSetName = "nyu" | "arkit" | "pairs";

/**
 * An RGB-D set before any blur, to be synthesized elsewhere. `pairs` is any folder with rgb/NAME.jpg and depth_mm/NAME.png, whole
 * images under NYU's lens. A folder of packed files is read whatever the set; it has no split.
 */
export async function openPairs(name: PairSetName, dir: string, options: Pick<DatasetOptions, "split"> = {}): Promise<PairSet> {
  const packed = await openPackedPairs(dir).catch((cause: unknown) => {
    if (cause instanceof DatasetError) throw cause;
    return undefined; // no such folder: the loader says so
  });
  if (packed) return packed;
  // The loaders bring the image decoders.
  if (name === "arkit") return pairSet("arkit", await (await import("./arkitScenes.ts")).findArkitPairs(dir, options.split));
  const { findNyu } = await import("./nyu.ts");
  return pairSet("nyu", await findNyu(dir, { ...options, crop: name === "nyu" ? "central" : "none" }));
}
