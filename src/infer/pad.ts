/** Pictures must divide by this to go through the network. */
const MULTIPLE = 32;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The next size up that the network takes. */
export const paddedSize = ({ width, height }: Size): Size => ({
  width: Math.ceil(width / MULTIPLE) * MULTIPLE,
  height: Math.ceil(height / MULTIPLE) * MULTIPLE,
});

/** A row or column beyond the end is the mirror image of one inside: 0 1 2 | 1 0 1 2 … */
export function mirrored(index: number, length: number): number {
  if (length === 1) return 0;
  const period = 2 * (length - 1);
  const inside = ((index % period) + period) % period;
  return inside < length ? inside : period - inside;
}

/** One channel [height, width] mirrored at the right and bottom into `target` [padded.height, padded.width]. */
export function padInto(target: Float32Array, source: Float32Array, { from, to }: { readonly from: Size; readonly to: Size }): void {
  for (let y = 0; y < to.height; y++) {
    const row = mirrored(y, from.height) * from.width;
    target.set(source.subarray(row, row + from.width), y * to.width);
    for (let x = from.width; x < to.width; x++) target[y * to.width + x] = source[row + mirrored(x, from.width)] as number;
  }
}

/** The upper left part of a map: what `padInto` put there. */
export function cropFrom(source: Float32Array, { from, to }: { readonly from: Size; readonly to: Size }): Float32Array {
  const target = new Float32Array(to.width * to.height);
  for (let y = 0; y < to.height; y++) target.set(source.subarray(y * from.width, y * from.width + to.width), y * to.width);
  return target;
}
