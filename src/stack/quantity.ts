import type { Unit } from "./stackFormat.ts";

/** A number with its unit, if one was written. `Infinity` is a valid focus distance. */
export interface Quantity {
  readonly value: number;
  readonly unit?: Unit;
}

/** How many of a unit of length make a metre. */
export const PER_METRE = { m: 1, cm: 1e2, mm: 1e3, um: 1e6 } as const satisfies Partial<Record<Unit, number>>;

export const isLength = (unit: Unit): unit is keyof typeof PER_METRE => unit in PER_METRE;

/** The names of lengths, each with the unit its numbers are kept in and how many of that unit it is. */
const LENGTH_NAMES: readonly (readonly [RegExp, { readonly unit: keyof typeof PER_METRE; readonly factor: number }])[] = [
  [/^(m|met(er|re)s?)$/i, { unit: "m", factor: 1 }],
  [/^(cm|centimet(er|re)s?)$/i, { unit: "mm", factor: 10 }],
  [/^(mm|millimet(er|re)s?)$/i, { unit: "mm", factor: 1 }],
  // The micro sign has two code points and is often decoded wrongly: any non-ASCII letters before an m.
  [/^(um|microns?|micromet(er|re)s?|&#(181|956);m|[^ -~]{1,3}m)$/i, { unit: "um", factor: 1 }],
  [/^(nm|nanomet(er|re)s?)$/i, { unit: "um", factor: 1e-3 }],
  [/^(in|inch(es)?)$/i, { unit: "mm", factor: 25.4 }],
];

const parseLength = (word: string): (typeof LENGTH_NAMES)[number][1] | undefined => LENGTH_NAMES.find(([name]) => name.test(word))?.[1];

/** `"mm"` → 0.001; undefined for anything that is not a length. */
export function metresPer(unit: string): number | undefined {
  const length = parseLength(unit.trim());
  return length && length.factor / PER_METRE[length.unit];
}

/** A unit by any of its usual names, with the factor that turns numbers into it: `"cm"` is 10 mm. */
export function parseUnit(text: string): { readonly unit: Unit; readonly factor: number } | undefined {
  const word = text.trim();
  if (/^(dpt|dptrs?|diopt(er|re)s?|d|1\/m)$/i.test(word)) return { unit: "dpt", factor: 1 };
  if (/^(disparity|index)$/i.test(word)) return { unit: word.toLowerCase() as Unit, factor: 1 };
  return parseLength(word);
}

/** A sum or product of decimal numbers without the error of binary arithmetic: 150.3, not 150.29999999999998. */
export const decimal = (value: number): number => Number(value.toPrecision(12));

const LONGEST = 100;

/** `"0.65"`, `"650mm"`, `"1.5 dpt"`, `"inf"`; undefined if the text is not a number with a unit or without. */
export function parseQuantity(text: string): Quantity | undefined {
  if (text.length > LONGEST) return undefined; // the pattern takes the square of the time on a million digits
  const match = /^([+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|inf(?:inity)?|∞))\s*([^\d\s.+-][^\s]*)?$/i.exec(text.trim());
  if (!match) return undefined;
  const [, digits = "", word] = match;
  const value = /[i∞]/i.test(digits) ? (digits.startsWith("-") ? -Infinity : Infinity) : Number(digits);
  if (word === undefined) return { value };
  const unit = parseUnit(word);
  return unit && { value: unit.factor === 1 ? value : decimal(value * unit.factor), unit: unit.unit };
}

/**
 * One unit for the whole stack: theirs if they agree, else metres; dioptres if one of the lengths is infinite, since 1/∞ is a number.
 * `fallback` is the unit of numbers written without one. Undefined if the units cannot be converted into one.
 */
export function unify(quantities: readonly Quantity[], fallback: Unit): { values: number[]; unit: Unit } | undefined {
  const withUnit = quantities.map(({ value, unit = fallback }) => ({ value, unit }));
  const units = new Set(withUnit.map(({ unit }) => unit));
  const isMetric = [...units].every((unit) => isLength(unit) || unit === "dpt");
  const hasInfinity = isMetric && withUnit.some(({ value, unit }) => unit !== "dpt" && value === Infinity);
  if (units.size === 1 && !hasInfinity) return { values: withUnit.map(({ value }) => value), unit: withUnit[0]?.unit ?? fallback };
  if (!isMetric) return undefined;
  const metres = withUnit.map(({ value, unit }) => (isLength(unit) ? value / PER_METRE[unit] : 1 / value));
  const anyInfinity = metres.some((value) => value === Infinity);
  return anyInfinity ? { values: metres.map((value) => 1 / value), unit: "dpt" } : { values: metres, unit: "m" };
}

/** The unit as people write it. */
export const unitSymbol = (unit: string): string => (unit === "um" ? "µm" : unit);

/** As few digits as give the number back, six at most. */
export const numberText = (value: number): string => String(Number(value.toPrecision(6)));

/** The distances of a stack's planes for display: three digits of each, and as many more as show a hundredth of the smallest step between planes. */
export function distanceTexts(values: readonly number[]): string[] {
  const steps = values.slice(1).flatMap((value, n) => Math.abs(value - (values[n] as number)) || []); // of different planes
  const decimals = (value: number, digits: number): number => (value > 0 ? digits - 1 - Math.floor(Math.log10(value)) : 0);
  const ofSteps = decimals(Math.min(...steps, Infinity), 3);
  return values.map((value) => String(Number(value.toFixed(Math.min(Math.max(ofSteps, decimals(Math.abs(value), 3), 0), 20)))));
}
