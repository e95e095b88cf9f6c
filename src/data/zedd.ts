import type { Image, Size } from "../image/image.ts";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { depthMap, type DepthMap } from "../image/depthMap.ts";
import { orderPlanes } from "../stack/stackFormat.ts";
import { focalStack } from "../stack/focalStack.ts";
import { centralWindow, cropDepth, cropImage } from "../image/crop.ts";
import {
  chooseSplit,
  DatasetError,
  layoutError,
  listDataset,
  listFolder,
  takePlanes,
  type Dataset,
  type DatasetOptions,
  type Sample,
} from "./dataset.ts";
import { readDepth } from "./readDepth.ts";
import { readBytes, readImage } from "../stack/node/diskFiles.ts";
import { resizeNearest } from "../image/nearest.ts";
import { resize } from "../image/resize.ts";

const LAYOUT = `  DIR/metadata.txt                                                     run_1<TAB>6D3E<TAB>metres, one line per focus run
  DIR/val/val_0001/focus_stack/img_run_1_motor_6D3E_aperture_F2.8.jpg
  DIR/val/val_0001/gt/depth.npy                                        metres (the test split has none)`;
const missing = layoutError("zedd", LAYOUT);

const SIZES = { val: { width: 640, height: 480 }, test: { width: 1824, height: 1216 } } as const;

interface Run {
  readonly run: string;
  readonly motor: string;
  readonly focusDistance: number;
}

/** Real DSLR stacks with LiDAR depth, as FOSSA evaluates on them: F2.8, runs 1 3 5 7 9, 480×640. */
export async function openZedd(dir: string, options: DatasetOptions = {}): Promise<Dataset> {
  const split = chooseSplit(options.split, { dataset: "zedd", among: ["val", "test"] });
  const { planes = 5, aperture = 2.8 } = options;
  const metadata = join(dir, "metadata.txt");
  if (!existsSync(metadata)) throw missing(metadata);
  const runs = parseMetadata(new TextDecoder().decode(await readBytes(metadata)), metadata);
  const chosen = takePlanes(metadata, { available: runs.length, planes }).map((index) => runs[index] as Run);
  const scenes = ((await listFolder(join(dir, split))) ?? []).filter((name) => existsSync(join(dir, split, name, "focus_stack")));
  if (scenes.length === 0) throw missing(join(dir, split, `${split}_0001`, "focus_stack"));
  const { width, height } = SIZES[split];
  const protocol = `F${aperture.toFixed(1)}, runs ${chosen.map(({ run }) => run).join(" ")} of ${runs.length}; truth in metres, valid 0.01 to 1000; resized to height ${height}, central ${width}`;
  const about = { name: "zedd", split, protocol, licence: "CC BY 4.0" };
  const folders = scenes.map((name) => join(dir, split, name));
  const read = (folder: string): Promise<Sample> =>
    readScene(folder, { runs: chosen, aperture, frame: SIZES[split], hasTruth: split === "val" });
  return listDataset(about, folders, read, { files: (folder) => [metadata, join(folder, "focus_stack"), join(folder, "gt")] });
}

/** Lines of "run_1<TAB>6D3E<TAB>0.85", comments after #; in the order of the file. */
function parseMetadata(text: string, file: string): Run[] {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => {
    const [run = "", motor = "", distance] = line.split("\t");
    const focusDistance = Number(distance);
    if (!/\d+$/.test(run) || !(focusDistance > 0)) throw new DatasetError(`zedd: ${file}: "${line}" is not run<TAB>motor<TAB>metres`);
    return { run: run.replace(/\D+/, ""), motor, focusDistance };
  });
}

interface Reading {
  readonly runs: readonly Run[];
  readonly aperture: number;
  readonly frame: Size;
  readonly hasTruth: boolean;
}

async function readScene(folder: string, { runs, aperture, frame, hasTruth }: Reading): Promise<Sample> {
  const planes = runs.map(({ run, motor, focusDistance }) => ({
    file: join(folder, "focus_stack", `img_run_${run}_motor_${motor}_aperture_F${aperture.toFixed(1)}.jpg`),
    value: focusDistance,
    source: "argument" as const,
  }));
  const ordered = orderPlanes(planes, "m");
  const images: Image[] = [];
  for (const { file } of ordered.planes) images.push(fitImage(await readImage(file), frame));
  const { width, height } = images[0] as Image;
  const nothing = new Float32Array(width * height);
  const trueDepth = hasTruth
    ? fitDepth(await readDepth(join(folder, "gt", "depth.npy"), "depth"), { width, height, frame })
    : depthMap({ width, height, values: nothing, valid: new Uint8Array(nothing.length), space: "depth" });
  return { name: basename(folder), stack: focalStack({ images, focusDistances: ordered.focusDistances, space: "depth" }), trueDepth };
}

/** To the frame's height, then the middle of the width. */
function fitImage(image: Image, frame: Size): Image {
  const width = image.height === frame.height ? image.width : Math.floor((image.width * frame.height) / image.height);
  const scaled = resize(image, { width, height: frame.height, filter: "lanczos" });
  const kept = Math.min(width, frame.width);
  return cropImage(scaled, centralWindow(scaled, { width: kept, height: frame.height }));
}

function fitDepth(depth: DepthMap, { width, height, frame }: { width: number; height: number; frame: { height: number } }): DepthMap {
  const wide = depth.height === frame.height ? depth.width : Math.floor((depth.width * frame.height) / depth.height);
  const values = resizeNearest(depth.values, depth, { width: wide, height: frame.height });
  const valid = Uint8Array.from(values, (value) => (value >= 0.01 && value <= 1000 ? 1 : 0));
  const scaled = depthMap({ width: wide, height: frame.height, values, valid, space: "depth" });
  return cropDepth(scaled, centralWindow(scaled, { width, height }));
}
