import { TYPE } from "../scene/pack.ts";
import type { TextureSet } from "../texture/texture.ts";

/**
 * A ray starts at (ox, oy) on the lens plane z = 0 and runs along (dx, dy, 1): its parameter is depth.
 * Returns the depth at which it hits the packed primitive at `at`, or `limit` if it does not hit it nearer than that.
 */
export function hitDepth(
  p: Float32Array,
  at: number,
  ox: number,
  oy: number,
  dx: number,
  dy: number,
  limit: number,
  textures: TextureSet,
): number {
  const lx = (p[at] as number) * ox + (p[at + 1] as number) * oy + (p[at + 3] as number);
  const ly = (p[at + 4] as number) * ox + (p[at + 5] as number) * oy + (p[at + 7] as number);
  const lz = (p[at + 8] as number) * ox + (p[at + 9] as number) * oy + (p[at + 11] as number);
  const ex = (p[at] as number) * dx + (p[at + 1] as number) * dy + (p[at + 2] as number);
  const ey = (p[at + 4] as number) * dx + (p[at + 5] as number) * dy + (p[at + 6] as number);
  const ez = (p[at + 8] as number) * dx + (p[at + 9] as number) * dy + (p[at + 10] as number);
  let t: number;
  switch (p[at + 12] as number) {
    case TYPE.ellipsoid: {
      // Measured from the point nearest to the centre, to avoid cancellation.
      const per = 1 / (ex * ex + ey * ey + ez * ez);
      const middle = -(lx * ex + ly * ey + lz * ez) * per;
      const d = 1 - (lx + middle * ex) ** 2 - (ly + middle * ey) ** 2 - (lz + middle * ez) ** 2;
      if (d < 0) return limit;
      t = middle - Math.sqrt(d * per);
      break;
    }
    case TYPE.box:
    case TYPE.room:
      t = boxDepth(lx, ly, lz, ex, ey, ez, p[at + 12] === TYPE.room);
      break;
    case TYPE.cylinder:
      t = cylinderDepth(lx, ly, lz, ex, ey, ez);
      break;
    case TYPE.heightField:
      t = heightFieldDepth(p, at, lx, ly, lz, ex, ey, ez);
      break;
    case TYPE.plane:
      t = -lz / ez;
      break;
    default:
      t = -lz / ez;
      if (!(t > 0 && t < limit) || !quadHolds(p, at, lx + t * ex, ly + t * ey, textures)) return limit;
  }
  return t > 0 && t < limit ? t : limit;
}

const SLOPE_FLOOR = 1e-12; // for rays along a face: avoids division by zero

const inverse = (e: number): number => 1 / (Math.abs(e) > SLOPE_FLOOR ? e : SLOPE_FLOOR);

function boxDepth(lx: number, ly: number, lz: number, ex: number, ey: number, ez: number, inside: boolean): number {
  const ix = inverse(ex);
  const iy = inverse(ey);
  const iz = inverse(ez);
  const ax = Math.abs(ix);
  const ay = Math.abs(iy);
  const az = Math.abs(iz);
  const near = Math.max(-lx * ix - ax, -ly * iy - ay, -lz * iz - az);
  const far = Math.min(-lx * ix + ax, -ly * iy + ay, -lz * iz + az);
  if (near > far) return -1;
  return inside ? far : near;
}

function cylinderDepth(lx: number, ly: number, lz: number, ex: number, ey: number, ez: number): number {
  const per = 1 / (ex * ex + ey * ey + SLOPE_FLOOR);
  const middle = -(lx * ex + ly * ey) * per;
  const d = 1 - (lx + middle * ex) ** 2 - (ly + middle * ey) ** 2;
  if (d < 0) return -1;
  const side = middle - Math.sqrt(d * per);
  if (side > 0 && Math.abs(lz + side * ez) <= 1) return side;
  const cap = ((ez > 0 ? -1 : 1) - lz) * inverse(ez);
  const x = lx + cap * ex;
  const y = ly + cap * ey;
  return x * x + y * y <= 1 ? cap : -1;
}

