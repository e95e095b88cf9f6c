/** In-place 2-D Fourier transform (unscaled) of a size × size complex image; `size` is a power of two. */
export function transform(real: Float64Array, imaginary: Float64Array, size: number): void {
  const tables = {
    cosines: Float64Array.from({ length: size / 2 }, (_, k) => Math.cos((2 * Math.PI * k) / size)),
    sines: Float64Array.from({ length: size / 2 }, (_, k) => -Math.sin((2 * Math.PI * k) / size)),
    order: bitReversed(size),
  };
  const [lineReal, lineImaginary] = [new Float64Array(size), new Float64Array(size)];
  for (let pass = 0; pass < 2; pass++) {
    const [step, next] = pass === 0 ? [1, size] : [size, 1];
    for (let line = 0; line < size; line++) {
      // Copied to a line in bit-reversed order: transforming columns in place would miss the cache at every step.
      for (let i = 0; i < size; i++) {
        const from = line * next + (tables.order[i] as number) * step;
        lineReal[i] = real[from] as number;
        lineImaginary[i] = imaginary[from] as number;
      }
      butterflies(lineReal, lineImaginary, tables);
      for (let i = 0; i < size; i++) {
        real[line * next + i * step] = lineReal[i] as number;
        imaginary[line * next + i * step] = lineImaginary[i] as number;
      }
    }
  }
}

function bitReversed(size: number): Int32Array {
  const order = new Int32Array(size);
  for (let i = 1; i < size; i++) order[i] = ((order[i >> 1] as number) >> 1) | (i & 1 ? size >> 1 : 0);
  return order;
}

/** The radix-2 algorithm on values already in bit-reversed order. */
function butterflies(
  real: Float64Array,
  imaginary: Float64Array,
  { cosines, sines }: { cosines: Float64Array; sines: Float64Array },
): void {
  const size = real.length;
  for (let half = 1; half < size; half <<= 1) {
    const stride = size / (2 * half);
    for (let start = 0; start < size; start += 2 * half)
      for (let k = 0; k < half; k++) {
        const c = cosines[k * stride] as number;
        const s = sines[k * stride] as number;
        const a = start + k;
        const b = a + half;
        const re = (real[b] as number) * c - (imaginary[b] as number) * s;
        const im = (real[b] as number) * s + (imaginary[b] as number) * c;
        real[b] = (real[a] as number) - re;
        imaginary[b] = (imaginary[a] as number) - im;
        real[a] = (real[a] as number) + re;
        imaginary[a] = (imaginary[a] as number) + im;
      }
  }
}
