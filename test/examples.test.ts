import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { readStackSample } from "../src/data/folder.ts";
import { readImage } from "../src/stack/node/diskFiles.ts";
import { decodeNpy } from "../src/io/npy.ts";
import { openStack } from "../src/stack/node/openStack.ts";
import { renderDepth, renderJob, renderPlane } from "../src/optics/render/kernel.ts";
import { parseScene, type Scene } from "../src/optics/scene/scene.ts";
import { packScenes } from "../src/optics/scene/pack.ts";
import { generateTextures } from "../src/optics/texture/texture.ts";

const root = join(import.meta.dirname, "..", "examples");
const textures = generateTextures();
const sceneOf = async (name: string): Promise<Scene> => parseScene(await readFile(join(root, name, "scene.json"), "utf8"), name);

/** Mean absolute difference of plane `n` as shipped and as the scene renders with few rays, over 0 to 1. */
async function difference(name: string, scene: Scene, n: number): Promise<number> {
  const { width, height } = scene.camera;
  const shipped = await readImage(join(root, name, `plane_0${n}.png`));
  assert.deepEqual([shipped.width, shipped.height], [width, height]);
  const values = new Float32Array(3 * width * height);
  renderPlane(renderJob(packScenes([scene]), 0, { textures, samples: 12 }), n, values);
  const pixels = width * height;
  const shippedAt = (i: number): number => shipped.data[(i % pixels) * 3 + Math.floor(i / pixels)] as number; // colours in planes
  return values.reduce((sum, value, i) => sum + Math.abs(value - shippedAt(i)), 0) / values.length;
}

for (const name of ["desk", "macro", "breathing"])
  test(`examples/${name} is what its scene.json renders: exact depth, the same pictures within the noise of few rays`, async () => {
    const scene = await sceneOf(name);
    const { width, height } = scene.camera;
    const { shape, data } = decodeNpy(await readFile(join(root, name, "depth.npy")));
    assert.deepEqual(shape, [height, width]);
    const expected = new Float32Array(width * height);
    renderDepth(renderJob(packScenes([scene]), 0, { textures, samples: 1 }), expected);
    const wrong = expected.filter((value, i) => !(Math.abs(value - (data[i] as number)) <= 1e-4 * value)).length;
    assert.ok(wrong <= 1e-4 * expected.length, `${wrong} of ${expected.length} depths differ by more than 1e-4`); // rays within rounding of an edge
    const [, second = 0, third = 0] = scene.focusDistances;
    const farther = { ...scene, focusDistances: scene.focusDistances.map((distance, n) => (n === 1 ? (second + third) / 2 : distance)) };
    const [own, other] = [await difference(name, scene, 1), await difference(name, farther, 1)];
    assert.ok(own < 0.03 && own < other, `plane 1 differs by ${own}; focused half a plane farther, by ${other}`);
  });

test("the desk is in metres, the macro object in millimetres, both with their truth; the breathing stack has no distances", async () => {
  const desk = await readStackSample(await openStack(join(root, "desk")));
  assert.deepEqual(desk.stack.focusDistances, [0.5, 0.57, 0.66, 0.78, 0.96, 1.25, 1.75]);
  assert.ok(desk.trueDepth.valid.every((valid) => valid === 1));
  const macro = await readStackSample(await openStack(join(root, "macro")));
  assert.equal((await openStack(join(root, "macro"))).unit, "mm");
  assert.ok(Math.abs((macro.stack.focusDistances[0] as number) - 0.06) < 1e-12);
  assert.ok((await sceneOf("breathing")).camera.breathing === 1);
  assert.equal((await readdir(join(root, "breathing"))).includes("stack.json"), false);
  assert.equal((await openStack(join(root, "breathing"))).space, "index");
});
