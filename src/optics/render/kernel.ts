import { hitDepth } from "./intersect.ts";
import { STEP, bladeCorners, hash, lensPoints, member, normalDeviate, viewPoints, viewSamples } from "./sampling.ts";
import { encodeGamma, shade } from "./shade.ts";
import type { Surface } from "./shade.ts";
import { CAMERA_STRIDE, PLANE_STRIDE, PRIMITIVE_STRIDE } from "../scene/pack.ts";
import type { PackedScenes } from "../scene/pack.ts";
import type { TextureSet } from "../texture/texture.ts";

/**
 * Distributed ray tracing through a thin lens: the TypeScript version of native/lensKernel.h, used in its tests and where there is no addon.
 * For a pixel at slope (px, py) and a point (ox, oy) of the lens, the ray to the point in focus has slope (px - ox/s, py - oy/s).
 */

const TILE = 16;

/** One scene being rendered. */
export interface Job {
  readonly width: number;
  readonly height: number;
  readonly planes: number;
  readonly samples: number;
  readonly camera: Float32Array;
  readonly focus: Float32Array;
  readonly surface: Surface;
  readonly lens: Float32Array;
  readonly corners: Float32Array;
  /** Of a light field, else empty. */
  readonly views: Float32Array;
  /** Offsets of the primitives that rays of a tile can hit, nearest first; unbounded ones last. */
  readonly candidates: Int32Array;
}

export function renderJob(packed: PackedScenes, index: number, { textures, samples }: { textures: TextureSet; samples: number }): Job {
  const { planes, primitivesPerScene, width, height } = packed;
  const camera = packed.cameras.subarray(index * CAMERA_STRIDE, (index + 1) * CAMERA_STRIDE);
  const size = primitivesPerScene * PRIMITIVE_STRIDE;
  const [x, y, z, ambient] = camera.subarray(2) as unknown as [number, number, number, number];
  return {
    width,
    height,
    planes,
    samples,
    camera,
    focus: packed.focus.subarray(index * planes * PLANE_STRIDE, (index + 1) * planes * PLANE_STRIDE),
    surface: {
      primitives: packed.primitives.subarray(index * size, (index + 1) * size),
      textures,
      light: { x, y, z, ambient },
      colour: new Float64Array(3),
    },
    lens: lensPoints(samples),
    corners: (camera[7] as number) >= 3 ? bladeCorners(camera[7] as number, camera[8] as number) : new Float32Array(0),
    views: (camera[7] as number) < 0 ? viewPoints(-(camera[7] as number)) : new Float32Array(0),
    candidates: new Int32Array(primitivesPerScene),
  };
}

/** The exposure of one image: a plane of the stack, or the pinhole (`radius` 0). */
interface Exposure {
  /** Rays per pixel. */
  readonly samples: number;
  readonly index: number;
  readonly dioptres: number;
  readonly radius: number;
  readonly scale: number;
  readonly gain: number;
  readonly cos: number;
  readonly sin: number;
  readonly shiftX: number;
  readonly shiftY: number;
}

/** Only the pixel is sampled, not the lens: a quarter of the rays is enough. */
const pinholeSamples = (samples: number): number => (samples < 16 ? samples : samples < 64 ? 16 : samples >> 2);

function exposureOf({ focus, planes, camera, samples, views }: Job, plane: number): Exposure {
  if (plane === planes)
    return {
      samples: pinholeSamples(samples),
      index: plane,
      dioptres: 0,
      radius: 0,
      scale: camera[0] as number,
      gain: 1,
      cos: 1,
      sin: 0,
      shiftX: 0,
      shiftY: 0,
    };
  const [dioptres, radius, scale, gain, cos, sin, shiftX, shiftY] = focus.subarray(plane * PLANE_STRIDE) as unknown as number[] as [
    number, number, number, number, number, number, number, number]; // prettier-ignore
  const rays = views.length > 0 ? viewSamples(samples, views.length / 2) : samples;
  return { samples: rays, index: plane, dioptres, radius, scale, gain, cos, sin, shiftX, shiftY };
}

/**
 * Fills `candidates` with the primitives that rays of a tile can hit and returns how many of them are bounded. Conservative: at depth z
 * the bundle is within a |1 - z/s| + z h of its centre line, which is largest at an end of the primitive's depth range.
 */
