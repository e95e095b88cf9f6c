import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command, Option } from "commander";

import { readBytes } from "../stack/node/diskFiles.ts";
import { loadTextures } from "../train/textures.ts";
import { DEFAULT_SAMPLES } from "../optics/render/render.ts";
import type { Scene } from "../optics/scene/scene.ts";
import { SceneError, formatScene, parseScene } from "../optics/scene/scene.ts";
import { randomScene } from "../optics/scene/random.ts";
import { createRandom } from "../random.ts";
import { isMissing } from "../system/errno.ts";
import { UserError } from "../system/userError.ts";
import { fillFolder, makeFolder, removeLeftovers } from "../system/outputFolder.ts";
import type { RenderDevice, RenderHost } from "./renderHost.ts";
import { RENDER_DEVICES, renderHost } from "./renderHost.ts";
import { packageVersion } from "../system/packageFolder.ts";
import { writeStack } from "./writeStack.ts";
import { listOf, parser, positiveNumber, share, sidePair, wholeNumber } from "./arguments.ts";

interface RenderOptions {
  readonly output: string;
  readonly scenes?: number;
  readonly scene?: string;
  readonly seed: number;
  readonly planes?: number;
  readonly size?: readonly [number, number];
  readonly samples: number;
  readonly textures?: string;
  readonly metres?: readonly number[];
  readonly imperfect?: number;
  readonly phone?: number;
  readonly lightField?: number;
  readonly device: RenderDevice;
  readonly json: boolean;
}

const MOST_SAMPLES = 65536; // what the native kernel counts to

export function renderCommand(): Command {
  return new Command("render")
    .option("--scenes <N>", "number of random scenes", wholeNumber(1))
    .option("--scene <FILE>", "render this scene instead (a scene.json)")
    .option("--seed <S>", "random seed; the same seed gives the same scenes", wholeNumber(0), 0)
    .option("--planes <N>", "number of planes of each stack (default: 5)", wholeNumber(1))
    .option("--size <PX>", "PX or WIDTHxHEIGHT of the images (default: 256)", imageSize)
    .option("--samples <S>", "rays per pixel and plane", wholeNumber(1, MOST_SAMPLES), DEFAULT_SAMPLES)
    .option("--textures <DIR>", "folder of JPEG or PNG images to texture scenes with, besides the generated textures")
    .option("--metres <RANGE...>", "range of the nearest distance, for instance 0.3 2 (default: 0.02 3)", distances)
    .option(
      "--imperfect <SHARE>",
      "share of scenes with noise, drift, misalignment and other flaws of real stacks, 0 to 1 (default: 0)",
      share,
    )
    .option(
      "--phone <SHARE>",
      "share of scenes taken by hand and processed as phones do, half of them with cast shadows; 0 to 1 (default: 0)",
      share,
    )
    .option(
      "--light-field <SHARE>",
      "share of the other scenes that are light fields of 5×5 to 9×9 views, refocused; 0 to 1 (default: 0)",
      share,
    )
    .addOption(new Option("--device <NAME>", "auto: cpu where the addon is built, else js").choices(RENDER_DEVICES).default("auto"))
    .requiredOption("-o, --output <DIR>", "folder for scene_000000, scene_000001, …; finished ones are kept and skipped")
    .option("--json", "print the result as JSON", false)
    .action(runRender);
}

async function runRender(options: RenderOptions): Promise<void> {
  checkOptions(options);
  const started = performance.now();
  const given = options.scene === undefined ? undefined : await readScene(options.scene);
  const textures = await loadTextures(options.textures);
  const scenes = given ? { count: 1, at: () => given } : randomScenes(options, textures.count);
  const host = renderHost(options.device, textures);
  await makeFolder(options.output);
  await removeLeftovers(options.output);
  const counts = { rendered: 0, skipped: 0 };
  const begun = performance.now();
  for (let n = 0; n < scenes.count; n++) {
    const scene = scenes.at(n);
    const name = `scene_${String(n).padStart(6, "0")}`;
    if (await isFinished(join(options.output, name), { scene, samples: options.samples })) counts.skipped++;
    else {
      await renderTo(join(options.output, name), { scene, host, options });
      counts.rendered++;
    }
    reportProgress({ done: n + 1, total: scenes.count, rendered: counts.rendered, seconds: (performance.now() - begun) / 1000 });
  }
  report(options, { ...counts, scenes: scenes.count, device: host.device, seconds: (performance.now() - started) / 1000 });
}

