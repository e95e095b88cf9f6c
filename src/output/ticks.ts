import type { DepthUnit } from "./result.ts";

/** The most readable unit for values up to `largest` [m], and the factor from the stored unit. */
export function displayUnit(unit: DepthUnit, largest: number): { name: string; factor: number } {
  if (unit === "index") return { name: "plane", factor: 1 };
  if (unit !== "m") return { name: unit, factor: 1 };
  const size = Math.abs(largest);
  if (size >= 1) return { name: "m", factor: 1 };
  return size >= 1e-3 ? { name: "mm", factor: 1e3 } : { name: "µm", factor: 1e6 };
}

/** The greatest of 1, 2, 5 × 10ⁿ that is at most `value`. */
export function niceStep(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const power = Math.floor(Math.log10(value) + 1e-9);
  const digit = [5, 2, 1].find((each) => Number(`${each}e${power}`) <= value * (1 + 1e-9)) ?? 1;
  return Number(`${digit}e${power}`);
}

/** Round values within the range, at most `most` of them, with as few digits as needed. */
export function ticks([least, greatest]: readonly [number, number], most: number): { value: number; label: string }[] {
  const span = greatest - least;
  if (!(span > 0)) return [{ value: least, label: String(Number(least.toPrecision(3))) }];
  const wanted = span / Math.max(most, 1);
  const down = niceStep(wanted);
  const step = [1, 2, 2.5, 5, 10].map((factor) => niceStep(down * factor)).find((each) => each >= wanted * (1 - 1e-9)) ?? span;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const first = Math.ceil(least / step - 1e-9);
  const count = Math.max(0, Math.floor(greatest / step + 1e-9) - first + 1);
  return Array.from({ length: count }, (_, i) => {
    const value = (first + i) * step;
    return { value, label: value.toFixed(digits) };
  });
}