function quadHolds(p: Float32Array, at: number, x: number, y: number, textures: TextureSet): boolean {
  if (Math.abs(x) > 1 || Math.abs(y) > 1) return false;
  const amount = p[at + 24] as number;
  switch (p[at + 12] as number) {
    case TYPE.textureQuad: {
      const repeats = p[at + 26] as number;
      const { size, data } = textures;
      const u = Math.floor(x * repeats * size) & (size - 1);
      const v = Math.floor(y * repeats * size) & (size - 1);
      return (data[(((p[at + 25] as number) * size + v) * size + u) * 4 + 1] as number) >= amount * 255;
    }
    case TYPE.leaf: {
      const tooth = 4 * (x + 1) - Math.floor(4 * (x + 1));
      return Math.abs(y) <= (1 - x * x) * (0.95 - 0.4 * x) * (1 - amount * tooth);
    }
    case TYPE.grid: {
      const lines = (p[at + 26] as number) * 0.5;
      const u = (x + 1) * lines;
      const v = (y + 1) * lines;
      return u - Math.floor(u) < amount || v - Math.floor(v) < amount;
    }
    case TYPE.disk:
      return x * x + y * y <= 1;
    default:
      return true;
  }
}

/** Directions, relative frequencies and weights of a height field's three waves; as in native/lensShapes.h. */
const WAVES = [
  { x: 1, y: 0, frequency: 1, weight: 4 / 7 },
  { x: -0.7373937, y: 0.6754632, frequency: 1.7, weight: 2 / 7 },
  { x: 0.0874989, y: -0.9961646, frequency: 2.9, weight: 1 / 7 },
] as const;

/** Bound on how fast a ray of this direction gains or loses height over the waves. */
const steepest = (ex: number, ey: number, frequency: number): number =>
  8 * frequency * WAVES.reduce((sum, wave) => sum + wave.weight * wave.frequency * Math.abs(wave.x * ex + wave.y * ey), 0);

/** Height of the field at (x, y), in [-1, 1]; also its gradient, in `slope`. A wave consists of parabolas: smooth, and the same on every device. */
export function fieldHeight(x: number, y: number, frequency: number, seed: number, slope: Float64Array): number {
  let height = 0;
  slope[0] = 0;
  slope[1] = 0;
  for (let k = 0; k < 3; k++) {
    const wave = WAVES[k] as (typeof WAVES)[number];
    const f = frequency * wave.frequency;
    const phase = f * (wave.x * x + wave.y * y) + seed * (k + 1);
    const u = phase - Math.floor(phase) - 0.5;
    height += wave.weight * 16 * u * (0.5 - Math.abs(u));
    const steepness = wave.weight * f * (8 - 32 * Math.abs(u));
    slope[0] += steepness * wave.x;
    slope[1] += steepness * wave.y;
  }
  return height;
}

const MARCH_STEPS = 64;
const scratch = new Float64Array(2);

/** Marches in steps that cannot pass the surface (its slope is bounded), then refines by Newton's method. */
function heightFieldDepth(p: Float32Array, at: number, lx: number, ly: number, lz: number, ex: number, ey: number, ez: number): number {
  const near = boxDepth(lx, ly, lz, ex, ey, ez, false);
  const far = boxDepth(lx, ly, lz, ex, ey, ez, true);
  if (far <= 0) return -1;
  const seed = p[at + 25] as number;
  const frequency = p[at + 26] as number;
  const speed = Math.abs(ez) + steepest(ex, ey, frequency);
  let t = Math.max(near, 0);
  let gap = 1;
  for (let i = 0; i < MARCH_STEPS && t <= far; i++) {
    gap = lz + t * ez - fieldHeight(lx + t * ex, ly + t * ey, frequency, seed, scratch);
    if (Math.abs(gap) < 0.02) break;
    t += Math.abs(gap) / speed;
  }
  if (t > far || Math.abs(gap) > 0.05) return -1;
  for (let i = 0; i < 3; i++) {
    gap = lz + t * ez - fieldHeight(lx + t * ex, ly + t * ey, frequency, seed, scratch);
    const rate = ez - (scratch[0] as number) * ex - (scratch[1] as number) * ey;
    if (Math.abs(rate) > 0.05 * speed) t -= gap / rate;
  }
  return t;
}
