// Makes docs/depth-formats.jpg: the desk as HEIC, as DNG and as a video, and a shelf photographed from far to near without distances, each
// with the depth that the command finds. Needs heif-enc and ffmpeg.
// node --import tsx scripts/formatsPicture.ts
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { renderHost } from "../src/cli/renderHost.ts";
import { encodePng } from "../src/io/png.ts";
import { generateTextures } from "../src/optics/texture/texture.ts";
import { readImage } from "../src/stack/node/diskFiles.ts";
import { dngFile } from "../test/io/dngFile.ts";
import { desk } from "./exampleScenes.ts";

const PLANES = 7;
const INPUTS = ["heic", "dng", "clip.mp4", "reversed"];
const work = mkdtempSync(join(tmpdir(), "dualfocus-formats-"));
const plane = (n: number, example = "desk"): string => join("examples", example, `plane_0${n}.png`);
const run = (program: string, ...args: string[]): void => void execFileSync(program, args, { stdio: ["ignore", "ignore", "inherit"] });
try {
  for (const folder of ["heic", "dng", "sweep", "reversed"]) mkdirSync(join(work, folder));
  for (let n = 0; n < PLANES; n++) {
    run("heif-enc", "-q", "90", plane(n), "-o", join(work, "heic", `plane_${n}.heic`));
    writeFileSync(join(work, "dng", `plane_${n}.dng`), dngFile(await readImage(plane(n))));
    copyFileSync(plane(n, "breathing"), join(work, "reversed", `plane_${PLANES - 1 - n}.png`));
  }
  filmSweep(join(work, "clip.mp4"));
  const pictures: Buffer[] = [];
  for (const input of INPUTS) {
    const output = join(work, `${input}-depth`);
    run(process.execPath, "--import", "tsx", "src/cli/main.ts", "depth", join(work, input), "-o", output, "--save", "color,aif", "--quiet");
    for (const name of ["aif.png", "color.png"])
      pictures.push(await sharp(join(output, name)).resize({ width: 320, height: 213, fit: "cover", position: "top" }).removeAlpha().toColourspace("srgb").png().toBuffer()); // prettier-ignore
  }
  await sharp({ create: { width: 2 * 320, height: INPUTS.length * 213, channels: 3, background: "white" } })
    .composite(pictures.map((input, n) => ({ input, left: (n % 2) * 320, top: Math.floor(n / 2) * 213 })))
    .jpeg({ quality: 82 })
    .toFile(join("docs", "depth-formats.jpg"));
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** The focus goes from the front of the desk to its back in two seconds. */
function filmSweep(file: string): void {
  const scene = desk();
  const [near, far] = [scene.focusDistances[0] as number, scene.focusDistances.at(-1) as number];
  const focusDistances = Array.from({ length: 30 }, (_, i) => 1 / (1 / near + ((1 / far - 1 / near) * i) / 29));
  const { stack } = renderHost("auto", generateTextures()).render({ ...scene, focusDistances }, 32);
  stack.images.forEach((image, n) => {
    writeFileSync(join(work, "sweep", `${String(n).padStart(2, "0")}.png`), encodePng(image));
  });
  const frames = ["-framerate", "15", "-i", join(work, "sweep", "%02d.png")];
  run("ffmpeg", "-v", "error", ...frames, "-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", file);
}