function cullTile(job: Job, exposure: Exposure, left: number, top: number): { bounded: number; total: number } {
  const { surface, candidates, camera, width, height } = job;
  const p = surface.primitives;
  const { radius, scale, cos, sin } = exposure;
  const centreX = left + TILE / 2 - width / 2 - exposure.shiftX;
  const centreY = top + TILE / 2 - height / 2 - exposure.shiftY;
  const slopeX = (cos * centreX + sin * centreY) / scale;
  const slopeY = (cos * centreY - sin * centreX) / scale;
  const half = ((Math.abs(cos) + Math.abs(sin)) * (TILE / 2)) / scale;
  const reach = radius * 1.6; // a three-bladed aperture of the same area reaches this far
  const spread = Math.abs(camera[9] as number) + Math.abs(camera[10] as number);
  let bounded = 0;
  let total = 0;
  for (let k = 0; k < (camera[1] as number); k++) {
    const at = k * PRIMITIVE_STRIDE;
    const r = p[at + 31] as number;
    if (r > 1e29) {
      candidates[total++] = at;
      continue;
    }
    const [x, y, z] = [p[at + 28] as number, p[at + 29] as number, p[at + 30] as number];
    const near = Math.max(z - r, 0);
    const far = z + r;
    if (far <= 0) continue;
    const blur = Math.max(Math.abs(1 - near * exposure.dioptres), Math.abs(1 - far * exposure.dioptres)) + far * spread;
    const width2 = reach * blur + far * half;
    if (Math.abs(x - slopeX * z) > width2 + r * Math.sqrt(1 + slopeX * slopeX)) continue;
    if (Math.abs(y - slopeY * z) > width2 + r * Math.sqrt(1 + slopeY * slopeY)) continue;
    candidates[total++] = candidates[bounded] as number;
    let place = bounded++;
    const nearest = (other: number): number => (p[other + 30] as number) - (p[other + 31] as number);
    for (; place > 0 && nearest(candidates[place - 1] as number) > z - r; place--) candidates[place] = candidates[place - 1] as number;
    candidates[place] = at;
  }
  return { bounded, total };
}

let hitAt = -1; // the primitive that `trace` hit

/** Depth of the nearest surface along a ray, or Infinity. */
function trace(job: Job, bounded: number, total: number, ox: number, oy: number, dx: number, dy: number): number {
  const { candidates, surface } = job;
  const p = surface.primitives;
  let t = Infinity;
  hitAt = -1;
  for (let k = 0; k < total; k++) {
    const at = candidates[k] as number;
    if (k < bounded && (p[at + 30] as number) - (p[at + 31] as number) > t) {
      k = bounded - 1; // all further bounded primitives are farther away
      continue;
    }
    const hit = hitDepth(p, at, ox, oy, dx, dy, t, surface.textures);
    if (hit < t) {
      t = hit;
      hitAt = at;
    }
  }
  return t;
}

/** Renders a plane into `out[channel * pixels + pixel]`, gamma-encoded. */
export function renderPlane(job: Job, plane: number, out: Float32Array): void {
  const exposure = exposureOf(job, plane);
  for (let top = 0; top < job.height; top += TILE)
    for (let left = 0; left < job.width; left += TILE) {
      const { bounded, total } = cullTile(job, exposure, left, top);
      for (let y = top; y < Math.min(top + TILE, job.height); y++)
        for (let x = left; x < Math.min(left + TILE, job.width); x++) renderPixel(job, exposure, bounded, total, x, y, out);
    }
}

/** z-depth of the pixel centres through the pinhole; 0 where nothing is hit. */
export function renderDepth(job: Job, out: Float32Array): void {
  const { width, height, planes } = job;
  const exposure = exposureOf(job, planes);
  for (let top = 0; top < height; top += TILE)
    for (let left = 0; left < width; left += TILE) {
      const { bounded, total } = cullTile(job, exposure, left, top);
      for (let y = top; y < Math.min(top + TILE, height); y++)
        for (let x = left; x < Math.min(left + TILE, width); x++) {
          const px = (x + 0.5 - width / 2) / exposure.scale;
          const py = (y + 0.5 - height / 2) / exposure.scale;
          const depth = trace(job, bounded, total, 0, 0, px, py);
          out[y * width + x] = depth < Infinity ? depth : 0;
        }
    }
}

const sum = new Float64Array(3);

function renderPixel(job: Job, exposure: Exposure, bounded: number, total: number, x: number, y: number, out: Float32Array): void {
  const { width, height, camera } = job;
  const pixel = y * width + x;
  const base = hash((camera[13] as number) ^ hash(pixel + Math.imul(exposure.index + 1, 0x9e3779b1)));
  const chromatic = exposure.radius > 0 ? (camera[10] as number) : 0;
  const radius2 = ((x + 0.5 - width / 2) ** 2 + (y + 0.5 - height / 2) ** 2) / (width * width + height * height);
  const dioptres = exposure.dioptres + 4 * (camera[9] as number) * radius2;
  sum.fill(0);
  if (chromatic === 0) gather(job, exposure, bounded, total, x, y, base, dioptres, -1);
  else for (let c = 0; c < 3; c++) gather(job, exposure, bounded, total, x, y, base, dioptres + (c - 1) * chromatic, c);
  const gain = ((camera[6] as number) * exposure.gain) / exposure.samples;
  const isPlane = exposure.index < job.planes;
  for (let c = 0; c < 3; c++) {
    let light = (sum[c] as number) * gain;
    const variance = isPlane ? (camera[11] as number) ** 2 + (camera[12] as number) ** 2 * Math.min(light, 1) : 0;
    if (variance > 0) light += Math.sqrt(variance) * normalDeviate(hash(base + 16 + 2 * c), hash(base + 17 + 2 * c));
    out[c * width * height + pixel] = encodeGamma(light);
  }
}

