import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { chooseSplit, DatasetError, listFolder, type Split } from "./dataset.ts";

export interface PairFiles {
  readonly rgb: string;
  readonly depth: string;
}

interface Found {
  readonly split: Split;
  readonly pairs: PairFiles[];
}

/** Where BTS and HybridDepth keep the images of a split, relative to the folder. */
const ROOTS = { test: ["test", "official_splits/test"], train: ["sync", "train", "official_splits/train"] } as const;
const LISTS = {
  test: ["nyu_test.txt", "nyudepthv2_test_files_with_gt.txt"],
  train: ["nyu_train.txt", "nyudepthv2_train_files_with_gt.txt"],
} as const;

/** Image and depth files of a folder in one of the PNG layouts, or undefined if it is not one of them. */
export async function findNyuPairs(dir: string, requested: Split | undefined): Promise<Found | undefined> {
  if (existsSync(join(dir, "rgb"))) {
    if (requested === "test")
      throw new DatasetError(
        `nyu: ${dir} has plain rgb/ and depth_mm/ folders, which have no test split; use split "all", or make test/rgb and test/depth_mm`,
      );
    return { split: requested ?? "all", pairs: await plainPairs(dir) };
  }
  const split = chooseSplit(requested, { dataset: "nyu", among: ["test", "train"] });
  if (existsSync(join(dir, split, "rgb"))) return { split, pairs: await plainPairs(join(dir, split)) };
  const root = ROOTS[split].map((name) => join(dir, name)).find((folder) => existsSync(folder));
  if (root === undefined) return undefined;
  const list = LISTS[split].map((name) => join(dir, name)).find((file) => existsSync(file));
  const pairs = list === undefined ? await scanScenes(root) : await listedPairs(list, root);
  return pairs.length > 0 ? { split, pairs } : undefined;
}

async function plainPairs(dir: string): Promise<PairFiles[]> {
  const images = ((await listFolder(join(dir, "rgb"))) ?? []).filter((name) => /\.(jpe?g|png)$/i.test(name));
  if (images.length === 0) throw new DatasetError(`nyu: ${join(dir, "rgb")} holds no images`);
  const depths = new Set((await listFolder(join(dir, "depth_mm"))) ?? []);
  return images.map((name) => {
    const depth = `${basename(name, extname(name))}.png`;
    if (!depths.has(depth)) throw new DatasetError(`nyu: ${join(dir, "depth_mm", depth)} is missing: every rgb/ image needs its depth`);
    return { rgb: join(dir, "rgb", name), depth: join(dir, "depth_mm", depth) };
  });
}

/** Lines of "scene/rgb_00045.jpg scene/sync_depth_00045.png focal"; pairs marked None have no depth. */
async function listedPairs(list: string, root: string): Promise<PairFiles[]> {
  const lines = (await readFile(list, "utf8")).split("\n").filter((line) => line.trim() !== "");
  return lines.flatMap((line, i) => {
    const [rgb, depth] = line.trim().split(/\s+/);
    if (rgb === undefined || depth === undefined) throw new DatasetError(`nyu: ${list}: line ${i + 1} is not "image depth focal"`);
    return depth === "None" ? [] : [{ rgb: join(root, rgb), depth: join(root, depth) }];
  });
}

async function scanScenes(root: string): Promise<PairFiles[]> {
  const pairs: PairFiles[] = [];
  for (const scene of (await listFolder(root)) ?? []) {
    const names = new Set(await listFolder(join(root, scene)));
    for (const rgb of names) {
      const number = /^rgb_(\d+)\.(jpe?g|png)$/.exec(rgb)?.[1];
      const depth = `sync_depth_${number ?? ""}.png`;
      if (number !== undefined && names.has(depth)) pairs.push({ rgb: join(root, scene, rgb), depth: join(root, scene, depth) });
    }
  }
  return pairs;
}
