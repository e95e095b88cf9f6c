import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeNpy } from "../io/npy.ts";
import { encodePng } from "../io/png.ts";
import type { Rendering } from "../optics/render.ts";
import type { Scene } from "../optics/scene.ts";
import { formatScene } from "../optics/scene.ts";

/** What stack.json says of the focus distances; `none` leaves the file out, as for a camera that did not record them. */
export type WrittenUnit = "m" | "mm" | "none";

/** plane_00.png …, aif.png, depth.npy (metres, 0: nothing there), scene.json and stack.json. */
export async function writeRendering(
  folder: string,
  scene: Scene,
  { stack, depth, allInFocus }: Rendering,
  { unit = "m" }: { unit?: WrittenUnit } = {},
): Promise<void> {
  for (const [n, picture] of stack.images.entries()) await writeFile(join(folder, planeName(n)), encodePng(picture));
  await writeFile(join(folder, "aif.png"), encodePng(allInFocus));
  await writeFile(join(folder, "depth.npy"), encodeNpy({ shape: [depth.height, depth.width], data: depth.values }));
  await writeFile(join(folder, "scene.json"), formatScene(scene));
  if (unit !== "none") await writeFile(join(folder, "stack.json"), `${JSON.stringify(stackJson(scene, unit), null, 2)}\n`);
}

const planeName = (n: number): string => `plane_${String(n).padStart(2, "0")}.png`;

function stackJson({ focusDistances, camera: { focalLength, fNumber, pixelPitch } }: Scene, unit: "m" | "mm"): unknown {
  const focus = focusDistances.map((distance) => (unit === "mm" ? 1000 * distance : distance));
  return { unit, focus, files: focus.map((_, n) => planeName(n)), camera: { focalLength, fNumber, pixelPitch } };
}
