// Renders examples/: three small stacks with exact depth. node --import tsx scripts/makeExamples.ts [--samples S] [-o DIR]
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { renderHost } from "../src/cli/renderHost.ts";
import type { WrittenUnit } from "../src/cli/writeStack.ts";
import { writeStack } from "../src/cli/writeStack.ts";
import type { Scene } from "../src/optics/scene/scene.ts";
import { checkScene, formatScene } from "../src/optics/scene/scene.ts";
import { generateTextures } from "../src/optics/texture/texture.ts";
import { beetle, desk, shelf } from "./exampleScenes.ts";

const { values } = parseArgs({
  options: { samples: { type: "string", default: "512" }, output: { type: "string", short: "o", default: "examples" } },
});
const host = renderHost("auto", generateTextures());
const examples: readonly (readonly [string, Scene, WrittenUnit])[] = [
  ["desk", desk(), "m"],
  ["macro", beetle(), "mm"],
  ["breathing", shelf(), "none"],
];
for (const [name, scene, unit] of examples) {
  const folder = join(values.output, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "scene.json"), formatScene(checkScene(scene, name)));
  await writeStack(folder, { ...host.render(scene, Number(values.samples)), camera: scene.camera, unit });
  process.stderr.write(`${folder}\n`);
}
