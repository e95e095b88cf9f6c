import assert from "node:assert/strict";
import { test } from "node:test";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import type { Image } from "../../src/image/image.ts";
import { lensTextures, renderLens } from "../../src/optics/render/node/lens.ts";
import { renderScene } from "../../src/optics/render/render.ts";
import { decodeGamma } from "../../src/optics/render/shade.ts";
import { packScenes } from "../../src/optics/scene/pack.ts";
import { randomScene } from "../../src/optics/scene/random.ts";
import { checkScene, type Scene } from "../../src/optics/scene/scene.ts";
import { THEMES, type Theme } from "../../src/optics/scene/themes.ts";
import { generateTextures } from "../../src/optics/texture/texture.ts";
import { glowing, LENS, sceneOf, testTextures } from "./lightScene.ts";

const textures = testTextures();
const [SIZE, WALL, CARD] = [64, 2, 1]; // pixels; metres

/** A white wall at 2 m and, out of sight above the picture, a card of ± `half` pixels (of the wall's) at 1 m, lit from above before the scene. */
function lit({ shadows, half = 8, samples = 64 }: { shadows?: number; half?: number; samples?: number }): Image {
  const perPixel = WALL * (LENS.pixelPitch / LENS.focalLength);
  const rotation = [1, 0, 0, 0] as const;
  const material = glowing(0);
  // Light along (0, 1, 1): what is a metre nearer casts its shadow a metre lower.
  const card = { kind: "quad", centre: [0, -1, CARD], rotation, halfSizes: [half * perPixel, half * perPixel], material } as const;
  const wall = { kind: "plane", centre: [0, 0, WALL], rotation, material } as const;
  const scene = sceneOf([card, wall], { focusDistances: [WALL], size: SIZE });
  const light = { direction: [0, -1, -1] as const, ambient: 0.3, exposure: 1, ...(shadows !== undefined && { shadows }) };
  return renderScene(checkScene({ ...scene, light }), { textures, samples }).allInFocus;
}

/** Linear light of the middle row. */
const row = ({ width, data }: Image): number[] =>
  Array.from({ length: width }, (_, x) => decodeGamma(data[3 * (32 * width + x)] as number));

test("a card casts its shadow where the light's direction puts it, and ambient light stays", () => {
  const across = row(lit({ shadows: 1e-4 }));
  const full = 0.3 + 0.7 * Math.SQRT1_2; // ambient, and direct light at 45°
  across.forEach((light, x) => {
    const from = Math.abs(x + 0.5 - SIZE / 2);
    if (Math.abs(from - 8) < 1) return; // the edge itself
    assert.ok(Math.abs(light - (from < 8 ? 0.3 : full)) < 0.005, `column ${x}: ${light}`);
  });
  assert.ok(row(lit({})).every((light) => Math.abs(light - full) < 0.005)); // without shadows light passes
});

test("a larger light gives a penumbra as wide as it looks from the wall", () => {
  // The card is √2 m from the wall along the light; a light of ± s spreads its edge by ± s √2 m, 4 mm to a pixel.
  const s = 0.02;
  const wide = row(lit({ shadows: s, half: 16 }));
  const part = wide.filter((light) => light > 0.31 && light < 0.3 + 0.7 * Math.SQRT1_2 - 0.01).length / 2; // of one edge
  const expected = (2 * s * Math.SQRT2) / (WALL * (LENS.pixelPitch / LENS.focalLength));
  assert.ok(Math.abs(part - expected) < 0.2 * expected, `${part} pixels instead of ${expected}`);
});

test("the noise of a penumbra falls with the number of rays", () => {
  const noise = (samples: number): number => {
    const { width, data } = lit({ shadows: 0.005, samples });
    const columns = Array.from({ length: width }, (_, x) => {
      const down = Array.from({ length: 8 }, (_, y) => decodeGamma(data[3 * ((28 + y) * width + x)] as number)); // all equal but for noise
      const mean = down.reduce((sum, light) => sum + light) / down.length;
      return down.reduce((sum, light) => sum + (light - mean) ** 2, 0) / down.length;
    });
    return Math.sqrt(Math.max(...columns));
  };
  const [few, many] = [noise(64), noise(1024)];
  assert.ok(many < few / 3, `${few} with 64 rays, ${many} with 1024`);
});

test("the native kernel casts the same shadows in every kind of scene", () => {
  const engine = createTorchEngine({ threads: 1 });
  const set = generateTextures({ count: 12 });
  const loaded = lensTextures(engine, set);
  const options = { planes: 1, width: 40, height: 40, textures: Array.from({ length: 12 }, (_, i) => i) };
  for (const theme of Object.keys(THEMES) as Theme[]) {
    const plain = randomScene(3, { ...options, theme });
    const scene: Scene = { ...plain, light: { ...plain.light, direction: [0.4, -0.6, -0.7], ambient: 0.3, shadows: 0.1 } };
    const expected = renderScene(scene, { textures: set, samples: 16 }).allInFocus.data;
    const { allInFocus } = renderLens(engine, packScenes([scene]), { textures: loaded, samples: 16 });
    const made = engine.read(allInFocus) as Float32Array;
    const pixels = 40 * 40;
    const apart = made.reduce(
      (sum, value, i) => sum + Math.abs(value - (expected[3 * (i % pixels) + Math.floor(i / pixels)] as number)),
      0,
    );
    assert.ok(apart / made.length < 1e-3, `${theme}: ${apart / made.length}`);
  }
});
