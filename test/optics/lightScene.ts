import type { Image } from "../../src/image/image.ts";
import { decodeGamma } from "../../src/optics/render/shade.ts";
import type { Imperfections, Material, Primitive, Scene } from "../../src/optics/scene/scene.ts";
import type { TextureSet } from "../../src/optics/texture/texture.ts";

/** Texture 0 is white; texture 1 is white in its upper and black in its lower half. */
export function testTextures(): TextureSet {
  const size = 4;
  const data = new Uint8Array(2 * size * size * 4).fill(255);
  for (let i = size * size * 4; i < data.length; i++) if (i - size * size * 4 >= size * (size / 2) * 4 && i % 4 !== 3) data[i] = 0;
  return { count: 2, size, data };
}

export const glowing = (emission: number, changes: Partial<Material> = {}): Material => ({
  texture: 0,
  textureSize: 1,
  offset: [0, 0],
  tint: [1, 1, 1],
  specular: 0,
  shininess: 1,
  emission,
  ...changes,
});

export interface LightOptions {
  readonly focusDistances: readonly number[];
  readonly depth: number;
  /** Where the light is seen, pixels from the middle, without breathing. */
  readonly at?: readonly [number, number];
  /** Radius of the light as seen, pixels. */
  readonly radius?: number;
  readonly size?: number;
  readonly breathing?: number;
  readonly imperfections?: Imperfections;
}

export const LENS = { focalLength: 0.05, fNumber: 2, pixelPitch: 1e-4 } as const; // 500 pixels per unit slope

/** A small glowing disk that faces the camera, and nothing else. */
export function lightScene({
  focusDistances,
  depth,
  at = [0, 0],
  radius = 2,
  size = 64,
  breathing = 0,
  imperfections,
}: LightOptions): Scene {
  const perPixel = depth * (LENS.pixelPitch / LENS.focalLength);
  const light: Primitive = {
    kind: "quad",
    centre: [at[0] * perPixel, at[1] * perPixel, depth],
    rotation: [1, 0, 0, 0],
    halfSizes: [radius * perPixel, radius * perPixel],
    cutout: { kind: "disk" },
    material: glowing(1),
  };
  return sceneOf([light], { focusDistances, size, breathing, imperfections });
}

/** Lit by what its surfaces give off alone. */
export function sceneOf(
  primitives: readonly Primitive[],
  options: { focusDistances: readonly number[]; size: number; breathing?: number; imperfections?: Imperfections | undefined },
): Scene {
  const { focusDistances, size, breathing = 0, imperfections } = options;
  return {
    camera: { ...LENS, width: size, height: size, breathing },
    focusDistances,
    light: { direction: [0, 0, 1], ambient: 0, exposure: 1 },
    primitives,
    ...(imperfections && { imperfections }),
    seed: 7,
  };
}

/** Linear light: its sum, its centre in pixels from the middle of the picture, and its mean squared distance from there. */
export function moments({ width, height, data }: Image, channel = 1): { total: number; x: number; y: number; spread: number } {
  const [sums, values] = [[0, 0, 0], new Float64Array(width * height)];
  values.forEach((_, i) => (values[i] = decodeGamma(data[3 * i + channel] as number)));
  const place = (i: number): [number, number] => [(i % width) + 0.5 - width / 2, Math.floor(i / width) + 0.5 - height / 2];
  values.forEach((value, i) => {
    const [x, y] = place(i);
    sums[0] = (sums[0] as number) + value;
    sums[1] = (sums[1] as number) + value * x;
    sums[2] = (sums[2] as number) + value * y;
  });
  const [total, mx, my] = sums as [number, number, number];
  const [x, y] = [mx / total, my / total];
  const spread = values.reduce((sum, value, i) => sum + value * ((place(i)[0] - x) ** 2 + (place(i)[1] - y) ** 2), 0) / total;
  return { total, x, y, spread };
}

/** Diameter of the disk whose light, spread over a light of `radius` pixels and square pixels, has this mean squared distance. */
export const diskDiameter = (spread: number, radius: number): number => 2 * Math.sqrt(2 * (spread - 1 / 6) - radius ** 2);
