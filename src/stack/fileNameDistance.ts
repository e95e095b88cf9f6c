import { FormatError } from "../io/formatError.ts";
import { parseUnit, unify, type Quantity } from "./quantity.ts";

/** A number in a name, with the unit that follows it directly or after one space or underscore. */
const NUMBER = /(?:(?<=^|[_=\s(@])-)?\d+(?:\.\d+)*(?:[ _]?(?:(?:mm|cm|um|µm|μm|nm|m|dpt|dptr|diopters?|dioptres?|D)(?![A-Za-z])))?/g;

/**
 * The focus distances that the names of the images state, if they do: the number that differs from image to image and has a unit
 * (`650mm`, `2.0dpt`) or a fraction (`image_1_0.5`). Whole numbers without a unit are counters, dates or times, never distances.
 * `names` are in natural order.
 */
export function distancesInNames(names: readonly string[]): Quantity[] | undefined {
  const numbers = names.map((name) => (stem(name).match(NUMBER) ?? []).map(readNumber));
  const count = numbers[0]?.length ?? 0;
  if (names.length < 2 || numbers.some(({ length }) => length !== count)) return undefined;
  const columns = Array.from({ length: count }, (_, i) => numbers.map((row) => row[i] as Quantity));
  const varying = columns.filter((column) => new Set(column.map(({ value }) => value)).size > 1);
  const withUnit = varying.filter((column) => column.every(({ unit }) => unit !== undefined));
  if (withUnit.length > 0) return agreeing(withUnit, names);
  const fractions = varying.filter((column) => column.some(({ value }) => !Number.isInteger(value)) && column.every(isPlain));
  const rising = fractions.length > 1 ? fractions.filter(isMonotonic) : fractions;
  return rising.length === 1 ? rising[0] : undefined;
}

const stem = (name: string): string => name.replace(/\.[A-Za-z][A-Za-z0-9]*$/, "").replace(/\.ome$/i, "");

/** `2023.01.31` and `12.30.45` are not numbers: NaN. */
function readNumber(text: string): Quantity {
  const digits = /^-?[\d.]+/.exec(text)?.[0] ?? "";
  const word = text.slice(digits.length).replace(/^[ _]/, "");
  const unit = word === "" ? undefined : parseUnit(word);
  return unit ? { value: Number(digits) * unit.factor, unit: unit.unit } : { value: Number(digits) };
}

const isPlain = ({ value, unit }: Quantity): boolean => unit === undefined && Number.isFinite(value);

function isMonotonic(column: readonly Quantity[]): boolean {
  const steps = column.slice(1).map(({ value }, i) => Math.sign(value - (column[i] as Quantity).value));
  return steps.every((step) => step !== 0 && step === steps[0]);
}

/** Several numbers with units must agree (`500mm_2dpt`) within 2 %. */
function agreeing(columns: readonly (readonly Quantity[])[], names: readonly string[]): Quantity[] {
  const [first = [], ...others] = columns;
  const metres = (column: readonly Quantity[]): number[] => {
    const { values = [], unit = "m" } = unify([...column, { value: 1, unit: "m" }, { value: 1, unit: "mm" }], "m") ?? {};
    return unit === "dpt" ? values.map((value) => 1 / value) : values;
  };
  const wanted = metres(first);
  for (const other of others) {
    const odd = metres(other).findIndex((value, i) => Math.abs(value - (wanted[i] as number)) > 0.02 * Math.abs(wanted[i] as number));
    if (odd >= 0 && odd < names.length) throw new FormatError(`${names[odd]}: its name states two different distances`);
  }
  return [...first];
}
