import { boxMean, type Plane } from "./boxFilter.ts";

/** The linear model of a guided filter at each pixel: the output is slope · guide + offset. */
interface GuidedModel {
  readonly slope: Float32Array;
  readonly offset: Float32Array;
}

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
export function guidedFilter(guide: Plane, options: GuidedOptions): (plane: Plane) => Float32Array {
  const model = guidedModel(guide, options);
  return (plane) => {
    const { slope, offset } = model(plane);
    return slope.map((a, i) => a * (guide.values[i] as number) + (offset[i] as number));
  };
}

/** mean(a) and mean(b) of the guided filter, to apply to a larger guide. */
export function guidedModel(guide: Plane, { radius, smoothness }: GuidedOptions): (plane: Plane) => GuidedModel {
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
    return { slope: mean(slope), offset: mean(offset) };
  };
}

/** A loop, because `map` would allocate a number for every pixel. */
function product(a: Float32Array, b: Float32Array): Float32Array {
  const out = new Float32Array(a.length);
  for (let i = 0; i < a.length; i++) out[i] = (a[i] as number) * (b[i] as number);
  return out;
}
