import type { Random } from "../../random.ts";
import type { Material, Primitive, Quaternion, Vector } from "./scene.ts";

/** The setting of a random scene: field of view, depth range, and random choices whose sizes are proportional to the image. */
export interface Stage {
  readonly random: Random;
  /** Depth range of the visible objects, in metres. */
  readonly near: number;
  readonly far: number;
  /** Slopes of the image's right and lower edges. */
  readonly slopeX: number;
  readonly slopeY: number;
  /** Pixels per unit slope. */
  readonly scale: number;
  /** Textures that may be used. */
  readonly textures: readonly number[];
  /** Chance that a surface has hardly any texture. */
  readonly plainness: number;
  /** Chance that a surface has a highlight. */
  readonly gloss: number;
  readonly primitives: Primitive[];
}

export const between = (random: Random, from: number, to: number): number => from + (to - from) * random.uniform();
export const logBetween = (random: Random, from: number, to: number): number => from * (to / from) ** random.uniform();
export const chance = (random: Random, probability: number): boolean => random.uniform() < probability;
export const pick = <T>(random: Random, list: readonly T[]): T => list[random.integer(list.length)] as T;

/** A depth drawn uniformly in dioptres: more objects nearby, where blur changes fast. */
export const someDepth = ({ random, near, far }: Stage): number => 1 / between(random, 1 / near, 1 / far);

/** The point seen at (u, v), each from -1 to 1 over the image, at depth z. */
export const seenAt = ({ slopeX, slopeY }: Stage, u: number, v: number, z: number): Vector => [u * slopeX * z, v * slopeY * z, z];

export const add = (a: Vector, b: Vector, factor = 1): Vector => [a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]];
export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Vector, b: Vector): Vector => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const unit = (a: Vector): Vector => {
  const length = Math.sqrt(dot(a, a));
  return [a[0] / length, a[1] / length, a[2] / length];
};

/** A uniformly random rotation. */
export function anyRotation(random: Random): Quaternion {
  const [a, b, c, d] = [random.normal(), random.normal(), random.normal(), random.normal()];
  const length = Math.sqrt(a * a + b * b + c * c + d * d) || 1;
  return [a / length, b / length, c / length, d / length];
}

/** The rotation whose local x, y, z axes are `x`, `y`, `z` (orthonormal, right-handed). */
function rotationOf(x: Vector, y: Vector, z: Vector): Quaternion {
  const trace = x[0] + y[1] + z[2];
  const q: [number, number, number, number] =
    trace > 0
      ? [1 + trace, y[2] - z[1], z[0] - x[2], x[1] - y[0]]
      : x[0] > y[1] && x[0] > z[2]
        ? [y[2] - z[1], 1 + x[0] - y[1] - z[2], x[1] + y[0], z[0] + x[2]]
        : y[1] > z[2]
          ? [z[0] - x[2], x[1] + y[0], 1 - x[0] + y[1] - z[2], y[2] + z[1]]
          : [x[1] - y[0], z[0] + x[2], y[2] + z[1], 1 - x[0] - y[1] + z[2]];
  const length = Math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  return [q[0] / length, q[1] / length, q[2] / length, q[3] / length];
}

/** `from` rotated towards `to` by `turn`; both are unit vectors, perpendicular to each other. */
function turned(from: Vector, to: Vector, turn: number): Vector {
  const [c, s] = [Math.cos(turn), Math.sin(turn)];
  return [c * from[0] + s * to[0], c * from[1] + s * to[1], c * from[2] + s * to[2]];
}

/** Local z along `normal`, rotated about it by `turn`. */
export function facing(normal: Vector, turn: number): Quaternion {
  const z = unit(normal);
  const side = unit(cross(Math.abs(z[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0], z));
  const x = turned(side, cross(z, side), turn);
  return rotationOf(x, cross(z, x), z);
}

/** Local y along `down`, local z rotated about it: an object that stands on a table. */
export function standing(down: Vector, turn: number): Quaternion {
  const y = unit(down);
  const side = unit(cross(Math.abs(y[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], y));
  const z = turned(cross(side, y), side, turn);
  return rotationOf(cross(y, z), y, z);
}

interface SurfaceOptions {
  readonly depth: number;
  /** Multiplies the texture's size. */
  readonly size?: number;
  readonly tint?: Vector;
  readonly plain?: boolean;
}

/** A surface whose texels are 0.4 to 2.5 pixels large at `depth`. */
export function material(stage: Stage, { depth, size = 1, tint, plain }: SurfaceOptions): Material {
  const { random, textures, scale, plainness, gloss } = stage;
  const isPlain = plain ?? chance(random, plainness);
  const isGlossy = chance(random, gloss);
  const brightness = between(random, 0.55, 1.15);
  const cast = (): number => brightness * between(random, 0.8, 1.1);
  return {
    texture: pick(random, textures),
    // With only a few texels over the whole image a surface is practically plain.
    textureSize: ((256 * depth) / scale) * (isPlain ? between(random, 12, 40) : logBetween(random, 0.4, 2.5)) * size,
    offset: [random.uniform(), random.uniform()],
    tint: tint ? [tint[0] * brightness, tint[1] * brightness, tint[2] * brightness] : [cast(), cast(), cast()],
    specular: isGlossy ? logBetween(random, 0.15, 3) : 0,
    shininess: isGlossy ? logBetween(random, 12, 400) : 1,
    emission: 0,
  };
}
