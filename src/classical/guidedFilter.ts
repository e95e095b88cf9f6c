import { boxMean, type Plane } from "./boxFilter.ts";

/**
 * Guided filter (He et al. 2010): smooths pictures while keeping the edges of a guide. In every window the output is a I + b:
 *
 *     a = cov(I, p) / (var(I) + ε),   b = mean(p) - a mean(I),   out = mean(a) I + mean(b)
 *
 * Returns a function, so that what depends on the guide alone is computed once for many planes. `smoothness` is ε, in squared guide units.
 */
export function guidedFilter(guide: Plane, { radius, smoothness }: { radius: number; smoothness: number }): (plane: Plane) => Float32Array {
  const { width, height, values: picture } = guide;
  const mean = (values: Float32Array): Float32Array => boxMean({ width, height, values }, radius);
  const guideMean = mean(picture);
  const guideSquare = mean(product(picture, picture));

  return ({ values }) => {
    const planeMean = mean(values);
    const cross = mean(product(picture, values));
    const slope = new Float32Array(values.length);
    const offset = new Float32Array(values.length);
    for (let i = 0; i < values.length; i++) {
      const [m, p] = [guideMean[i] as number, planeMean[i] as number];
      const a = ((cross[i] as number) - m * p) / ((guideSquare[i] as number) - m * m + smoothness);
      slope[i] = a;
      offset[i] = p - a * m;
    }
    const [slopeMean, offsetMean] = [mean(slope), mean(offset)];
    return slopeMean.map((a, i) => a * (picture[i] as number) + (offsetMean[i] as number));
  };
}

const product = (a: Float32Array, b: Float32Array): Float32Array => a.map((value, i) => value * (b[i] as number));
