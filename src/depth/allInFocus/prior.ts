import type { Plane } from "../../image/boxFilter.ts";
import { localMaximum, localMinimum, maximumAround } from "../../image/localExtremes.ts";
import { workspace } from "../../image/simd/workspace.ts";
import type { FocusProbability } from "../../network/focusProbability.ts";

/** Which plane wins at an edge through which both the object and what lies behind it can be seen. */
export const PREFERENCES = ["near", "far"] as const;
export type Preference = (typeof PREFERENCES)[number];

/** How much each plane may contribute to a pixel of the all-in-focus image. */
export interface PlanePrior {
  readonly planes: number;
  readonly maps: (plane: number) => PlaneMaps;
}

/** In the size of p. */
export interface PlaneMaps {
  /** In [0, 1]; 1 for the likeliest planes, 0 for those that do not count. Multiplies the energy by which planes are compared. */
  readonly choice: Plane;
  /** p², the share of the plane in what is too coarse to be compared. */
  readonly share: Plane;
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
  takeShares(choice, area, () => {
    if (prefer) discountEdges(choice, probability, prefer);
  });
  const map = (values: Float32Array, n: number): Plane => ({ width, height, values: values.subarray(n * area, (n + 1) * area) });
  return {
    planes,
    maps: (n) => ({ choice: map(choice, n), share: { width, height, values: shares(map(probability.values, n).values) } }),
  };
}

/** √ of the share of each plane in the largest of all, in place; 0 below `LEAST`. The planes may be discounted in between. */
function takeShares(choice: Float32Array, area: number, discount: () => void): void {
  const { kernels, take, view, scoped } = workspace();
  scoped(() => {
    const [most, own] = [take(area), take(area)];
    const parts = Array.from({ length: choice.length / area }, (_, n) => choice.subarray(n * area, (n + 1) * area));
    view(most, area).fill(0);
    for (const part of parts) {
      view(own, area).set(part);
      kernels.maxInto(most, own, area);
    }
    discount();
    for (const part of parts) {
      view(own, area).set(part);
      kernels.rootOfShare(own, most, area, LEAST);
      part.set(view(own, area));
    }
  });
}

/** p², never 0. */
function shares(p: Float32Array): Float32Array {
  const out = new Float32Array(p.length);
  for (let i = 0; i < p.length; i++) out[i] = (p[i] as number) * (p[i] as number) + 1e-9;
  return out;
}

/** Discounts the planes of pixels at depth edges. */
function discountEdges(choice: Float32Array, { planes, width, height, values }: FocusProbability, prefer: Preference): void {
  const area = width * height;
  const mean = new Float32Array(area);
  for (let n = 0; n < planes; n++) for (let i = 0; i < area; i++) mean[i] = (mean[i] as number) + n * (values[n * area + i] as number);
  const map = { width, height, values: mean };
  const [nearest, farthest] = [localMinimum(map, REACH.pixels), localMaximum(map, REACH.pixels)];
  const [from, to] = prefer === "near" ? [nearest, farthest] : [farthest, nearest];
  for (let i = 0; i < area; i++) {
    const [start, way] = [from[i] as number, (to[i] as number) - (from[i] as number)];
    if (Math.abs(way) < EDGE_PLANES) continue;
    for (let n = 0; n < planes; n++) {
      const beyond = Math.min(Math.max((n - start) / way, 0), 1);
      choice[n * area + i] = (choice[n * area + i] as number) * DISCOUNT ** beyond;
    }
  }
}

/** The largest p within reach of each pixel and plane. */
function nearby({ planes, width, height, values }: FocusProbability): Float32Array {
  const { kernels, take, view, scoped } = workspace();
  const area = width * height;
  const out = new Float32Array(values.length);
  scoped(() => {
    const [most, other] = [take(area), take(area)];
    for (let n = 0; n < planes; n++) {
      view(most, area).set(values.subarray(n * area, (n + 1) * area));
      for (let k = Math.max(n - REACH.planes, 0); k <= Math.min(n + REACH.planes, planes - 1); k++) {
        if (k === n) continue;
        view(other, area).set(values.subarray(k * area, (k + 1) * area));
        kernels.maxInto(most, other, area);
      }
      scoped(() => {
        out.set(view(maximumAround(most, { width, height }, REACH.pixels), area), n * area);
      });
    }
  });
  return out;
}
