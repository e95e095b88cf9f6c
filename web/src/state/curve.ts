import type { Size } from "../../../src/image/image.ts";
import type { FocalStack } from "../../../src/stack/focalStack.ts";
import type { PlaneMaps } from "../contract.ts";

/** A pixel of the full-size maps. */
export interface Pixel {
  readonly x: number;
  readonly y: number;
}

/** The values of all planes at a pixel of a map of another size. */
export function columnAt({ planes, width, height, data }: PlaneMaps, { x, y }: Pixel, size: Size): number[] {
  const column = Math.min(Math.floor(((x + 0.5) * width) / size.width), width - 1);
  const row = Math.min(Math.floor(((y + 0.5) * height) / size.height), height - 1);
  return Array.from({ length: planes }, (_, n) => data[(n * height + row) * width + column] as number);
}

/** Values divided by their sum, so that sharpness can be compared with a probability; uniform if the sum is 0. */
export function asShares(values: readonly number[]): number[] {
  const sum = values.reduce((total, value) => total + value, 0);
  return values.map((value) => (sum > 0 ? value / sum : 1 / values.length));
}

export interface Frame extends Size {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The x position of plane n, which may be fractional; planes are evenly spaced over the frame. */
export function planeX(plane: number, planes: number, { left, right, width }: Frame): number {
  return left + (width - left - right) * (planes > 1 ? plane / (planes - 1) : 0.5);
}

/** The y position of a value, 0 at the bottom, `most` at the top of the frame. */
export function valueY(value: number, most: number, { top, bottom, height }: Frame): number {
  return height - bottom - (height - top - bottom) * Math.min(Math.max(value / most, 0), 1);
}

/** The points of a curve for SVG's `points`. */
export function curvePoints(values: readonly number[], { most, frame }: { most: number; frame: Frame }): string {
  return values.map((value, n) => `${round(planeX(n, values.length, frame))},${round(valueY(value, most, frame))}`).join(" ");
}

/** The fractional plane index of a depth, even between planes: metres in dioptres. Focus distances may rise or fall. */
export function planeOfDepth(depth: number, { focusDistances, space }: Pick<FocalStack, "focusDistances" | "space">): number {
  const last = focusDistances.length - 1;
  const rising = (focusDistances[last] as number) >= (focusDistances[0] as number);
  const reached = (n: number): boolean => (rising ? (focusDistances[n] as number) >= depth : (focusDistances[n] as number) <= depth);
  if (reached(0)) return 0;
  for (let n = 1; n <= last; n++) {
    if (!reached(n)) continue;
    const even = (value: number): number => (space === "depth" ? 1 / value : value);
    const [from, to] = [even(focusDistances[n - 1] as number), even(focusDistances[n] as number)];
    return n - 1 + (even(depth) - from) / (to - from);
  }
  return last;
}

/** The points of a profile, evenly spaced over the frame, as one polyline per stretch without gaps (NaN). */
export function profilePoints(values: Float32Array, { range, frame }: { range: readonly [number, number]; frame: Frame }): string[] {
  const stretches: string[][] = [[]];
  for (const [i, value] of values.entries())
    if (Number.isNaN(value)) stretches.push([]);
    else {
      const y = valueY(value - range[0], range[1] - range[0], frame);
      stretches.at(-1)?.push(`${round(planeX(i, values.length, frame))},${round(y)}`);
    }
  return stretches.filter((points) => points.length > 0).map((points) => points.join(" "));
}

/** One step of an arrow key: half a percent of what is in view, ten times as far with Shift; at least a pixel, clamped to the image. */
export function movePixel(
  { x, y }: Pixel,
  key: string,
  { size, far, zoom = 1 }: { size: Size; far: boolean; zoom?: number },
): Pixel | undefined {
  const step = Math.max(1, Math.round((Math.max(size.width, size.height) / 200 / zoom) * (far ? 10 : 1)));
  const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[key];
  if (!by) return undefined;
  const held = (value: number, side: number): number => Math.min(Math.max(value, 0), side - 1);
  return { x: held(x + (by[0] as number), size.width), y: held(y + (by[1] as number), size.height) };
}

const round = (value: number): number => Math.round(value * 100) / 100;
