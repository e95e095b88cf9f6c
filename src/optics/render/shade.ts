import { fieldHeight } from "./intersect.ts";
import { TYPE } from "../scene/pack.ts";
import type { TextureSet } from "../texture/texture.ts";

/** Gamma-coded to linear light: a cubic within 0.3 % of the sRGB curve, cheap enough to apply to every texel of every ray. */
export const decodeGamma = (v: number): number => v * (0.012522878 + v * (0.682171111 + v * 0.305306011));

/** The inverse of `decodeGamma`, by Newton's method. */
export function encodeGamma(light: number): number {
  if (light <= 0) return 0;
  let v = Math.min(light, 1) ** (1 / 2.2);
  for (let i = 0; i < 3; i++) v -= (decodeGamma(v) - Math.min(light, 1)) / (0.012522878 + v * (1.364342222 + v * 0.915918033));
  return v;
}

const DECODED = Float64Array.from({ length: 256 }, (_, byte) => decodeGamma(byte / 255));

/** The light of the scene, unpacked from a camera. */
export interface Light {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly ambient: number;
}

/** The scene data that `shade` needs. */
export interface Surface {
  readonly primitives: Float32Array;
  readonly textures: TextureSet;
  readonly light: Light;
  /** Out: linear red, green, blue. */
  readonly colour: Float64Array;
}

const normal = new Float64Array(3);
const slope = new Float64Array(2);

/** The local normal at local point (x, y, z), of any length. */
function localNormal(p: Float32Array, at: number, x: number, y: number, z: number): void {
  const ax = Math.abs(x);
  const ay = Math.abs(y);
  const az = Math.abs(z);
  normal.fill(0);
  switch (p[at + 12] as number) {
    case TYPE.ellipsoid:
      normal[0] = x;
      normal[1] = y;
      normal[2] = z;
      break;
    case TYPE.box:
    case TYPE.room:
      if (ax >= ay && ax >= az) normal[0] = x;
      else if (ay >= az) normal[1] = y;
      else normal[2] = z;
      break;
    case TYPE.cylinder:
      if (az > 0.9999) normal[2] = z;
      else {
        normal[0] = x;
        normal[1] = y;
      }
      break;
    case TYPE.heightField:
      fieldHeight(x, y, p[at + 26] as number, p[at + 25] as number, slope);
      normal[0] = -(slope[0] as number);
      normal[1] = -(slope[1] as number);
      normal[2] = 1;
      break;
    default:
      normal[2] = 1;
  }
}

/**
 * Linear light reflected along a ray (see `hitDepth`) by the primitive at `at`, hit at depth t. Texels are chosen with probabilities
 * (ju, jv in [0, 1)) that make their mean the bilinear interpolation in linear light. Where it is not lit there is ambient light only.
 */
export function shade(
  surface: Surface,
  at: number,
  t: number,
  ox: number,
  oy: number,
  dx: number,
  dy: number,
  ju: number,
  jv: number,
  isLit: boolean,
): void {
  const { primitives: p, light, colour } = surface;
  const wx = ox + t * dx;
  const wy = oy + t * dy;
  const x = (p[at] as number) * wx + (p[at + 1] as number) * wy + (p[at + 2] as number) * t + (p[at + 3] as number);
  const y = (p[at + 4] as number) * wx + (p[at + 5] as number) * wy + (p[at + 6] as number) * t + (p[at + 7] as number);
  const z = (p[at + 8] as number) * wx + (p[at + 9] as number) * wy + (p[at + 10] as number) * t + (p[at + 11] as number);
  localNormal(p, at, x, y, z);
  const n0 = normal[0] as number;
  const n1 = normal[1] as number;
  const n2 = normal[2] as number;
  const a0 = Math.abs(n0);
  const a1 = Math.abs(n1);
  const a2 = Math.abs(n2);
  // The texture is projected along the axis closest to the normal, in metres.
  const flat = p[at + 12] === TYPE.heightField;
  const alongX = !flat && a0 >= a1 && a0 >= a2;
  const alongY = !flat && !alongX && a1 >= a2;
  const u = alongX ? y * (p[at + 15] as number) : x * (p[at + 14] as number);
  const v = alongX || alongY ? z * (p[at + 16] as number) : y * (p[at + 15] as number);

  let nx = (p[at] as number) * n0 + (p[at + 4] as number) * n1 + (p[at + 8] as number) * n2;
  let ny = (p[at + 1] as number) * n0 + (p[at + 5] as number) * n1 + (p[at + 9] as number) * n2;
  let nz = (p[at + 2] as number) * n0 + (p[at + 6] as number) * n1 + (p[at + 10] as number) * n2;
  const facing = (nx * dx + ny * dy + nz > 0 ? -1 : 1) / Math.sqrt(nx * nx + ny * ny + nz * nz);
  nx *= facing;
  ny *= facing;
  nz *= facing;
  const direct = isLit ? (1 - light.ambient) * Math.max(nx * light.x + ny * light.y + nz * light.z, 0) : 0;
  const diffuse = light.ambient + direct + (p[at + 22] as number);
  const highlight = isLit && (p[at + 20] as number) > 0 ? specular(p, at, light, nx, ny, nz, dx, dy) : 0;

  const { size, data } = surface.textures;
  const column = Math.floor((u + (p[at + 23] as number)) * size - 0.5 + ju) & (size - 1);
  const row = Math.floor((v + (p[at + 27] as number)) * size - 0.5 + jv) & (size - 1);
  const texel = (((p[at + 13] as number) * size + row) * size + column) * 4;
  for (let c = 0; c < 3; c++) colour[c] = (DECODED[data[texel + c] as number] as number) * (p[at + 17 + c] as number) * diffuse + highlight;
}

/** Blinn-Phong: the angle between the normal and the half vector of light and viewer. */
function specular(p: Float32Array, at: number, light: Light, nx: number, ny: number, nz: number, dx: number, dy: number): number {
  const back = 1 / Math.sqrt(dx * dx + dy * dy + 1);
  const hx = light.x - dx * back;
  const hy = light.y - dy * back;
  const hz = light.z - back;
  const cosine = (nx * hx + ny * hy + nz * hz) / Math.sqrt(hx * hx + hy * hy + hz * hz + 1e-12);
  return cosine > 0 ? (p[at + 20] as number) * cosine ** (p[at + 21] as number) : 0;
}
