import { windowWeight, type PlaneWindow, type PlaneWindows } from "./planeWindows.ts";
import type { Decode } from "./session.ts";

interface Stack {
  readonly windows: PlaneWindows;
  readonly planes: number;
  readonly pixels: number;
}

/**
 * p of all planes, [planes, pixels]. If they are too many for one run, a coarse pass over planes spread evenly decides how much each
 * dense window counts at a pixel, and what the windows find is reconciled with it.
 */
export async function overPlanes(run: Decode, { windows: { sparse, dense }, planes, pixels }: Stack): Promise<Float32Array> {
  if (!sparse) return run(dense[0] as PlaneWindow);
  const coarse = { window: sparse, p: await run(sparse) };
  const rough = meanPlane(coarse.p, sparse, pixels);
  const fine = new Float32Array(planes * pixels);
  for (const [i, window] of dense.entries()) addWindow(fine, await run(window), { window, i, dense, rough });
  return reconciled(fine, { coarse, rough });
}

/** Σ p_n n at each pixel, in planes of the whole stack. */
function meanPlane(values: Float32Array, window: PlaneWindow, pixels: number): Float32Array {
  const mean = new Float32Array(pixels);
  window.forEach((plane, n) => {
    for (let i = 0; i < pixels; i++) mean[i] = (mean[i] as number) + plane * (values[n * pixels + i] as number);
  });
  return mean;
}

function addWindow(
  total: Float32Array,
  values: Float32Array,
  { window, i, dense, rough }: { window: PlaneWindow; i: number; dense: readonly PlaneWindow[]; rough: Float32Array },
): void {
  const pixels = rough.length;
  const weight = rough.map((at) => windowWeight(dense, i, at));
  window.forEach((plane, n) => {
    for (let k = 0; k < pixels; k++) {
      const at = plane * pixels + k;
      total[at] = (total[at] as number) + (weight[k] as number) * (values[n * pixels + k] as number);
    }
  });
}

/** Of ¾, ⅔ and ½, the share with which small at 32 and 60 planes and base at 32 were no worse than with ten (docs/results.md). */
const TOWARDS_COARSE = 2 / 3;

/**
 * A dense window sees little blur and cannot see past its ends; the coarse pass sees all of the stack. With Δ the distance between their
 * mean planes and s the step of the coarse pass, the result is
 *
 *     p = g p_fine(n - ⅔Δ) + (1 - g) p_coarse(n),    g = exp(-Δ² / 2s²)
 *
 * Where the two agree, the fine p is kept in shape and moved two thirds of the way to the coarse mean; where they contradict each other, the
 * coarse p stands, with its own uncertainty. Measured in docs/results.md, "Many planes". Overwrites `fine`, [planes, pixels].
 */
function reconciled(
  fine: Float32Array,
  { coarse, rough }: { readonly coarse: { readonly window: PlaneWindow; readonly p: Float32Array }; readonly rough: Float32Array },
): Float32Array {
  const pixels = rough.length;
  const planes = fine.length / pixels;
  const step = (planes - 1) / (coarse.window.length - 1);
  const [column, moved] = [new Float64Array(planes), new Float64Array(planes)];
  for (let i = 0; i < pixels; i++) {
    let mean = 0;
    for (let n = 0; n < planes; n++) mean += n * (column[n] = fine[n * pixels + i] as number);
    const apart = (rough[i] as number) - mean;
    const agreement = Math.exp(-(apart ** 2) / (2 * step ** 2));
    move(column, TOWARDS_COARSE * apart, moved);
    for (let n = 0; n < planes; n++) fine[n * pixels + i] = agreement * (moved[n] as number);
    coarse.window.forEach((plane, k) => {
      const at = plane * pixels + i;
      fine[at] = (fine[at] as number) + (1 - agreement) * (coarse.p[k * pixels + i] as number);
    });
  }
  return fine;
}

/** p moved by a fractional number of planes; what would leave the stack stays on its last plane. */
function move(p: Float64Array, by: number, out: Float64Array): void {
  out.fill(0);
  const last = p.length - 1;
  for (let n = 0; n <= last; n++) {
    const to = Math.min(Math.max(n + by, 0), last);
    const below = Math.min(Math.floor(to), last - 1);
    const share = to - below;
    out[below] = (out[below] as number) + (1 - share) * (p[n] as number);
    out[below + 1] = (out[below + 1] as number) + share * (p[n] as number);
  }
}
