import { existsSync } from "node:fs";
import { basename, extname, join } from "node:path";
import type { Image } from "../image/image.ts";
import { decodeMat } from "../io/mat.ts";
import { centralWindow, cropDepth, cropImage } from "../image/crop.ts";
import {
  chooseSplit,
  DatasetError,
  layoutError,
  listDataset,
  listFolder,
  type Dataset,
  type DatasetOptions,
  type Sample,
  type Split,
} from "./dataset.ts";
import { isHdf5, openHdf5, type Hdf5File } from "./hdf5.ts";
import { findNyuPairs, type PairFiles } from "./nyuFolders.ts";
import { isHeldOut } from "./nyuHoldOut.ts";
import type { PairList, RgbdPair } from "./pairSet.ts";
import { readDepth } from "./readDepth.ts";
import { readBytes, readImage } from "../stack/node/diskFiles.ts";
import { describeSynthesis, metricDepth, rgbdPair, synthesizeSample } from "./rgbd.ts";

const LAYOUT = `  one of
  DIR/nyu_depth_v2_labeled.mat + DIR/splits.mat          the official labelled set (MATLAB 7.3) and its 795/654 split
  DIR/test/<scene>/rgb_*.jpg + sync_depth_*.png          BTS and HybridDepth, depth in mm; DIR/sync/<scene>/... for training;
                                                         DIR/nyu_test.txt, DIR/nyu_train.txt if the set is a list of them
  DIR/rgb/NAME.jpg + DIR/depth_mm/NAME.png               plain pairs, 16-bit mm (or DIR/train/rgb ..., DIR/test/rgb ...)`;
const missing = layoutError("nyu", LAYOUT);

/** HybridDepth: valid depths, in metres. */
const VALID = { above: 1e-3, below: 10 };

/** NYU Depth v2 through HybridDepth's synthesis. `planes` defaults to 5, the paper's; 10 is its second table. */
export async function openNyu(dir: string, options: DatasetOptions = {}): Promise<Dataset> {
  const { planes = 5, kernel, focus, crop = "central" } = options;
  const synthesis = { preset: "nyu", planes, kernel, focus } as const;
  const { split, items, read, filesOf, close } = await findNyu(dir, options);
  const about = {
    name: "nyu",
    split,
    protocol: `${describeSynthesis(synthesis)}; truth in metres, valid 0.001 to 10; ${crop === "central" ? "central 384×512" : "whole image"}`,
    licence: "see its authors' page; research use",
  };
  const sample = async (item: NyuItem): Promise<Sample> => synthesizeSample(await read(item), synthesis);
  return { ...listDataset(about, items, sample, { files: filesOf }), close };
}

/** A row of the official file, or an image and its depth. */
type NyuItem = number | PairFiles;

/**
 * The pairs of a split, not yet blurred. `val` is the hold-out of the training images (nyuHoldOut.ts), and what is measured on by default
 * where a folder without a test split holds it.
 */
export async function findNyu(
  dir: string,
  { split: requested, crop = "central" }: Pick<DatasetOptions, "split" | "crop">,
): Promise<PairList<NyuItem>> {
  const list = await findSplit(dir, requested);
  const read = async (item: NyuItem): Promise<RgbdPair> => (crop === "central" ? cropPair(await list.read(item)) : list.read(item));
  const items = list.items.filter((item) => isHeldOut(list.nameOf(item)));
  const split = requested ?? (list.split === "all" && items.length > 0 ? "val" : list.split);
  if (split !== "val") return { ...list, read };
  if (items.length === 0)
    throw new DatasetError(
      `nyu: ${dir} has no image of the hold-out; split "val" needs names that are numbers of the labelled set, as 00091`,
    );
  return { ...list, read, split, items };
}

