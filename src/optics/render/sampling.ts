/** Where rays pass through pixel and lens, in 32-bit integers or fixed tables, so that every device uses the same samples. */

/** A 32-bit hash without visible patterns (Wellons' lowbias32). */
export function hash(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/**
 * Steps of the additive recurrences, as fractions of 2³²: the plastic number's for the pixel, its 3-D sibling's for texels and blades, its 4-D
 * sibling's for the light. Two with one step would be correlated, and their mean would not converge.
 */
export const STEP = {
  ...{ pixelX: 0xc13fa9a9, pixelY: 0x91e10da5, texelU: 0xd1b54a33, texelV: 0xabc98389, blade: 0x9e3779b9 },
  ...{ lightX: 0xdb4f0b91, lightY: 0xbbe05633 },
} as const;

/** The `i`-th member of the sequence that begins at `start`, in [0, 1): 23 bits, the mantissa of a float. */
export const member = (start: number, step: number, i: number): number => ((start + Math.imul(i, step)) >>> 9) * 2 ** -23;

/** `samples` points of the unit disk in a sunflower spiral: x, y pairs. Each pixel rotates them by its own angle. */
export function lensPoints(samples: number): Float32Array {
  const points = new Float32Array(2 * samples);
  for (let i = 0; i < samples; i++) {
    const radius = Math.sqrt((i + 0.5) / samples);
    const angle = 2 * Math.PI * member(0, STEP.blade, i);
    points[2 * i] = radius * Math.cos(angle);
    points[2 * i + 1] = radius * Math.sin(angle);
  }
  return points;
}

/** Corners of a regular polygon with the area of the unit disk, the first repeated at the end: x, y pairs. */
export function bladeCorners(blades: number, angle: number): Float32Array {
  const radius = Math.sqrt((2 * Math.PI) / (blades * Math.sin((2 * Math.PI) / blades)));
  return Float32Array.from({ length: 2 * (blades + 1) }, (_, i) => {
    const turn = angle + (2 * Math.PI * ((i >> 1) % blades)) / blades;
    return radius * (i % 2 === 0 ? Math.cos(turn) : Math.sin(turn));
  });
}

/** Half the side of the square with the area of the unit disk. */
const HALF_SQUARE = Math.sqrt(Math.PI) / 2;

/** Where the views of a light field of `views` × `views` lie in the aperture, row by row: x, y pairs. */
export const viewPoints = (views: number): Float32Array =>
  Float32Array.from({ length: 2 * views * views }, (_, i) => {
    const place = i % 2 === 0 ? (i >> 1) % views : Math.floor((i >> 1) / views);
    return HALF_SQUARE * ((2 * place) / (views - 1) - 1);
  });

/** Rays per pixel of a light field of so many views in all: as many for each, at least one. */
export const viewSamples = (samples: number, count: number): number => count * Math.max(Math.floor(samples / count), 1);

/** Two hashes to one normal deviate (Box-Muller). */
export const normalDeviate = (a: number, b: number): number =>
  Math.sqrt(-2 * Math.log((a + 1) * 2 ** -32)) * Math.cos(2 * Math.PI * b * 2 ** -32);