function checkOptions({ scenes, scene, planes, size, metres, imperfect, phone, lightField }: RenderOptions): void {
  if ((scenes === undefined) === (scene === undefined))
    throw new UserError("give either --scenes N or --scene FILE", { exitCode: 2, remedy: "dualfocus render --scenes 10 -o DIR" });
  if (scene !== undefined && [planes, size, metres, imperfect, phone, lightField].some((option) => option !== undefined))
    throw new UserError("--planes, --size, --metres, --imperfect, --phone and --light-field belong to random scenes; a scene file has its own", { exitCode: 2 }); // prettier-ignore
  if (metres !== undefined && (metres.length > 2 || (metres[0] as number) > (metres.at(-1) as number)))
    throw new UserError(`--metres: expected one distance or a range from near to far, got ${metres.join(" ")}`, { exitCode: 2 });
}

async function readScene(file: string): Promise<Scene> {
  const text = new TextDecoder().decode(await readBytes(file));
  return badInput(() => parseScene(text, file));
}

function randomScenes(options: RenderOptions, textureCount: number): { count: number; at: (n: number) => Scene } {
  const { scenes: count = 1, seed, planes = 5, size = [256, 256], metres, imperfect = 0, phone = 0, lightField = 0 } = options;
  const random = createRandom(seed);
  const textures = Array.from({ length: textureCount }, (_, i) => i);
  const range = metres && { metres: [metres[0] as number, metres.at(-1) as number] as const };
  const at = (n: number): Scene =>
    randomScene(random.split(n).integer(0x80000000), {
      planes,
      width: size[0],
      height: size[1],
      textures,
      imperfect,
      phone,
      shadows: 0.5,
      lightField,
      ...range,
    });
  return { count, at };
}

/** Errors in scene data are bad input. */
function badInput<T>(work: () => T, file?: string): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof SceneError)) throw cause;
    const message = file === undefined ? cause.message : `${file}: ${cause.message}`;
    throw new UserError(message, { exitCode: 3, remedy: "scene.json of any rendered scene shows what a scene looks like", cause });
  }
}

async function renderTo(folder: string, job: { scene: Scene; host: RenderHost; options: RenderOptions }): Promise<void> {
  const { scene, host, options } = job;
  const { samples, textures } = options;
  const rendering = badInput(() => host.render(scene, samples), options.scene);
  const render = { producer: `dualfocus ${packageVersion()}`, device: host.device, samples, ...(textures !== undefined && { textures }) };
  await fillFolder(folder, { force: false }, async (temporary) => {
    await writeFile(join(temporary, "scene.json"), formatScene(scene));
    await writeStack(temporary, { ...rendering, camera: scene.camera, made: { render } });
  });
}

/** A folder appears under its name only when it is complete, so what it says of itself decides. */
async function isFinished(folder: string, { scene, samples }: { scene: Scene; samples: number }): Promise<boolean> {
  const [sceneText, stackText] = await Promise.all(["scene.json", "stack.json"].map((name) => textOf(join(folder, name))));
  if (sceneText === undefined || stackText === undefined) return false;
  const remedy = "choose another -o, or the options it was made with";
  if (sceneText !== formatScene(scene))
    throw new UserError(`${folder} holds a different scene than these options give`, { exitCode: 2, remedy });
  const before = (JSON.parse(stackText) as { render?: { samples?: number } }).render?.samples;
  if (before !== samples) throw new UserError(`${folder} was rendered with ${before} samples, not ${samples}`, { exitCode: 2, remedy });
  return true;
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw cause;
  }
}

interface Progress {
  readonly done: number;
  readonly total: number;
  readonly rendered: number;
  readonly seconds: number;
}

function reportProgress({ done, total, rendered, seconds }: Progress): void {
  const left = rendered > 0 ? Math.ceil((seconds / rendered) * (total - done)) : 0;
  const line = `render: scene ${done} of ${total}${done < total ? `, ${left} s left` : ""}`;
  if (process.stderr.isTTY) process.stderr.write(`\r${line}\u001b[K${done === total ? "\n" : ""}`);
  else if (done === total || done % Math.ceil(total / 20) === 0) process.stderr.write(`${line}\n`);
}

interface Outcome {
  readonly scenes: number;
  readonly rendered: number;
  readonly skipped: number;
  readonly device: string;
  readonly seconds: number;
}

function report({ output, json, samples }: RenderOptions, outcome: Outcome): void {
  const { rendered, skipped, device, seconds } = outcome;
  const kept = skipped > 0 ? `, ${skipped} finished earlier` : "";
  const text = `${output}: ${rendered} ${rendered === 1 ? "stack" : "stacks"} rendered in ${seconds.toFixed(1)} s (${device})${kept}`;
  process.stdout.write(`${json ? JSON.stringify({ output, samples, ...outcome }) : text}\n`);
}

const sides = { least: 8, most: 8192 } as const;
const imageSize = parser("PX or WIDTHxHEIGHT, 8 to 8192 pixels each", (text): readonly [number, number] =>
  sidePair(sides)(/^\d+$/.test(text) ? `${text}x${text}` : text),
);

const distances = (text: string, before: readonly number[] = []): readonly number[] => [...before, ...listOf(positiveNumber)(text)];
