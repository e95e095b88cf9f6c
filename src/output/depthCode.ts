import type { DepthMap } from "../image/depthMap.ts";
import type { PngPixels } from "../io/png.ts";
import { isKnown, validRange } from "./result.ts";
import type { DepthUnit } from "./result.ts";

/** value = code · scale + offset for codes 1 to 65535; 0 is unknown. */
export interface DepthCode {
  readonly scale: number;
  readonly offset: number;
}

const CODES = 65535;

/**
 * The finest round scale (1, 2 or 5 times a power of ten) that fits the range. Offset 0 if that costs at most four of the sixteen bits,
 * so that programs that only know a scale can read it; otherwise a multiple of the scale just below the least value.
 */
export function depthCode([least, greatest]: readonly [number, number]): DepthCode {
  const span = greatest - least;
  const plain = least > 0 && span >= greatest / 16 ? roundScale(greatest / CODES) : Infinity;
  if (least >= plain) return { scale: plain, offset: 0 };
  const scale = roundScale((span > 0 ? span : Math.abs(greatest) / 1000 || 1) / (CODES - 3));
  return { scale, offset: (Math.floor(least / scale) - 1) * scale };
}

/** The least of 1, 2, 5 × 10ⁿ that is not below `value`. */
function roundScale(value: number): number {
  const power = Math.floor(Math.log10(value));
  const found = [1, 2, 5, 10].map((digit) => Number(`${digit}e${power}`)).find((scale) => scale >= value);
  return found ?? Number(`2e${power + 1}`);
}

/** 16-bit grey PNG with scale, offset and unit as text chunks. */
export function depth16Pixels(depth: DepthMap, unit: DepthUnit): { png: PngPixels; code: DepthCode } {
  const { width, height, values } = depth;
  const code = depthCode(validRange(depth));
  const data = new Uint16Array(values.length);
  for (let pixel = 0; pixel < values.length; pixel++)
    if (isKnown(depth, pixel))
      data[pixel] = Math.min(Math.max(Math.round(((values[pixel] as number) - code.offset) / code.scale), 1), CODES);
  const text = { scale: String(code.scale), offset: String(code.offset), unit, invalid: "0" };
  return { png: { width, height, channels: 1, data, text }, code };
}
