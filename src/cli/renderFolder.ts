import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeNpy } from "../io/npy.ts";
import { encodePng } from "../io/png.ts";
import type { Rendering } from "../optics/render.ts";
import type { Scene } from "../optics/scene.ts";
import { formatScene } from "../optics/scene.ts";

/** plane_00.png …, aif.png, depth.npy (metres, 0: nothing there), scene.json and, unless `distances` is off, stack.json. */
export async function writeRendering(
  folder: string,
  scene: Scene,
  { stack, depth, allInFocus }: Rendering,
  { distances = true } = {},
): Promise<void> {
  for (const [n, picture] of stack.images.entries()) await writeFile(join(folder, planeName(n)), encodePng(picture));
  await writeFile(join(folder, "aif.png"), encodePng(allInFocus));
  await writeFile(join(folder, "depth.npy"), encodeNpy({ shape: [depth.height, depth.width], data: depth.values }));
  await writeFile(join(folder, "scene.json"), formatScene(scene));
  if (distances) await writeFile(join(folder, "stack.json"), `${JSON.stringify(stackJson(scene), null, 2)}\n`);
}

const planeName = (n: number): string => `plane_${String(n).padStart(2, "0")}.png`;

function stackJson({ focusDistances, camera: { focalLength, fNumber, pixelPitch } }: Scene): unknown {
  return {
    unit: "m",
    focus: focusDistances,
    files: focusDistances.map((_, n) => planeName(n)),
    camera: { focalLength, fNumber, pixelPitch },
  };
}
