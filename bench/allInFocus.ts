// The all-in-focus image against the pinhole image of rendered scenes: ours, the same without p, the average by p² of version 0.1, and enfuse if it
// is installed (Debian: apt-get install enfuse).
//   nice node --import tsx bench/allInFocus.ts [--size 320] [--samples 128] [--model small]
// PSNR and SSIM over the whole image; "sharp" is the share of textured pixels with at least 0.95 of the sharpest frame's Laplacian energy, in the
// scenes without and with noise: noise has that energy, too, and of ten frames the sharpest is the noisiest.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderHost } from "../src/cli/renderHost.ts";
import { fuseImages } from "../src/depth/allInFocus/fusion.ts";
import { boxMean } from "../src/image/boxFilter.ts";
import type { Image } from "../src/image/image.ts";
import { luminance } from "../src/image/luminance.ts";
import { decodePng, encodePng } from "../src/io/png.ts";
import type { FocusProbability } from "../src/network/focusProbability.ts";
import { openNetwork } from "../src/network/node/openNetwork.ts";
import { randomScene } from "../src/optics/scene/random.ts";
import type { Theme } from "../src/optics/scene/themes.ts";
import { generateTextures, splitTextures } from "../src/optics/texture/texture.ts";
import { option } from "./timing.ts";
import { laplacianEnergy, sharpShare } from "../test/helpers/laplacianEnergy.ts";

const PLANES = 10;
const [size, samples] = [Number(option("size", "320")), Number(option("samples", "128"))];
const themes = ["desk", "room", "macro", "clutter", "foliage", "board", "object", "terrain"] as const satisfies readonly Theme[];
/** Every second scene has the noise of a camera. */
const NOISE = { readNoise: 0.004, shotNoise: 0.01 };

const psnr = (a: Image, b: Image): number =>
  -10 * Math.log10(a.data.reduce((sum, value, i) => sum + (value - (b.data[i] as number)) ** 2, 0) / a.data.length);

/** Wang et al. 2004 on the brightness, over squares of 7 pixels. */
function ssim(a: Image, b: Image): number {
  const [x, y] = [luminance(a), luminance(b)];
  const mean = (p: Float32Array, q?: Float32Array): Float32Array =>
    boxMean({ ...x, values: q ? p.map((value, i) => value * (q[i] as number)) : p }, 3);
  const [mx, my] = [mean(x.values), mean(y.values)];
  const [xx, yy, xy] = [mean(x.values, x.values), mean(y.values, y.values), mean(x.values, y.values)];
  const at = (i: number): number => {
    const [p, q] = [mx[i] as number, my[i] as number];
    const [vx, vy, covariance] = [(xx[i] as number) - p * p, (yy[i] as number) - q * q, (xy[i] as number) - p * q];
    return ((2 * p * q + 1e-4) * (2 * covariance + 9e-4)) / ((p * p + q * q + 1e-4) * (vx + vy + 9e-4));
  };
  return mx.reduce((sum, _, i) => sum + at(i), 0) / mx.length;
}

/** Σ p² I / Σ p². */
function average(images: readonly Image[], { values, width, height }: FocusProbability): Image {
  const area = width * height;
  const [first] = images as [Image];
  const data = first.data.map((_, i) => {
    const pixel = Math.floor(i / 3);
    const weights = images.map((_, n) => (values[n * area + pixel] as number) ** 2);
    return (
      images.reduce((sum, image, n) => sum + (weights[n] as number) * (image.data[i] as number), 0) / weights.reduce((p, q) => p + q, 0)
    );
  });
  return { ...first, data };
}

const hasEnfuse = spawnSync("enfuse", ["--version"]).status === 0;

function enfuse(folder: string, files: readonly string[], window: number): Image {
  const output = join(folder, "enfuse.png");
  const weights = [
    "--exposure-weight=0",
    "--saturation-weight=0",
    "--contrast-weight=1",
    "--hard-mask",
    `--contrast-window-size=${window}`,
  ];
  execFileSync("enfuse", [...weights, "-o", output, ...files], { stdio: "ignore" });
  return decodePng(readFileSync(output));
}

const eightBits = (image: Image): Image => decodePng(encodePng(image));

const textures = generateTextures();
const host = renderHost("auto", textures);
const network = await openNetwork(option("model", "small"), { device: "cpu", threads: 2 });
const root = mkdtempSync(join(tmpdir(), "dualfocus-bench-"));
const rows = new Map<string, number[][]>();
try {
  for (const [i, theme] of themes.entries()) {
    const plain = randomScene(3_000_000 + i, { planes: PLANES, width: size, height: size, textures: splitTextures(textures.count).test, blur: [2, 5], theme }); // prettier-ignore
    const { stack } = host.render(i % 2 === 1 ? { ...plain, imperfections: NOISE } : plain, samples);
    const truth = eightBits(host.render({ ...plain, focusDistances: plain.focusDistances.slice(0, 1) }, 2 * samples).allInFocus);
    const images = stack.images.map(eightBits);
    const probability = await network.predict({ ...stack, images });
    const uniform = { ...probability, values: new Float32Array(probability.values.length).fill(1 / PLANES) };
    const folder = join(root, theme);
    mkdirSync(folder);
    const files = images.map((image, n) => {
      const file = join(folder, `${n}.png`);
      writeFileSync(file, encodePng(image));
      return file;
    });
    const results: Record<string, Image> = {
      dualfocus: fuseImages(images, probability),
      "dualfocus --prefer near": fuseImages(images, probability, { prefer: "near" }),
      "dualfocus --prefer far": fuseImages(images, probability, { prefer: "far" }),
      "strongest detail, without p": fuseImages(images, uniform),
      "average by p²": average(images, probability),
      "the pinhole image": truth,
      ...(hasEnfuse ? { enfuse: enfuse(folder, files, 5), "enfuse, window of 9": enfuse(folder, files, 9) } : {}),
    };
    const frames = images.map(laplacianEnergy);
    for (const [name, image] of Object.entries(results)) {
      const found = [psnr(image, truth), ssim(image, truth), 100 * sharpShare(laplacianEnergy(image), frames).sharp];
      rows.set(name, [...(rows.get(name) ?? []), found]);
    }
    process.stderr.write(`${theme}: ${[...rows].map(([name, found]) => `${name} ${found.at(-1)?.map((value) => value.toPrecision(4)).join(" ")}`).join("; ")}\n`); // prettier-ignore
  }
} finally {
  rmSync(root, { recursive: true, force: true });
  await network.dispose();
}
process.stdout.write("| method | PSNR dB | SSIM | sharp % | with noise |\n|---|---:|---:|---:|---:|\n");
for (const [name, found] of rows) {
  const mean = (k: number, some: (scene: number) => boolean = () => true): number => {
    const values = found.filter((_, scene) => some(scene)).map((each) => each[k] as number);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  const sharp = [mean(2, (scene) => scene % 2 === 0), mean(2, (scene) => scene % 2 === 1)].map((share) => share.toFixed(1));
  process.stdout.write(`| ${name} | ${mean(0).toFixed(2)} | ${mean(1).toFixed(4)} | ${sharp.join(" | ")} |\n`);
}
