import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { depthMap } from "../depth.ts";
import { choosePlanes, focalStack } from "../stack.ts";
import { chooseSplit, layoutError, listDataset, listFolder } from "./dataset.ts";
import type { Dataset, DatasetOptions, Sample } from "./dataset.ts";
import { readDepth } from "./readDepth.ts";
import { readImage } from "./readImage.ts";

const LAYOUT = `  DIR/<scene>/image_ap_1.40_fd_0.80.png   rendered at that f-number, focused at that distance in metres
  DIR/<scene>/depth.npy                   metres`;

/** FOSSA's evaluation planes, in metres. */
const PROTOCOL = [0.8, 1.7, 3.0, 4.7, 8.0];

/** Infinigen Defocus. Without `planes`, FOSSA's five; with it, so many of all that were rendered at the aperture. */
export async function openInfinigen(dir: string, options: DatasetOptions = {}): Promise<Dataset> {
  const split = chooseSplit(options.split, { dataset: "infinigen", among: ["val", "test", "all"] });
  const { aperture = 1.4, planes } = options;
  const scenes = ((await listFolder(dir)) ?? []).map((name) => join(dir, name)).filter((folder) => existsSync(join(folder, "depth.npy")));
  if (scenes.length === 0) throw layoutError({ dataset: "infinigen", missing: join(dir, "*", "depth.npy"), layout: LAYOUT });
  const chosen = planes === undefined ? `focus ${PROTOCOL.join(", ")} m` : `${planes} of the rendered planes`;
  const protocol = `F${aperture.toFixed(1)}, ${chosen}; truth in metres, valid 0.01 to 1000`;
  const about = { name: "infinigen", split, protocol, licence: "not stated with the download; see its page" };
  return listDataset(about, scenes, (folder) => readScene(folder, { aperture, planes }), { files: (folder) => [folder] });
}

async function readScene(folder: string, { aperture, planes }: { aperture: number; planes: number | undefined }): Promise<Sample> {
  const rendered = ((await listFolder(folder)) ?? []).flatMap((name) => {
    const match = /^image_ap_([\d.]+)_fd_([\d.]+)\.png$/.exec(name);
    return match && Math.abs(Number(match[1]) - aperture) < 1e-6 ? [{ name, distance: Number(match[2]) }] : [];
  });
  const all = rendered.sort((a, b) => a.distance - b.distance);
  const wanted = planes === undefined ? PROTOCOL : choosePlanes(all.length, planes).map((index) => all[index]?.distance ?? NaN);
  const files = wanted.map((distance) => {
    const plane = all.find((candidate) => Math.abs(candidate.distance - distance) < 1e-6);
    const name = `image_ap_${aperture.toFixed(2)}_fd_${distance.toFixed(2)}.png`;
    if (!plane) throw layoutError({ dataset: "infinigen", missing: join(folder, name), layout: LAYOUT });
    return join(folder, plane.name);
  });
  const images = await Promise.all(files.map(readImage));
  const { width, height, values } = await readDepth(join(folder, "depth.npy"), "depth");
  const valid = Uint8Array.from(values, (value) => (value >= 0.01 && value <= 1000 ? 1 : 0));
  const trueDepth = depthMap({ width, height, values, valid, space: "depth" });
  return { name: basename(folder), stack: focalStack({ images, focusDistances: wanted, space: "depth" }), trueDepth };
}
