import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DepthMap } from "../image/depthMap.ts";
import type { Image } from "../image/image.ts";
import { encodeNpy } from "../io/npy.ts";
import { encodePng } from "../io/png.ts";
import type { Camera } from "../stack/stackFormat.ts";
import type { FocalStack } from "../stack/focalStack.ts";

/** What stack.json says of the focus distances; `none` leaves the file out, as for a camera that did not record them. */
export type WrittenUnit = "m" | "mm" | "none";

export interface WrittenStack {
  /** In metres. */
  readonly stack: FocalStack;
  readonly camera: Camera;
  readonly allInFocus: Image;
  readonly depth: DepthMap;
  readonly unit?: WrittenUnit;
  /** Goes into stack.json as it is: how the stack was made. */
  readonly made?: Readonly<Record<string, unknown>>;
}

/** plane_00.png …, aif.png, depth.npy (metres, 0 where unknown) and stack.json. */
export async function writeStack(folder: string, written: WrittenStack): Promise<void> {
  const { stack, allInFocus, depth, unit = "m", made = {} } = written;
  const { focalLength, fNumber, pixelPitch } = written.camera;
  const files = stack.images.map((_, n) => `plane_${String(n).padStart(2, "0")}.png`);
  for (const [n, plane] of stack.images.entries()) await writeFile(join(folder, files[n] as string), encodePng(plane));
  await writeFile(join(folder, "aif.png"), encodePng(allInFocus));
  const known = depth.values.map((value, i) => (depth.valid[i] ? value : 0));
  await writeFile(join(folder, "depth.npy"), encodeNpy({ shape: [depth.height, depth.width], data: known }));
  if (unit === "none") return;
  const focus = stack.focusDistances.map((distance) => (unit === "mm" ? 1000 * distance : distance));
  await writeJson(join(folder, "stack.json"), { unit, focus, files, camera: { focalLength, fNumber, pixelPitch }, ...made });
}

export const writeJson = (file: string, value: unknown): Promise<void> => writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
