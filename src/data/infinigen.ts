import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { depthMap } from "../image/depthMap.ts";
import { focalStack } from "../stack/focalStack.ts";
import {
  chooseSplit,
  layoutError,
  listDataset,
  listFolder,
  planesInWords,
  takePlanes,
  type Dataset,
  type DatasetOptions,
  type Sample,
} from "./dataset.ts";
import { readDepth } from "./readDepth.ts";
import { readImage } from "../stack/node/diskFiles.ts";

const LAYOUT = `  DIR/<scene>/image_ap_1.40_fd_0.80.png   rendered at that f-number, focused at that distance in metres
  DIR/<scene>/depth.npy                   metres`;
const missing = layoutError("infinigen", LAYOUT);

/** FOSSA's evaluation planes, in metres. */
const PROTOCOL = [0.8, 1.7, 3.0, 4.7, 8.0];

interface Scene {
  readonly folder: string;
  /** What was rendered at the aperture, near to far. */
  readonly rendered: readonly { readonly name: string; readonly distance: number }[];
}

/** Infinigen Defocus. Without `planes`, FOSSA's five; with it, that many of all that were rendered at the aperture. */
export async function openInfinigen(dir: string, options: DatasetOptions = {}): Promise<Dataset> {
  const split = chooseSplit(options.split, { dataset: "infinigen", among: ["val", "test", "all"] });
  const { aperture = 1.4, planes } = options;
  const folders = ((await listFolder(dir)) ?? []).map((name) => join(dir, name)).filter((folder) => existsSync(join(folder, "depth.npy")));
  if (folders.length === 0) throw missing(join(dir, "*", "depth.npy"));
  const scenes = await Promise.all(folders.map((folder) => listScene(folder, aperture)));
  const protocol = `F${aperture.toFixed(1)}, ${focusInWords(scenes, planes)}; truth in metres, valid 0.01 to 1000`;
  const about = { name: "infinigen", split, protocol, licence: "not stated with the download; see its page" };
  return listDataset(about, scenes, (scene) => readScene(scene, { aperture, planes }), { files: ({ folder }) => [folder] });
}

async function listScene(folder: string, aperture: number): Promise<Scene> {
  const rendered = ((await listFolder(folder)) ?? []).flatMap((name) => {
    const match = /^image_ap_([\d.]+)_fd_([\d.]+)\.png$/.exec(name);
    return match && Math.abs(Number(match[1]) - aperture) < 1e-6 ? [{ name, distance: Number(match[2]) }] : [];
  });
  return { folder, rendered: rendered.sort((a, b) => a.distance - b.distance) };
}

/** In metres, near to far. */
function focusDistances({ folder, rendered }: Scene, planes: number | undefined): number[] {
  if (planes === undefined) return PROTOCOL;
  return takePlanes(folder, { available: rendered.length, planes }).map((index) => rendered[index]?.distance ?? NaN);
}

/** The distances, if they are those of every scene. */
function focusInWords(scenes: readonly Scene[], planes: number | undefined): string {
  const distances = new Set(scenes.map((scene) => focusDistances(scene, planes).join(", ")));
  const focus = distances.size === 1 ? [`focus ${[...distances].join()} m`] : [];
  const numbers = scenes.map(({ rendered }) => rendered.length);
  return [...(planes === undefined ? [] : [planesInWords(numbers, planes)]), ...focus].join(", ");
}

async function readScene(scene: Scene, { aperture, planes }: { aperture: number; planes: number | undefined }): Promise<Sample> {
  const { folder, rendered } = scene;
  const wanted = focusDistances(scene, planes);
  const files = wanted.map((distance) => {
    const plane = rendered.find((candidate) => Math.abs(candidate.distance - distance) < 1e-6);
    const name = `image_ap_${aperture.toFixed(2)}_fd_${distance.toFixed(2)}.png`;
    if (!plane) throw missing(join(folder, name));
    return join(folder, plane.name);
  });
  const images = await Promise.all(files.map(readImage));
  const { width, height, values } = await readDepth(join(folder, "depth.npy"), "depth");
  const valid = Uint8Array.from(values, (value) => (value >= 0.01 && value <= 1000 ? 1 : 0));
  const trueDepth = depthMap({ width, height, values, valid, space: "depth" });
  return { name: basename(folder), stack: focalStack({ images, focusDistances: wanted, space: "depth" }), trueDepth };
}
