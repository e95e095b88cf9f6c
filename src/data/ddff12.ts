import { existsSync } from "node:fs";
import { join } from "node:path";
import { depthMap } from "../image/depthMap.ts";
import type { Image, Size } from "../image/image.ts";
import { focalStack } from "../stack/focalStack.ts";
import {
  chooseSplit,
  DatasetError,
  layoutError,
  listDataset,
  listFolder,
  planesInWords,
  takePlanes,
  type Dataset,
  type DatasetOptions,
  type Sample,
} from "./dataset.ts";
import { openHdf5, type Hdf5File } from "./hdf5.ts";

/** Disparity in pixels of the ten planes, 0.5 m to 7 m, near to far (DFV hard-codes these). */
const DISPARITIES = Array.from({ length: 10 }, (_, n) => 0.28 + ((0.02 - 0.28) * n) / 9);

const LAYOUT = `  DIR/ddff-dataset-trainval.h5 (or my_ddff_trainVal.h5, DFV's own; or any one .h5; DIR may be the file itself)
    stack_train, stack_val   [scenes, 10, 383, 552, 3]  0 to 255
    disp_train, disp_val     [scenes, 383, 552]         disparity in pixels, 0 where unknown`;
const missing = layoutError("ddff12", LAYOUT);

/** DDFF 12-Scene, read slice by slice. Everything is in disparity, as in every published table. */
export async function openDdff12(dir: string, options: DatasetOptions = {}): Promise<Dataset> {
  const split = chooseSplit(options.split, { dataset: "ddff12", among: ["val", "train"] });
  const file = await openHdf5(await findFile(dir));
  const [stackName, truthName] = [`stack_${split}`, `disp_${split}`];
  const absent = [stackName, truthName].find((name) => !file.has(name));
  if (absent !== undefined) throw missing(`dataset "${absent}" in ${file.file}`);
  const shape = file.shape(stackName);
  const [size = 0, planes, height, width, channels] = shape;
  const truthShape = file.shape(truthName).filter((length, axis) => axis === 0 || length !== 1);
  if (planes !== DISPARITIES.length || channels !== 3 || String(truthShape) !== String([size, height, width]))
    throw new DatasetError(
      `ddff12: ${file.file}: ${stackName} is [${shape.join(", ")}] and ${truthName} [${truthShape.join(", ")}]; expected\n${LAYOUT}`,
    );
  const chosen = takePlanes(file.file, { available: planes, planes: options.planes });
  const protocol =
    `disparity linspace(0.28, 0.02, 10), ${planesInWords([planes], options.planes)}; ` +
    `truth in disparity, valid above 0; 383×552${options.pad ? " reflected to 384×576" : ""}`;
  const about = { name: "ddff12", split, protocol, licence: "see its authors' page; research use" };
  const read = (index: number): Sample => readStack(file, { index, split, chosen, pad: options.pad ?? false });
  const close = (): void => {
    file.close();
  };
  return listDataset(about, [...Array(size).keys()], read, { files: () => [file.file], close });
}

async function findFile(dir: string): Promise<string> {
  if (/\.(h5|hdf5)$/i.test(dir) && existsSync(dir)) return dir;
  const names = (await listFolder(dir)) ?? [];
  const preferred = ["ddff-dataset-trainval.h5", "my_ddff_trainVal.h5", "dfv_trainVal.h5"].find((name) => names.includes(name));
  const any = names.filter((name) => /\.(h5|hdf5)$/i.test(name));
  const chosen = preferred ?? (any.length === 1 ? any[0] : undefined);
  if (chosen === undefined) throw missing(join(dir, "ddff-dataset-trainval.h5"));
  return join(dir, chosen);
}

interface Reading {
  readonly index: number;
  readonly split: string;
  readonly chosen: readonly number[];
  readonly pad: boolean;
}

function readStack(file: Hdf5File, { index, split, chosen, pad }: Reading): Sample {
  const [, , height = 0, width = 0] = file.shape(`stack_${split}`);
  const one = [index, index + 1] as const;
  const values = Float32Array.from(file.read(`disp_${split}`, [one]), (value) => (Number.isFinite(value) ? value : 0));
  const valid = Uint8Array.from(values, (value) => (value > 0 ? 1 : 0));
  const images = chosen.map((plane) => {
    const bytes = file.read(`stack_${split}`, [one, [plane, plane + 1]]);
    return { width, height, channels: 3 as const, data: Float32Array.from(bytes, (value) => value / 255) };
  });
  const focusDistances = chosen.map((plane) => DISPARITIES[plane] as number);
  const sample = {
    name: `${split}_${String(index).padStart(3, "0")}`,
    stack: focalStack({ images, focusDistances, space: "disparity" }),
    trueDepth: depthMap({ width, height, values, valid, space: "disparity" }),
  };
  const up = (size: number): number => Math.ceil(size / 32) * 32;
  return pad ? padSample(sample, { width: up(width), height: up(height) }) : sample;
}

/** Mirrors the right and bottom edges outwards without repeating the edge pixel; the added depth is 0 and invalid. */
export function padSample(sample: Sample, { width, height }: Size): Sample {
  const { trueDepth } = sample;
  if (width < trueDepth.width || height < trueDepth.height || width > 2 * trueDepth.width - 1 || height > 2 * trueDepth.height - 1)
    throw new RangeError(`pad: cannot reflect ${trueDepth.width}×${trueDepth.height} to ${width}×${height}`);
  const images = sample.stack.images.map((image) => padImage(image, { width, height }));
  const values = new Float32Array(width * height);
  const valid = new Uint8Array(width * height);
  for (let y = 0; y < trueDepth.height; y++) {
    const row = y * trueDepth.width;
    values.set(trueDepth.values.subarray(row, row + trueDepth.width), y * width);
    valid.set(trueDepth.valid.subarray(row, row + trueDepth.width), y * width);
  }
  return { ...sample, stack: { ...sample.stack, images }, trueDepth: { ...trueDepth, width, height, values, valid } };
}

function padImage(image: Image, { width, height }: Size): Image {
  const { channels } = image;
  const mirror = (i: number, size: number): number => (i < size ? i : 2 * (size - 1) - i);
  const data = new Float32Array(width * height * channels);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const from = (mirror(y, image.height) * image.width + mirror(x, image.width)) * channels;
      for (let c = 0; c < channels; c++) data[(y * width + x) * channels + c] = image.data[from + c] as number;
    }
  return { ...image, width, height, data };
}
