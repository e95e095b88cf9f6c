import { execFileSync, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { encodePng } from "../../src/io/png.ts";
import { renderScene } from "../../src/optics/render/render.ts";
import { generateTextures } from "../../src/optics/texture/texture.ts";
import { desk } from "../../scripts/exampleScenes.ts";
import { put } from "../data/files.ts";

/** Why tests of videos are skipped, if they are. */
export const withoutFfmpeg = spawnSync("ffmpeg", ["-version"]).status === 0 ? false : "ffmpeg is not installed";

/** Planes of a clip, and frames before the first and after the last. */
export const [PLANES, WAITING] = [18, 16];
export const CLIP_SIZE = { width: 160, height: 96 };

/** The focus goes through the desk from front to back, as far in each frame in dioptres. */
export function renderedSweep(): { images: ReturnType<typeof renderScene>["stack"]["images"]; focusDistances: readonly number[] } {
  const scene = desk();
  const [near, far] = [scene.focusDistances[0] as number, scene.focusDistances.at(-1) as number];
  const focusDistances = Array.from({ length: PLANES }, (_, i) => 1 / (1 / near + ((1 / far - 1 / near) * i) / (PLANES - 1)));
  const camera = { ...scene.camera, ...CLIP_SIZE, pixelPitch: scene.camera.pixelPitch * 2.4 };
  return { ...renderScene({ ...scene, camera, focusDistances }, { textures: generateTextures(), samples: 16 }).stack };
}

/** How ffmpeg encodes a clip, by the ending of its name. */
const CODECS: Readonly<Record<string, readonly string[]>> = {
  mp4: ["-c:v", "libx264", "-crf", "14"],
  webm: ["-c:v", "libvpx-vp9", "-crf", "14", "-b:v", "0", "-cpu-used", "8"],
};

/** Every plane for two frames, after `WAITING` of the first and before as many of the last. The ending of `file` says how it is encoded. */
export function filmed(images: ReturnType<typeof renderedSweep>["images"], file: string): string {
  const folder = join(dirname(file), "planes");
  images.forEach((image, n) => { put(join(folder, `${String(n).padStart(2, "0")}.png`), encodePng(image)); }); // prettier-ignore
  const frames = ["-framerate", "15", "-i", join(folder, "%02d.png")];
  const waiting = `tpad=start_mode=clone:start=${WAITING / 2}:stop_mode=clone:stop=${WAITING / 2},fps=30`;
  const codec = CODECS[file.split(".").at(-1) ?? ""] ?? [];
  execFileSync("ffmpeg", ["-v", "error", "-y", ...frames, "-vf", waiting, ...codec, "-pix_fmt", "yuv420p", file]);
  return file;
}
