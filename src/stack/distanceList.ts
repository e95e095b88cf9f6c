import { DualFocusError } from "../errors.ts";
import { FormatError } from "../io/formatError.ts";
import { decimal, parseQuantity, parseUnit, unify, type Quantity } from "./quantity.ts";
import type { Unit } from "./stackFormat.ts";

/** Numbers listed beside a stack: in the order of its images, or each with the name of its image. */
export interface DistanceList {
  readonly entries: readonly { readonly file?: string; readonly quantity: Quantity }[];
}

/** Files beside the images that are read as such a list. */
export const DISTANCE_FILE = /^(stack|(focus|focal)([_-]?(distances?|positions?))?|distances?|z([_-]?positions?)?)\.(csv|tsv|txt)$/i;

/** `0,5` or `650,5mm`. */
const DECIMAL_COMMA = /^[+-]?\d+,\d+\s*[^\d\s,;]*$/;

const POINT = "decimals are written with a point, such as 0.5; a comma and a space separate numbers";

/** `"10 mm, 11 mm"` → `"10mm, 11mm"`. */
const joinUnits = (text: string): string =>
  text.replaceAll(/(?<=[\d.∞])\s+([^\s\d,;+.-]+)(?![^\s,;])/g, (gap, word: string) => (parseUnit(word) ? word : gap));

/** `"0.5, 0.65 m, inf"`: a list typed by the user. The error names the word that is not a number. */
export function parseDistances(text: string): Quantity[] {
  const parts = text.trim().split(/[\s;]+/);
  const commaDecimal = parts.length > 1 ? parts.find((part) => DECIMAL_COMMA.test(part)) : undefined; // a comma alone separates numbers
  if (commaDecimal !== undefined) throw invalidDistance(commaDecimal, POINT);
  const words = joinUnits(text.trim()).split(/[\s,;]+/);
  if (COMMA_DECIMALS.test(text) && new Set(words).size < words.length) throw ambiguousCommas(text, "a number is in it twice");
  return words.map((word) => {
    const quantity = parseQuantity(word);
    if (quantity) return quantity;
    const hint = text.includes("+") && /\d,\d/.test(text) ? `; ${POINT}` : ""; // 150,5mm+0,1mm
    throw invalidDistance(word, `expected numbers such as 0.5 or 650mm, or a first one and a step such as 150mm+0.1mm${hint}`);
  });
}

/** `0,5,0,7` or `50,5mm,60,5mm`: two decimals or more, unless it is a list of whole numbers. */
const COMMA_DECIMALS = /^\s*[+-]?\d+,\d+[^\d\s,;]*(,[+-]?\d+,\d+[^\d\s,;]*)+\s*$/;

/** Thrown only where the text cannot be the distances of a stack if every comma separates two of them. */
function ambiguousCommas(text: string, problem: string): DualFocusError {
  const points = text.trim().replaceAll(/(\d+),(\d+)/g, "$1.$2");
  const message = `“${quoted(text.trim())}” is not a list of focus distances: ${problem}; if these are decimals, write them with a point: ${quoted(points)}`;
  return new DualFocusError("distances-invalid", message, { facts: { word: text.trim() } });
}

const invalidDistance = (word: string, expected: string): DualFocusError =>
  new DualFocusError("distances-invalid", `“${quoted(word)}” is not a focus distance; ${expected}`, { facts: { word } });

/** `"150mm+0.1mm"`: the distance of the first image, and how much is added from each image to the next, as on a focus rail. */
export interface DistanceSteps {
  readonly first: Quantity;
  /** In the unit of `first`. */
  readonly step: number;
}

/** Undefined if the text is not of this form. */
export function parseDistanceSteps(text: string): DistanceSteps | undefined {
  const [first, step, ...more] = text.split(/(?<!e)\+/i).map((part) => parseQuantity(part)); // 1e+3 is a number
  if (!first || !step || more.length > 0 || !Number.isFinite(first.value) || !Number.isFinite(step.value)) return undefined;
  if ((first.unit === undefined) !== (step.unit === undefined)) {
    const message = `“${quoted(text.trim())}”: the unit of the ${first.unit === undefined ? "first distance" : "step"} is missing; give both, such as 150mm+0.1mm`;
    throw new DualFocusError("distances-invalid", message, { facts: { word: text.trim() } });
  }
  if (first.unit === step.unit) return { first, step: step.value };
  if ([first.unit, step.unit].some((each) => each === "dpt" || each === "disparity" || each === "index")) return undefined;
  const { values, unit: common } = unify([first, step], "m") as { values: [number, number]; unit: Unit };
  return { first: { value: values[0], unit: common }, step: values[1] };
}

