import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
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
import { readDepth } from "./readDepth.ts";
import { readImage } from "../stack/node/diskFiles.ts";
import { resize } from "../image/resize.ts";
import type { PairList, RgbdPair } from "./pairSet.ts";
import { describeSynthesis, metricDepth, synthesizeSample } from "./rgbd.ts";

const LAYOUT = `  DIR/Validation/<video>/wide/<frame>.png            1920×1440 (the folder may be called color)
  DIR/Validation/<video>/highres_depth/<frame>.png   16-bit mm (DIR/Training/... for split "train"; DIR may hold upsampling/)
  DIR/Validation.txt                                 optional: one <video>/lowres_wide/<frame>.png per line, as HybridDepth's lists`;
const missing = layoutError("arkit", LAYOUT);

const FRAME = { width: 640, height: 480 };

interface Frame {
  readonly name: string;
  readonly rgb: string;
  readonly depth: string;
}

/** The upsampling subset through HybridDepth's synthesis: both image and depth are resized with antialiasing, as it does. */
export async function openArkitScenes(dir: string, options: DatasetOptions = {}): Promise<Dataset> {
  const { planes = 5, kernel, focus } = options;
  const synthesis = { preset: "arkit", planes, kernel, focus } as const;
  const { split, items, read, filesOf } = await findArkitPairs(dir, options.split);
  const protocol = `${describeSynthesis(synthesis)}; truth in metres, valid above 0; 480×640`;
  const about = { name: "arkit", split, protocol, licence: "CC BY-NC-SA 4.0" };
  const sample = async (frame: Frame): Promise<Sample> => synthesizeSample(await read(frame), synthesis);
  return listDataset(about, items, sample, { files: filesOf });
}

/** The pairs of a split, as they are before the blur. */
export async function findArkitPairs(dir: string, requested: Split | undefined): Promise<PairList<Frame>> {
  const split = chooseSplit(requested, { dataset: "arkit", among: ["val", "train"] });
  const fold = split === "val" ? "Validation" : "Training";
  const root = [dir, join(dir, "upsampling")].find((folder) => existsSync(join(folder, fold)));
  if (root === undefined) throw missing(join(dir, fold));
  const list = join(root, `${fold}.txt`);
  const frames = existsSync(list) ? await listedFrames(list, join(root, fold)) : await scanFrames(join(root, fold));
  if (frames.length === 0) throw missing(join(root, fold, "*", "highres_depth", "*.png"));
  return {
    split,
    items: frames,
    nameOf: ({ name }) => name,
    filesOf: ({ rgb, depth }) => [rgb, depth],
    read: readFrame,
    close: () => undefined,
  };
}

async function readFrame({ name, rgb, depth }: Frame): Promise<RgbdPair> {
  const image = resize(await readImage(rgb), { ...FRAME, filter: "linear" });
  const { width, height, values } = await readDepth(depth, "depth");
  const resized = resize({ width, height, channels: 1, data: values }, { ...FRAME, filter: "linear" });
  return {
    name,
    where: `${rgb} with ${depth}`,
    image,
    depth: metricDepth({ ...FRAME, values: resized.data }, { above: 0, below: Infinity }),
  };
}

function frameFiles(root: string, video: string, frame: string): Frame {
  const colour = existsSync(join(root, video, "wide")) ? "wide" : "color";
  return { name: frame.replace(/\.png$/, ""), rgb: join(root, video, colour, frame), depth: join(root, video, "highres_depth", frame) };
}

async function listedFrames(list: string, root: string): Promise<Frame[]> {
  const lines = (await readFile(list, "utf8")).split("\n").filter((line) => line.trim() !== "");
  return lines.map((line, i) => {
    const [path = ""] = line.trim().split(/\s+/);
    const video = path.split("/").at(-3);
    if (video === undefined) throw new DatasetError(`arkitScenes: ${list}: line ${i + 1} is not <video>/<folder>/<frame>.png`);
    return frameFiles(root, video, basename(path));
  });
}

async function scanFrames(root: string): Promise<Frame[]> {
  const frames: Frame[] = [];
  for (const video of (await listFolder(root)) ?? [])
    for (const frame of (await listFolder(join(root, video, "highres_depth"))) ?? [])
      if (frame.endsWith(".png")) frames.push(frameFiles(root, video, frame));
  return frames;
}