/** Adds the light of all rays of a pixel to `sum`; only channel `only` when that is not -1. */
function gather(
  job: Job,
  exposure: Exposure,
  bounded: number,
  total: number,
  x: number,
  y: number,
  base: number,
  dioptres: number,
  only: number,
): void {
  const { width, height, lens, corners, views, surface } = job;
  const { scale, cos, sin, radius, samples } = exposure;
  const size = job.camera[15] as number;
  const startX = hash(base + 1);
  const startY = hash(base + 2);
  const startU = hash(base + 3);
  const startV = hash(base + 4);
  const startL = hash(base + 7);
  const startM = hash(base + 8);
  const turn = 2 * Math.PI * 2 ** -32 * hash(base + 5);
  const turnX = radius * Math.cos(turn);
  const turnY = radius * Math.sin(turn);
  const blades = corners.length / 2 - 1;
  for (let i = 0; i < samples; i++) {
    const qx = x + member(startX, STEP.pixelX, i) - width / 2 - exposure.shiftX;
    const qy = y + member(startY, STEP.pixelY, i) - height / 2 - exposure.shiftY;
    const px = (cos * qx + sin * qy) / scale;
    const py = (cos * qy - sin * qx) / scale;
    let ox: number;
    let oy: number;
    if (views.length > 0) {
      const view = 2 * (i % (views.length / 2));
      ox = radius * (views[view] as number);
      oy = radius * (views[view + 1] as number);
    } else if (blades < 3) {
      const lx = lens[2 * i] as number;
      const ly = lens[2 * i + 1] as number;
      ox = turnX * lx - turnY * ly;
      oy = turnY * lx + turnX * ly;
    } else {
      const around = member(hash(base + 5), STEP.blade, i) * blades;
      const k = Math.min(Math.floor(around), blades - 1);
      const r = radius * Math.sqrt(((i + 0.5) / samples + hash(base + 6) * 2 ** -32) % 1);
      ox = r * ((corners[2 * k] as number) * (1 - around + k) + (corners[2 * k + 2] as number) * (around - k));
      oy = r * ((corners[2 * k + 1] as number) * (1 - around + k) + (corners[2 * k + 3] as number) * (around - k));
    }
    const dx = px - ox * dioptres;
    const dy = py - oy * dioptres;
    const t = trace(job, bounded, total, ox, oy, dx, dy);
    if (hitAt < 0) continue;
    const [ju, jv] = [member(startU, STEP.texelU, i), member(startV, STEP.texelV, i)];
    const isLit = size === 0 || reachesLight(job, t, ox, oy, dx, dy, member(startL, STEP.lightX, i), member(startM, STEP.lightY, i));
    shade(surface, hitAt, t, ox, oy, dx, dy, ju, jv, isLit);
    for (let c = 0; c < 3; c++) if (only < 0 || c === only) sum[c] = (sum[c] as number) + (surface.colour[c] as number);
  }
}

/** What lies nearer to a point than this share of its depth is the point's own surface. */
const BIAS = 1e-3;
/** Light that comes in more flatly than this is taken to come in so. */
const FLATTEST = -0.05;

/**
 * Whether the point at depth t of a ray sees the point (u, v), in [0, 1), of the light. The light is before the scene, so the line from it
 * to the point is a ray of the same form, and the point is in shadow if that ray meets anything nearer.
 */
function reachesLight(job: Job, t: number, ox: number, oy: number, dx: number, dy: number, u: number, v: number): boolean {
  const { camera, surface } = job;
  const size = camera[15] as number;
  const towards = Math.min(camera[4] as number, FLATTEST);
  const lx = ((camera[2] as number) + size * (2 * u - 1)) / towards;
  const ly = ((camera[3] as number) + size * (2 * v - 1)) / towards;
  const limit = (1 - BIAS) * t;
  const [fromX, fromY] = [ox + t * (dx - lx), oy + t * (dy - ly)];
  for (let k = 0; k < (camera[1] as number); k++)
    if (hitDepth(surface.primitives, k * PRIMITIVE_STRIDE, fromX, fromY, lx, ly, limit, surface.textures) < limit) return false;
  return true;
}