async function findSplit(dir: string, split: Split | undefined): Promise<PairList<NyuItem>> {
  const names = await listFolder(dir);
  if (!names) throw missing(dir);
  const mat = names.find((name) => name.endsWith(".mat") && name !== "splits.mat");
  if (mat !== undefined) return matPairs(join(dir, mat), { dir, split });
  const found = await findNyuPairs(dir, split === "val" ? "train" : split);
  if (!found) throw missing(`${dir}: data in one of the three layouts`);
  return {
    split: found.split,
    items: found.pairs,
    nameOf: (item) => basename((item as PairFiles).rgb, extname((item as PairFiles).rgb)),
    filesOf: (item) => [(item as PairFiles).rgb, (item as PairFiles).depth],
    read: (item) => readPair(item as PairFiles),
    close: () => undefined,
  };
}

async function matPairs(path: string, { dir, split: requested }: { dir: string; split: Split | undefined }): Promise<PairList<NyuItem>> {
  const split = chooseSplit(requested === "val" ? "train" : requested, { dataset: "nyu", among: ["test", "train", "all"] });
  const file = await openHdf5(path);
  return {
    split,
    items: await matIndices(file, { dir, split }),
    nameOf: (item) => matName(item as number),
    filesOf: () => [file.file],
    read: (item) => Promise.resolve(readMatPair(file, item as number)),
    close: () => {
      file.close();
    },
  };
}

/** Numbers count from one. */
const matName = (index: number): string => String(index + 1).padStart(4, "0");

/** The middle 4/5 of each side: 384×512 of 480×640. */
function cropPair(pair: RgbdPair): RgbdPair {
  const { image, depth } = pair;
  const window = centralWindow(image, { width: Math.floor(image.width * 0.8), height: Math.floor(image.height * 0.8) });
  return { ...pair, image: cropImage(image, window), depth: cropDepth(depth, window) };
}

async function readPair({ rgb, depth }: PairFiles): Promise<RgbdPair> {
  const image = await readImage(rgb);
  const metres = metricDepth(await readDepth(depth, "depth"), VALID);
  return rgbdPair({ name: basename(rgb, extname(rgb)), where: `${rgb} with ${depth}`, image, depth: metres });
}

/** Row numbers of the split. splits.mat counts from one. */
async function matIndices(file: Hdf5File, { dir, split }: { dir: string; split: Split }): Promise<number[]> {
  const [size = 0] = file.shape("depths");
  if (split === "all") return Array.from({ length: size }, (_, index) => index);
  const splits = join(dir, "splits.mat");
  if (!existsSync(splits)) throw missing(`${splits} (the list of the 795/654 split; without it only split "all" can be read)`);
  const name = split === "train" ? "trainNdxs" : "testNdxs";
  const rows = await readVector(splits, name);
  if (!rows) throw new DatasetError(`nyu: ${splits} has no ${name}`);
  const outside = rows.find((row) => row < 1 || row > size);
  if (outside !== undefined) throw new DatasetError(`nyu: ${splits} names image ${outside}; ${file.file} has ${size}`);
  return Array.from(rows, (row) => row - 1);
}

/** A variable of a .mat file of any version. */
async function readVector(path: string, name: string): Promise<Float64Array | undefined> {
  const bytes = await readBytes(path);
  if (!isHdf5(bytes)) return decodeMat(bytes, path)[name]?.data;
  const file = await openHdf5(path);
  try {
    return file.has(name) ? Float64Array.from(file.read(name)) : undefined;
  } finally {
    file.close();
  }
}

/** MATLAB's column order: images [n, 3, width, height], depths [n, width, height]. */
function readMatPair(file: Hdf5File, index: number): RgbdPair {
  const [, channels, width = 0, height = 0] = file.shape("images");
  if (channels !== 3)
    throw new DatasetError(`nyu: ${file.file}: images is [${file.shape("images").join(", ")}], expected [n, 3, width, height]`);
  const colours = file.read("images", [[index, index + 1]]);
  const columns = file.read("depths", [[index, index + 1]]);
  const data = new Float32Array(width * height * 3);
  const values = new Float32Array(width * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      values[y * width + x] = columns[x * height + y] as number;
      for (let c = 0; c < 3; c++) data[(y * width + x) * 3 + c] = (colours[(c * width + x) * height + y] as number) / 255;
    }
  const image: Image = { width, height, channels: 3, data };
  const name = matName(index);
  return { name, where: `${file.file}, image ${name}`, image, depth: metricDepth({ width, height, values }, VALID) };
}
