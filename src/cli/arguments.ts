import { InvalidArgumentError } from "commander";

/** Parsers that commander calls for values on the command line. */
type Parse<T> = (text: string) => T;

export const parser =
  <T>(expected: string, parse: (text: string) => T | undefined): Parse<T> =>
  (text) => {
    const value = text.trim() === "" ? undefined : parse(text.trim());
    if (value === undefined) throw new InvalidArgumentError(`Expected ${expected}.`);
    return value;
  };

const numberParser = (expected: string, isGood: (value: number) => boolean): Parse<number> =>
  parser(expected, (text) => (isGood(Number(text)) ? Number(text) : undefined));

export const wholeNumber = (least: number, most = Infinity): Parse<number> =>
  numberParser(
    `a whole number, ${least} ${most < Infinity ? `to ${most}` : "or more"}`,
    (value) => Number.isInteger(value) && value >= least && value <= most,
  );

export const finiteNumber = numberParser("a number", Number.isFinite);
export const positiveNumber = numberParser("a number above 0", (value) => value > 0 && value < Infinity);
export const share = numberParser("a number from 0 to 1", (value) => value >= 0 && value <= 1);
export const portNumber = wholeNumber(0, 65535);

/** Values separated by commas. */
export const listOf =
  <T>(parse: Parse<T>): Parse<readonly T[]> =>
  (text) =>
    text.split(",").map(parse);

export const oneOf =
  <T extends string>(names: readonly T[]): Parse<T> =>
  (text) => {
    const known = names.find((name) => name === text.trim());
    if (known === undefined) throw new InvalidArgumentError(`"${text}" is not one of ${names.join(", ")}.`);
    return known;
  };

/** Of an option that may be given several times. */
export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

interface SizeRule {
  readonly multiple?: number;
  readonly least?: number;
  readonly most?: number;
}

/** Two sides, as 384x576; each a multiple of `multiple`, and neither below `least` nor above `most`. */
export const sidePair = ({ multiple = 1, least = 1, most = Infinity }: SizeRule): Parse<readonly [number, number]> =>
  parser(
    `two sides such as 384x576${multiple > 1 ? `, multiples of ${multiple}` : ""}${most < Infinity ? `, ${least} to ${most} pixels` : ""}`,
    (text) => {
      const sides = (/^(\d+)[x×](\d+)$/i.exec(text)?.slice(1) ?? []).map(Number);
      const isGood = sides.length === 2 && sides.every((side) => side % multiple === 0 && side >= least && side <= most);
      return isGood ? (sides as [number, number]) : undefined;
    },
  );
