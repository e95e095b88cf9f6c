import { join } from "node:path";
import { depthMap } from "../image/depthMap.ts";
import { decodeExr, exrChannel } from "../io/exr.ts";
import { focalStack, selectPlanes } from "../stack/focalStack.ts";
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
import { readBytes, readImage } from "../stack/node/diskFiles.ts";

/** Metres; the same for every scene. */
const FOCUS_DISTANCES = [0.1, 0.15, 0.3, 0.7, 1.5];
const FIRST_TEST_SCENE = 400;

const LAYOUT = `  DIR/NNNNNN_xxAll.tif   five images per scene, nearest focus first
  DIR/NNNNNN_Dpt.exr     depth in metres, channel R, half float`;
const missing = layoutError("fod500", LAYOUT);

interface Scene {
  readonly id: string;
  readonly files: readonly string[];
  readonly depth: string;
}

/** DefocusNet's rendered set as DFV reads it: scenes below 400 train, the rest test. */
export async function openFod500(dir: string, options: DatasetOptions = {}): Promise<Dataset> {
  const split = chooseSplit(options.split, { dataset: "fod500", among: ["test", "train", "all"] });
  const names = (await listFolder(dir)) ?? [];
  const scenes = findScenes(dir, names).filter(({ id }) => split === "all" || Number(id) >= FIRST_TEST_SCENE === (split === "test"));
  if (scenes.length === 0) {
    const example = join(dir, split === "train" ? "000000_Dpt.exr" : "000400_Dpt.exr");
    throw missing(`${example} (any scene of split "${split}")`);
  }
  const { depthScale = 1, planes } = options;
  const distances = takePlanes("fod500", { available: FOCUS_DISTANCES.length, planes }).map((plane) => FOCUS_DISTANCES[plane]);
  const times = depthScale === 1 ? "" : ` × ${depthScale}`;
  const protocol =
    `${planesInWords([FOCUS_DISTANCES.length], planes)}, focus ${distances.join(", ")} m${times}; ` +
    `truth in metres${times}, valid above 0; full 256×256`;
  const about = { name: "fod500", split, protocol, licence: "not stated by its authors (DefocusNet); research use" };
  return listDataset(about, scenes, (scene) => readScene(scene, options), { files: ({ files, depth }) => [...files, depth] });
}

function findScenes(dir: string, names: readonly string[]): Scene[] {
  const depths = names.filter((name) => /^\d{6}.*Dpt\.exr$/.test(name));
  return depths.map((depth) => {
    const id = depth.slice(0, 6);
    const files = names.filter((name) => name.startsWith(id) && name.endsWith("All.tif"));
    if (files.length !== FOCUS_DISTANCES.length) throw missing(join(dir, `${id}_*All.tif (found ${files.length} of 5)`));
    return { id, files: files.map((name) => join(dir, name)), depth: join(dir, depth) };
  });
}

async function readScene({ id, files, depth }: Scene, { planes, depthScale = 1 }: DatasetOptions): Promise<Sample> {
  const exr = await decodeExr(await readBytes(depth), depth);
  const values = exrChannel(exr, "R", depth).map((value) => value * depthScale);
  const valid = Uint8Array.from(values, (value) => (Number.isFinite(value) && value > 0 ? 1 : 0));
  const focusDistances = FOCUS_DISTANCES.map((distance) => distance * depthScale);
  const images = await Promise.all(files.map(readImage));
  const whole = focalStack({ images, focusDistances, space: "depth" });
  const stack = selectPlanes(whole, takePlanes(id, { available: FOCUS_DISTANCES.length, planes }));
  return { name: id, stack, trueDepth: depthMap({ width: exr.width, height: exr.height, values, valid, space: "depth" }) };
}
