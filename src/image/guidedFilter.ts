import { boxMean, type Plane } from "./boxFilter.ts";

interface GuidedOptions {
  readonly radius: number;
  /** ε, in squared guide units. */
  readonly smoothness: number;
}

/**
 * Guided filter (He et al. 2010): smooths maps while keeping the edges of a guide. In every window the output is a I + b:
 *
 *     a = cov(I, p) / (var(I) + ε),   b = mean(p) - a mean(I),   out = mean(a) I + mean(b)
 *
 * Returns a function, so that what depends only on the guide is computed once for many planes.
 */
export function guidedFilter(guide: Plane, { radius, smoothness }: GuidedOptions): (plane: Plane) => Float32Array {
  const { width, height, values: brightness } = guide;
  const mean = (values: Float32Array): Float32Array => boxMean({ width, height, values }, radius);
  const guideMean = mean(brightness);
  const guideSquare = mean(product(brightness, brightness));

  return ({ values }) => {
    const planeMean = mean(values);
    const cross = mean(product(brightness, values));
    const slope = new Float32Array(values.length);
    const offset = new Float32Array(values.length);
    for (let i = 0; i < values.length; i++) {
      const [m, p] = [guideMean[i] as number, planeMean[i] as number];
      const a = ((cross[i] as number) - m * p) / ((guideSquare[i] as number) - m * m + smoothness);
      slope[i] = a;
      offset[i] = p - a * m;
    }
    const offsets = mean(offset);
    return mean(slope).map((a, i) => a * (brightness[i] as number) + (offsets[i] as number));
  };
}

/** A loop, because `map` would allocate a number for every pixel. */
function product(a: Float32Array, b: Float32Array): Float32Array {
  const out = new Float32Array(a.length);
  for (let i = 0; i < a.length; i++) out[i] = (a[i] as number) * (b[i] as number);
  return out;
}
