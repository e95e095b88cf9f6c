import type { Similarity } from "../../src/align/similarity.ts";
import { renderScene } from "../../src/optics/render/render.ts";
import { randomScene } from "../../src/optics/scene/random.ts";
import type { Theme } from "../../src/optics/scene/themes.ts";
import { generateTextures, type TextureSet } from "../../src/optics/texture/texture.ts";
import { createRandom } from "../../src/random.ts";
import type { Rendering } from "../../src/optics/render/render.ts";

export const PLANES = 5;
export const SIZE = { width: 256, height: 192 };

export interface Moved extends Rendering {
  /** From points of the middle plane to points of each. */
  readonly motion: readonly Similarity[];
  readonly exposure: readonly number[];
}

let textures: TextureSet | undefined;

/** A rendered stack; `amount` 1 moves it by ±4 % of breathing, ±8 pixels, ±0.5° and ±15 % of exposure about its middle plane, 0 not at all. */
export function movedStack(seed: number, { amount, theme }: { amount: number; theme: Theme }): Moved {
  textures ??= generateTextures();
  const scene = randomScene(seed, { planes: PLANES, ...SIZE, blur: [1, 3], theme });
  const random = createRandom(seed).split("motion");
  const middle = PLANES >> 1;
  const either = (): number => (random.uniform() < 0.5 ? -amount : amount);
  const motion = scene.focusDistances.map((_, n): Similarity => {
    const away = n === middle ? 0 : 1;
    const shift: [number, number] = [away * either() * 8, away * either() * 8];
    return { scale: 1 + (0.04 * amount * (middle - n)) / middle, angle: (away * either() * 0.5 * Math.PI) / 180, shift };
  });
  const exposure = scene.focusDistances.map((_, n) => (n === middle ? 1 : 1 + 0.15 * either()));
  const misalignment = motion.map(({ scale, angle, shift }) => ({ scale, angle, shift: [shift[0], shift[1]] as const }));
  const imperfections = { readNoise: 0.003, shotNoise: 0.008, misalignment, exposureDrift: exposure };
  return { ...renderScene({ ...scene, imperfections }, { textures, samples: 8 }), motion, exposure };
}
