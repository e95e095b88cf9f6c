import { decimal, isLength, parseQuantity, PER_METRE } from "../../../src/stack/quantity.ts";
import type { FocusSource, Unit } from "../../../src/stack/stackFormat.ts";
import type { FocusChoice, OpenedStack } from "../worker/protocol.ts";

/** What the user has entered about the images, which are named by their index in the order of the file names. */
export interface Draft {
  readonly unit: Unit;
  /** The text of the distance fields. */
  readonly texts: Readonly<Record<number, string>>;
  /** The images in use, near to far. */
  readonly order: readonly number[];
  readonly leftOut: readonly number[];
  /** Whether the user has chosen the order: then nothing else is tried. */
  readonly isArranged: boolean;
}

/** Names of the units; disparity is offered only if a file uses it. */
export const UNIT_NAMES: Readonly<Record<Unit, string>> = {
  m: "metres",
  cm: "centimetres",
  mm: "millimetres",
  um: "micrometres",
  dpt: "dioptres",
  disparity: "disparity",
  index: "plane index",
};

export const UNIT_SYMBOLS: Readonly<Record<Unit, string>> = { m: "m", cm: "cm", mm: "mm", um: "µm", dpt: "dpt", disparity: "", index: "" };

/** What the field gives back is used: microscope positions such as 12000.05 µm differ in their last digits. */
const fieldText = (value: number): string => String(decimal(value));

export function draftOf({ unit, planes, leftOut }: OpenedStack): Draft {
  const texts = unit === "index" ? {} : Object.fromEntries(planes.map(({ frame, value }) => [frame, fieldText(value)]));
  const isArranged = unit === "index" && planes.some(({ source }) => source === "argument");
  return { unit, texts, order: planes.map(({ frame }) => frame), leftOut: leftOut.map(({ frame }) => frame), isArranged };
}

/** The images in another order. Distances stay at their places: what moves are the images. */
export function reordered(draft: Draft, order: readonly number[]): Draft {
  const texts = { ...draft.texts };
  order.forEach((frame, place) => {
    const text = draft.texts[draft.order[place] as number];
    if (text !== undefined) texts[frame] = text;
  });
  return { ...draft, order, texts, isArranged: true };
}

export const turned = (draft: Draft): Draft => reordered(draft, [...draft.order].reverse());

/** One image at another place; those between move up. */
export function moved(draft: Draft, frame: number, to: number): Draft {
  const others = draft.order.filter((each) => each !== frame);
  return reordered(draft, [...others.slice(0, to), frame, ...others.slice(to)]);
}

export const withoutFrame = (draft: Draft, frame: number): Draft => ({
  ...draft,
  order: draft.order.filter((each) => each !== frame),
  leftOut: [...draft.leftOut, frame].sort((a, b) => a - b),
});

/** Back where its name puts it among its neighbours; its distance, if it has one, decides otherwise. */
export function withFrame(draft: Draft, frame: number): Draft {
  const falls = (draft.order[0] ?? 0) > (draft.order.at(-1) ?? 0);
  const after = draft.order.findIndex((each) => (falls ? each < frame : each > frame));
  const at = after < 0 ? draft.order.length : after;
  const order = [...draft.order.slice(0, at), frame, ...draft.order.slice(at)];
  return { ...draft, order, leftOut: draft.leftOut.filter((each) => each !== frame) };
}

/** In the order of the file names. */
export const inFileOrder = (draft: Draft): Draft => ({ ...draft, order: [...draft.order].sort((a, b) => a - b), isArranged: false });

/** The content of the fields: a choice, a field that cannot be read, or a field that is still empty. */
export function readDraft({
  unit,
  texts,
  order,
  leftOut,
  isArranged,
}: Draft): { readonly choice: FocusChoice } | { readonly wrong: number; readonly text: string } | { readonly unfinished: number } {
  if (unit === "index") return { choice: { unit, leftOut, ...(isArranged ? { order } : {}) } };
  const values: Record<number, number> = {};
  for (const frame of order) {
    const text = (texts[frame] ?? "").trim();
    if (text === "") return { unfinished: frame };
    const value = inUnit(text, unit);
    if (value === undefined) return { wrong: frame, text };
    values[frame] = value;
  }
  return { choice: { unit, values, leftOut } };
}

/** Reads "0,5", "650 mm" and "inf"; a number without a unit is in the unit of the list. */
export function inUnit(text: string, unit: Unit): number | undefined {
  const quantity = parseQuantity(text.trim().replace(/^(-?\d*),(\d+)/, "$1.$2"));
  if (!quantity || quantity.value === -Infinity) return undefined;
  if (quantity.value === Infinity) return unit === "dpt" ? 0 : Infinity;
  if (quantity.unit === undefined || quantity.unit === unit) return quantity.value;
  const metres = toMetres(quantity.value, quantity.unit);
  return metres === undefined ? undefined : fromMetres(metres, unit);
}

function toMetres(value: number, unit: Unit): number | undefined {
  if (unit === "dpt") return 1 / value;
  return isLength(unit) ? value / PER_METRE[unit] : undefined;
}

function fromMetres(metres: number, unit: Unit): number | undefined {
  if (unit === "dpt") return 1 / metres;
  return isLength(unit) ? decimal(metres * PER_METRE[unit]) : undefined;
}

/** The source of a distance, for display. */
export const SOURCE_WORDS: Readonly<Record<FocusSource, string>> = {
  argument: "entered by you",
  "stack.json": "from stack.json",
  "distance list": "from the distance list",
  "OME-TIFF": "from the OME-TIFF",
  ImageJ: "from ImageJ’s metadata",
  "file name": "from the file name",
  EXIF: "from the photo’s EXIF",
  MakerNote: "from the camera’s maker note",
  XMP: "from the photo’s XMP",
  "file order": "by file order",
};
