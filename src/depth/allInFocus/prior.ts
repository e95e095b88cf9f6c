import type { Plane } from "../../image/boxFilter.ts";
import type { Size } from "../../image/image.ts";
import type { FocusProbability } from "../../network/focusProbability.ts";

/** Which plane wins at an edge through which both the object and what lies behind it can be seen. */
export const PREFERENCES = ["near", "far"] as const;
export type Preference = (typeof PREFERENCES)[number];

/** How much each plane may contribute to a pixel of the all-in-focus image. In the size of p. */
export interface PlanePrior {
  readonly planes: number;
  /** In [0, 1]; 1 for the likeliest planes, 0 for those that do not count. Multiplies the energy by which planes are compared. */
  readonly choice: (plane: number) => Plane;
  /** p², the share of the plane in what is too coarse to be compared. */
  readonly share: (plane: number) => Plane;
}

/** Pixels and planes by which the network may be off: within them sharpness decides. */
const REACH = { pixels: 3, planes: 1 } as const;
/** A plane counts if p is at least this share of the largest p. */
const LEAST = 1 / 64;
/** Where the depth differs by this many planes within reach, an edge is seen through. */
const EDGE_PLANES = 2.5;
/** Factor on p of the plane that is not preferred at an edge. */
const DISCOUNT = 1 / 64;

/**
 * The prior of the plane choice: √ of the largest p around each pixel and plane, as a share of the largest of all planes. (With p itself a
 * plane next to the likeliest one loses although it is visibly sharper; with no p at all noise decides.) With `prefer`, planes are discounted at depth edges, the more the farther they lie from the preferred side.
 */
export function planePrior(probability: FocusProbability, { prefer }: { readonly prefer?: Preference | undefined } = {}): PlanePrior {
  const { planes, width, height } = probability;
  const area = width * height;
  const choice = nearby(probability);
  const column = new Float32Array(planes);
  const edges = prefer && depthEdges(probability, prefer);
  for (let i = 0; i < area; i++) {
    let most = 0;
    for (let n = 0; n < planes; n++) most = Math.max(most, (column[n] = choice[n * area + i] as number));
    for (let n = 0; n < planes; n++) column[n] = (column[n] as number) / most;
    edges?.discount(column, i);
    for (let n = 0; n < planes; n++) choice[n * area + i] = (column[n] as number) < LEAST ? 0 : Math.sqrt(column[n] as number);
  }
  const map = (values: Float32Array, n: number): Plane => ({ width, height, values: values.subarray(n * area, (n + 1) * area) });
  return {
    planes,
    choice: (n) => map(choice, n),
    share: (n) => ({ width, height, values: shares(map(probability.values, n).values) }),
  };
}

/** p², never 0. */
function shares(p: Float32Array): Float32Array {
  const out = new Float32Array(p.length);
  for (let i = 0; i < p.length; i++) out[i] = (p[i] as number) * (p[i] as number) + 1e-9;
  return out;
}

/** Discounts the planes of a pixel at a depth edge. */
function depthEdges(
  { planes, width, height, values }: FocusProbability,
  prefer: Preference,
): { discount(column: Float32Array, pixel: number): void } {
  const area = width * height;
  const mean = new Float32Array(area);
  for (let n = 0; n < planes; n++) for (let i = 0; i < area; i++) mean[i] = (mean[i] as number) + n * (values[n * area + i] as number);
  const farthest = around(mean, { width, height });
  const nearest = around(mean.map((plane) => planes - plane), { width, height }).map((plane) => planes - plane); // prettier-ignore
  return {
    discount(column, pixel) {
      const [first, last] = [nearest[pixel] as number, farthest[pixel] as number];
      if (last - first < EDGE_PLANES) return;
      const [from, to] = prefer === "near" ? [first, last] : [last, first];
      for (let n = 0; n < planes; n++) {
        const beyond = Math.min(Math.max((n - from) / (to - from), 0), 1);
        column[n] = (column[n] as number) * DISCOUNT ** beyond;
      }
    },
  };
}

/** The largest p within reach of each pixel and plane. */
function nearby({ planes, width, height, values }: FocusProbability): Float32Array {
  const area = width * height;
  const along = greatest(values, { reach: REACH.planes, length: planes, stride: area });
  return around(along, { width, height });
}

/** The greatest of the values within reach of each pixel, of one map or several. */
function around(values: Float32Array, { width, height }: Size): Float32Array {
  const rows = greatest(values, { reach: REACH.pixels, length: width, stride: 1 });
  return greatest(rows, { reach: REACH.pixels, length: height, stride: width });
}

/** The greatest of the values within reach along one axis. */
function greatest(
  values: Float32Array,
  { reach, length, stride }: { readonly reach: number; readonly length: number; readonly stride: number },
): Float32Array {
  const out = new Float32Array(values.length);
  for (let start = 0; start < values.length; start += length * stride)
    for (let position = 0; position < length; position++) {
      const [from, to] = [Math.max(position - reach, 0), Math.min(position + reach, length - 1)];
      const at = start + position * stride;
      for (let i = 0; i < stride; i++) {
        let most = 0;
        for (let k = from; k <= to; k++) {
          const value = values[start + k * stride + i] as number;
          if (value > most) most = value;
        }
        out[at + i] = most;
      }
    }
  return out;
}
