import type { Size } from "../image/image.ts";

/** How far an object's edge matters, in pixels. */
const SILHOUETTE_REACH = 30;

/** How far beside an object a map may make it fatter than it is, in pixels. */
const BESIDE = 5;

/** For every pixel of the background within `reach` pixels of the object the object's pixel nearest to it; −1 elsewhere. */
export function nearestOfObject(object: Uint8Array, { width, height }: Size, reach = BESIDE): Int32Array {
  return Int32Array.from(object, (is, i) => {
    if (is) return -1;
    const [x, y] = [i % width, Math.floor(i / width)];
    let [nearest, least] = [-1, reach ** 2 + 1]; // squares of distances are whole numbers
    for (let row = Math.max(y - reach, 0); row <= Math.min(y + reach, height - 1); row++)
      for (let column = Math.max(x - reach, 0); column <= Math.min(x + reach, width - 1); column++) {
        const squared = (row - y) ** 2 + (column - x) ** 2;
        if (object[row * width + column] && squared < least) [nearest, least] = [row * width + column, squared];
      }
    return nearest;
  });
}

/** The pixels without an object that have one within `reach` pixels of them. */
export const besideObjects = (objects: Uint8Array, size: Size, reach = SILHOUETTE_REACH): Uint8Array =>
  nearSilhouette(
    objects.map((is) => 1 - is),
    size,
    reach,
  );

/** The pixels of the object with background within `reach` pixels of them; where the object leaves the image there is none. */
export function nearSilhouette(object: Uint8Array, { width, height }: Size, reach = SILHOUETTE_REACH): Uint8Array {
  const across = new Float64Array(object.length); // squared distance to the background in the same row
  for (let y = 0; y < height; y++)
    for (const [first, step] of [
      [0, 1],
      [width - 1, -1],
    ] as const)
      // prettier-ignore
      for (let n = 0, since = Infinity; n < width; n++) {
        const i = y * width + first + step * n;
        since = object[i] ? since + 1 : 0;
        across[i] = Math.min(since ** 2, step === 1 ? Infinity : (across[i] as number));
      }
  return object.map((is, i) => {
    if (!is) return 0;
    const y = Math.floor(i / width);
    for (let row = Math.max(y - reach, 0); row <= Math.min(y + reach, height - 1); row++)
      if ((across[i + (row - y) * width] as number) + (row - y) ** 2 <= reach ** 2) return 1;
    return 0;
  });
}
