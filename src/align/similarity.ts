import type { Size } from "../image/image.ts";

/**
 * Maps a point of the reference frame to another frame by rotation, scale and shift,
 *
 *     p' = scale · R(angle) · p + shift
 *
 * with p in pixels from the image's centre (x right, y down), so that only `shift` depends on the image size.
 */
export interface Similarity {
  readonly scale: number;
  /** Radians, from the x axis towards the y axis. */
  readonly angle: number;
  /** Pixels. */
  readonly shift: readonly [x: number, y: number];
}

export const IDENTITY: Similarity = { scale: 1, angle: 0, shift: [0, 0] };

/** The same transform as one complex number α = a + ib and a shift: p' = α p + t, which is linear in a, b and t. */
export interface Linear {
  readonly a: number;
  readonly b: number;
  readonly x: number;
  readonly y: number;
}

export const linearOf = ({ scale, angle, shift }: Similarity): Linear => ({
  a: scale * Math.cos(angle),
  b: scale * Math.sin(angle),
  x: shift[0],
  y: shift[1],
});

export const similarityOf = ({ a, b, x, y }: Linear): Similarity => ({ scale: Math.hypot(a, b), angle: Math.atan2(b, a), shift: [x, y] });

/** Maps a point in pixels from the centre. */
export function applyToPoint(transform: Similarity, [x, y]: readonly [number, number]): [number, number] {
  const t = linearOf(transform);
  return [t.a * x - t.b * y + t.x, t.b * x + t.a * y + t.y];
}

/** First `first`, then `second`. */
export function compose({ first, second }: { first: Similarity; second: Similarity }): Similarity {
  return {
    scale: first.scale * second.scale,
    angle: first.angle + second.angle,
    shift: applyToPoint(second, first.shift),
  };
}

export function invert({ scale, angle, shift }: Similarity): Similarity {
  const back: Similarity = { scale: 1 / scale, angle: -angle, shift: [0, 0] };
  const [x, y] = applyToPoint(back, shift);
  return { ...back, shift: [-x, -y] };
}

/** The same transform for an image `factor` times as large. */
export const resized = ({ scale, angle, shift }: Similarity, factor: number): Similarity => ({
  scale,
  angle,
  shift: [shift[0] * factor, shift[1] * factor],
});

/** Root mean square distance, in pixels over the image, between the points that the two transforms map to. */
export function distance(one: Similarity, other: Similarity, size: Size): number {
  const [p, q] = [linearOf(one), linearOf(other)];
  const turned = ((p.a - q.a) ** 2 + (p.b - q.b) ** 2) * meanSquaredRadius(size);
  return Math.sqrt(turned + (p.x - q.x) ** 2 + (p.y - q.y) ** 2);
}

/** Mean of x² + y² over an image, from its centre: converts a change of α to squared pixels. */
export const meanSquaredRadius = ({ width, height }: Size): number => (width ** 2 + height ** 2) / 12;
