import assert from "node:assert/strict";
import { test } from "node:test";
import { createRandom } from "../../src/random.ts";
import type { Scene } from "../../src/optics/scene/scene.ts";
import { SceneError, checkScene, formatScene, parseScene } from "../../src/optics/scene/scene.ts";
import { CAMERA_STRIDE, PLANE_STRIDE, PRIMITIVE_STRIDE, packScenes } from "../../src/optics/scene/pack.ts";
import { PRIMITIVES_PER_SCENE, packRandomScenes, randomScene } from "../../src/optics/scene/random.ts";
import type { Theme } from "../../src/optics/scene/themes.ts";
import { THEMES } from "../../src/optics/scene/themes.ts";
import { glowing, lightScene, sceneOf } from "./lightScene.ts";

const seeds = Array.from({ length: 200 }, (_, i) => i);

test("a scene survives being saved and loaded", () => {
  for (const seed of seeds.slice(0, 40)) {
    const scene = randomScene(seed, { imperfect: 0.7, planes: 1 + (seed % 7) });
    assert.deepEqual(parseScene(formatScene(scene)), scene);
  }
});

test("a wrong scene file is refused with the file and the field", () => {
  const good = randomScene(1) as unknown as Record<string, unknown>;
  const broken = (changes: Record<string, unknown>): string => JSON.stringify({ ...good, ...changes });
  const camera = good.camera as Record<string, unknown>;
  const [primitive] = good.primitives as Record<string, unknown>[];
  const cases: readonly (readonly [string, RegExp])[] = [
    ["{", /desk\.json: not JSON/],
    [broken({ camera: { ...camera, fNumber: -2 } }), /desk\.json: camera\.fNumber: /],
    [broken({ camera: { ...camera, zoom: 2 } }), /camera: .*zoom/],
    [broken({ focusDistances: [2, 1] }), /focusDistances\[1\]: focus distances must increase/],
    [broken({ focusDistances: [1e-6, 1] }), /focusDistances\[0\]: a lens of .* m cannot focus at/],
    [broken({ primitives: [{ ...primitive, kind: "torus" }] }), /primitives\[0\]\.kind: /],
    [broken({ primitives: [{ ...primitive, rotation: [1, 1, 0, 0] }] }), /primitives\[0\]\.rotation: .*unit quaternion/],
    [broken({ imperfections: { exposureDrift: [1, 1] } }), /imperfections\.exposureDrift: expected one entry per plane \(5\), got 2/],
    [broken({ light: undefined }), /light: /],
  ];
  for (const [text, message] of cases) assert.throws(() => parseScene(text, "desk.json"), { name: "SceneError", message });
});

test("the same seed gives the same scene, another seed another", () => {
  assert.deepEqual(randomScene(5, { imperfect: 1 }), randomScene(5, { imperfect: 1 }));
  assert.notDeepEqual(randomScene(5), randomScene(6));
});

test("every theme makes valid scenes of at most sixteen primitives that have a background", () => {
  for (const theme of Object.keys(THEMES) as Theme[])
    for (const seed of seeds.slice(0, 20)) {
      const scene = checkScene(randomScene(seed, { theme }));
      assert.ok(scene.primitives.length <= PRIMITIVES_PER_SCENE);
      assert.ok(
        scene.primitives.some(({ kind }) => kind === "plane" || kind === "room"),
        `${theme} ${seed}`,
      );
    }
});

test("blur between neighbouring planes stays in the range asked for", () => {
  for (const seed of seeds) {
    const { camera, focusDistances } = randomScene(seed, { planes: 6, blur: [0.5, 10] });
    const aperture = camera.focalLength / camera.fNumber;
    const span = 1 / (focusDistances[0] as number) - 1 / (focusDistances[5] as number);
    const mean = (aperture * (camera.focalLength / camera.pixelPitch) * span) / 5;
    assert.ok(mean >= 0.49 && mean <= 10.01, `seed ${seed}: ${mean} px`);
    assert.ok(camera.focalLength < 0.3 * (focusDistances[0] as number));
  }
});

test("the nearest distance follows the range in metres; everything scales with it", () => {
  for (const seed of seeds.slice(0, 50)) {
    const { focusDistances } = randomScene(seed, { metres: [2, 2] });
    assert.ok((focusDistances[0] as number) > 1.5 && (focusDistances[0] as number) < 4);
  }
});

test("held-out textures are never used", () => {
  const allowed = new Set([3, 8, 11]);
  for (const seed of seeds)
    for (const primitive of randomScene(seed, { textures: [...allowed] }).primitives) {
      assert.ok(allowed.has(primitive.material.texture));
      if (primitive.kind === "quad" && primitive.cutout?.kind === "texture") assert.ok(allowed.has(primitive.cutout.texture));
    }
});

test("a packed scene holds the numbers the kernels read", () => {
  const scene = lightScene({ focusDistances: [1, 2], depth: 4, at: [10, 0], radius: 5, size: 32 });
  const { primitives, cameras, focus } = packScenes([scene]);
  // 500 pixels per unit slope: at 4 m a pixel is 8 mm; the quad's half size is 40 mm, its centre 80 mm to the right.
  assert.deepEqual(
    [...primitives.subarray(0, 4)].map((value) => Math.round(value * 1e4) / 1e4),
    [25, 0, 0, -2],
  );
  assert.deepEqual([...primitives.subarray(8, 13)], [0, 0, 1, -4, 10]); // a disk
  assert.equal(cameras[0], 500);
  assert.equal(cameras[1], 1);
  assert.equal(focus[PLANE_STRIDE], 0.5);
  // f/2 of 50 mm is a radius of 12.5 mm, times v / f = 1 / (1 - 0.05).
  assert.ok(Math.abs((focus[1] as number) - 0.0125 / 0.95) < 1e-8);
  assert.deepEqual([primitives.length, cameras.length, focus.length], [PRIMITIVE_STRIDE, CAMERA_STRIDE, 2 * PLANE_STRIDE]);
});

test("packed random scenes are the scenes of their seeds", () => {
  const packed = packRandomScenes(createRandom(9), { count: 3, planes: 4 });
  const scenes = packed.seeds.map((seed) => randomScene(seed, { planes: 4 }));
  const again = packScenes(scenes, { primitivesPerScene: PRIMITIVES_PER_SCENE });
  assert.deepEqual(packed.primitives, again.primitives);
  assert.deepEqual(packed.focus, again.focus);
  assert.ok(Math.abs((packed.focusDistances[4] as number) - ((scenes[1] as Scene).focusDistances[0] as number)) < 1e-6);
});

test("scenes of different sizes or too many primitives do not pack", () => {
  assert.throws(() => packScenes([randomScene(1), randomScene(1, { width: 64 })]), /scene 1 differs from scene 0 in size/);
  const wall = { kind: "plane", centre: [0, 0, 1], rotation: [1, 0, 0, 0], material: glowing(1) } as const;
  const crowd = sceneOf(
    Array.from({ length: 5 }, () => wall),
    { focusDistances: [1], size: 8 },
  );
  assert.throws(() => packScenes([crowd], { primitivesPerScene: 4 }), SceneError);
});
