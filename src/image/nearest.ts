import type { Size } from "./image.ts";

type Values = Float32Array | Int8Array | Uint8Array | Uint16Array;

/** A map in another size: the value of the pixel that contains each new pixel's centre. For depth, which must not be mixed across edges. */
export function resizeNearest<T extends Values>(values: T, from: Size, to: Size): T {
  const resized = new (values.constructor as new (length: number) => T)(to.width * to.height);
  for (let y = 0, i = 0; y < to.height; y++) {
    const row = Math.floor(((y + 0.5) * from.height) / to.height) * from.width;
    for (let x = 0; x < to.width; x++, i++) resized[i] = values[row + Math.floor(((x + 0.5) * from.width) / to.width)] as number;
  }
  return resized;
}
