/** Focus probability of one image: p as [N, H, W], plane by plane, each row by row. */
export interface FocusProbability {
  readonly planes: number;
  readonly width: number;
  readonly height: number;
  readonly values: Float32Array;
}

/**
 * Invalid focus trend (C.4): the share, 0 to 1, of pixels whose p does not fall monotonically away from its peak k = argmax p (the first,
 * on a tie). A pixel is invalid where p drops on the way to the peak or rises after it:
 *
 *     p_{n+1} < p_n - τ for some n < k,  or  p_{n+1} > p_n + τ for some n ≥ k,   τ = 1e-6 for rounding
 */
export function invalidFocusTrend(
  { planes, width, height, values }: FocusProbability,
  { valid, tolerance = 1e-6 }: { valid?: Uint8Array; tolerance?: number } = {},
): number {
  const pixels = width * height;
  if (values.length !== planes * pixels)
    throw new RangeError(`invalidFocusTrend: [${planes}, ${height}, ${width}] needs ${planes * pixels} values, got ${values.length}`);
  if (valid && valid.length !== pixels) throw new RangeError(`invalidFocusTrend: the mask needs ${pixels} values, got ${valid.length}`);
  let [counted, invalid] = [0, 0];
  for (let i = 0; i < pixels; i++) {
    if (valid && !valid[i]) continue;
    counted += 1;
    if (!fallsFromPeak(values, { start: i, stride: pixels, planes, tolerance })) invalid += 1;
  }
  if (counted === 0) throw new RangeError("invalidFocusTrend: no pixel is valid");
  return invalid / counted;
}

interface Curve {
  readonly start: number;
  readonly stride: number;
  readonly planes: number;
  readonly tolerance: number;
}

function fallsFromPeak(values: Float32Array, { start, stride, planes, tolerance }: Curve): boolean {
  let peak = 0;
  for (let n = 1; n < planes; n++) if ((values[start + n * stride] as number) > (values[start + peak * stride] as number)) peak = n;
  for (let n = 0; n + 1 < planes; n++) {
    const rise = (values[start + (n + 1) * stride] as number) - (values[start + n * stride] as number);
    if (n < peak ? rise < -tolerance : rise > tolerance) return false;
  }
  return true;
}
