/** In-place 2-D Fourier sum (no scaling) of a size × size complex picture; `size` is a power of two. */
export function transform(real: Float64Array, imaginary: Float64Array, size: number): void {
  const cosines = Float64Array.from({ length: size / 2 }, (_, k) => Math.cos((2 * Math.PI * k) / size));
  const sines = Float64Array.from({ length: size / 2 }, (_, k) => -Math.sin((2 * Math.PI * k) / size));
  for (let y = 0; y < size; y++) line(real, imaginary, { start: y * size, step: 1, size, cosines, sines });
  for (let x = 0; x < size; x++) line(real, imaginary, { start: x, step: size, size, cosines, sines });
}

interface Line {
  readonly start: number;
  readonly step: number;
  readonly size: number;
  readonly cosines: Float64Array;
  readonly sines: Float64Array;
}

function swap(values: Float64Array, a: number, b: number): void {
  const kept = values[a] as number;
  values[a] = values[b] as number;
  values[b] = kept;
}

/** One row or column by the radix-2 algorithm. */
function line(real: Float64Array, imaginary: Float64Array, { start, step, size, cosines, sines }: Line): void {
  for (let i = 1, j = 0; i < size; i++) {
    let bit = size >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i >= j) continue;
    swap(real, start + i * step, start + j * step);
    swap(imaginary, start + i * step, start + j * step);
  }
  for (let length = 2; length <= size; length <<= 1) {
    for (let k = 0; k < length / 2; k++) {
      const c = cosines[(k * size) / length] as number;
      const s = sines[(k * size) / length] as number;
      for (let i = k; i < size; i += length) {
        const a = start + i * step;
        const b = start + (i + length / 2) * step;
        const re = (real[b] as number) * c - (imaginary[b] as number) * s;
        const im = (real[b] as number) * s + (imaginary[b] as number) * c;
        real[b] = (real[a] as number) - re;
        imaginary[b] = (imaginary[a] as number) - im;
        real[a] = (real[a] as number) + re;
        imaginary[a] = (imaginary[a] as number) + im;
      }
    }
  }
}