/** What was typed for this number of images: a list, or the first distance and the step. The length of a list is not checked. */
export function typedDistances(text: string, images: number): Quantity[] {
  const steps = parseDistanceSteps(text);
  if (steps) return steppedDistances(steps, images);
  const list = parseDistances(text);
  if (list.length === 2 * images && COMMA_DECIMALS.test(text)) throw ambiguousCommas(text, `there are ${list.length} for ${images} images`);
  return list;
}

/** How many distances were typed; undefined for a first one and a step, which are enough for any number of images. */
export const countTyped = (text: string): number | undefined => (parseDistanceSteps(text) ? undefined : parseDistances(text).length);

/** The distances of this number of images. */
export const steppedDistances = ({ first, step }: DistanceSteps, images: number): Quantity[] =>
  Array.from({ length: images }, (_, n) => ({ ...first, value: decimal(first.value + n * step) }));

/**
 * One number per line, or a table with a column of names and one of numbers. A heading may name the columns and the unit
 * (`file,distance_mm`); lines that start with # and empty ones are skipped.
 */
export function parseDistanceFile(text: string, file = "distance list"): DistanceList {
  const rows = text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .map((line, index) => ({ number: index + 1, cells: splitLine(line) }))
    .filter(({ cells }) => cells.length > 0);
  const decimal = decimalComma(rows);
  if (decimal) throw new FormatError(`${file}: line ${decimal.number}: “${quoted(decimal.text)}” is not a focus distance; ${POINT}`);
  const heading = rows[0]?.cells.some((cell) => parseQuantity(cell)) === false ? rows.shift()?.cells : undefined;
  if (rows.length === 0) throw new FormatError(`${file}: no focus distances in it; expected one number per line`);
  const columns = chooseColumns(heading, rows[0]?.cells ?? []);
  const entries = rows.map(({ number, cells }) => {
    const cell = cells[columns.distance] ?? "";
    const quantity = parseQuantity(cell);
    if (!quantity) throw new FormatError(`${file}: line ${number}: “${quoted(cell)}” is not a focus distance`);
    const name = columns.name === undefined ? undefined : cells[columns.name];
    const scaled = quantity.unit || !columns.unit ? quantity : { value: quantity.value * columns.unit.factor, unit: columns.unit.unit };
    return { quantity: scaled, ...(name ? { file: name } : {}) };
  });
  return { entries };
}

interface Row {
  /** From 1. */
  readonly number: number;
  readonly cells: readonly string[];
}

/** A number with a decimal comma. Lines of two whole numbers may be a counter and a distance (`1,5`), unless the counter repeats itself. */
function decimalComma(rows: readonly Row[]): { number: number; text: string } | undefined {
  for (const { number, cells } of rows) {
    const text = cells.find((cell) => DECIMAL_COMMA.test(cell));
    if (text !== undefined) return { number, text };
  }
  const arePairs = rows.every(
    ({ cells: [whole = "", fraction = "", more] }) => more === undefined && /^[+-]?\d+$/.test(whole) && /^\d/.test(fraction),
  );
  const counters = new Set<string | undefined>();
  const repeated = rows.find(({ cells: [counter] }) => counters.size === counters.add(counter).size);
  return arePairs && repeated ? { number: repeated.number, text: repeated.cells.join(",") } : undefined;
}

function splitLine(line: string): string[] {
  const bare = line.replace(/^\s*#.*$/, "").trim();
  if (bare === "") return [];
  if (parseQuantity(bare)) return [bare];
  const isComma = !/^\S+\.\w+\s+[+-]?\d+,\d+\s*[A-Za-zµμ]*$/.test(bare); // not so in “a.jpg 0,5”
  const separator = ["\t", ";", ...(isComma ? [","] : [])].find((mark) => bare.includes(mark)) ?? /\s+(?![A-Za-zµμ]+$)/; // a unit stays with its number
  const cells = bare.split(separator);
  return cells.map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
}

/** Columns by their heading; without one, the last number is the distance and the first cell that is not a number is the name. */
function chooseColumns(
  heading: readonly string[] | undefined,
  first: readonly string[],
): { distance: number; name?: number; unit?: { unit: Unit; factor: number } } {
  const numeric = first.map((cell) => parseQuantity(cell) !== undefined);
  const words = (heading ?? []).map((title) => title.split(/[\s_[\]()/-]+/));
  const named = words.findIndex((title) => title.some((word) => /^(z|focus|depth|dpt|dist.*|diopt.*)$/i.test(word)));
  const distance = named >= 0 ? named : numeric.lastIndexOf(true);
  const name = numeric.indexOf(false);
  const unit = words[distance]
    ?.filter((word) => !/^(index|d|in)$/i.test(word))
    .map((word) => parseUnit(word))
    .find((found) => found !== undefined);
  return { distance: Math.max(distance, 0), ...(name >= 0 ? { name } : {}), ...(unit ? { unit } : {}) };
}

/** As much of a word as a message needs. */
const quoted = (word: string): string => (word.length > 40 ? `${word.slice(0, 40)}…` : word);
