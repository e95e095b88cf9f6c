import { parseQuantity } from "../../../src/stack/quantity.ts";
import type { FocusSource, Unit } from "../../../src/stack/stackFormat.ts";
import type { FocusChoice, OpenedStack } from "../worker/protocol.ts";

/** The text of the distance fields, by the image's index in the order of the file names. */
export interface Draft {
  readonly unit: Unit;
  readonly texts: Readonly<Record<number, string>>;
}

/** Names of the units; disparity is offered only if a file uses it. */
export const UNIT_NAMES: Readonly<Record<Unit, string>> = {
  m: "metres",
  mm: "millimetres",
  um: "micrometres",
  dpt: "dioptres",
  disparity: "disparity",
  index: "plane index",
};

export const UNIT_SYMBOLS: Readonly<Record<Unit, string>> = { m: "m", mm: "mm", um: "µm", dpt: "dpt", disparity: "", index: "" };

export function draftOf({ unit, planes }: OpenedStack): Draft {
  return { unit, texts: unit === "index" ? {} : Object.fromEntries(planes.map(({ frame, value }) => [frame, numberText(value)])) };
}

/** As few digits as give the number back, six at most. */
export const numberText = (value: number): string => String(Number(value.toPrecision(6)));

/** The content of the fields: a choice, a field that cannot be read, or a field that is still empty. */
export function readDraft(
  { unit, texts }: Draft,
  frames: number,
): { readonly choice: FocusChoice } | { readonly wrong: number; readonly text: string } | { readonly unfinished: number } {
  if (unit === "index") return { choice: { unit } };
  const values: number[] = [];
  for (let frame = 0; frame < frames; frame++) {
    const text = (texts[frame] ?? "").trim();
    if (text === "") return { unfinished: frame };
    const value = inUnit(text, unit);
    if (value === undefined) return { wrong: frame, text };
    values.push(value);
  }
  return { choice: { unit, values } };
}

/** Reads "0,5", "650 mm" and "inf"; a number without a unit is in the unit of the list. */
function inUnit(text: string, unit: Unit): number | undefined {
  const quantity = parseQuantity(text.replace(/\s+/g, "").replace(/^(-?\d*),(\d+)/, "$1.$2"));
  if (!quantity || quantity.value === -Infinity) return undefined;
  if (quantity.value === Infinity) return unit === "dpt" ? 0 : Infinity;
  if (quantity.unit === undefined || quantity.unit === unit) return quantity.value;
  const metres = toMetres(quantity.value, quantity.unit);
  return metres === undefined ? undefined : fromMetres(metres, unit);
}

const PER_METRE: Readonly<Partial<Record<Unit, number>>> = { m: 1, mm: 1e3, um: 1e6 };

function toMetres(value: number, unit: Unit): number | undefined {
  if (unit === "dpt") return 1 / value;
  const factor = PER_METRE[unit];
  return factor === undefined ? undefined : value / factor;
}

function fromMetres(metres: number, unit: Unit): number | undefined {
  if (unit === "dpt") return 1 / metres;
  const factor = PER_METRE[unit];
  return factor === undefined ? undefined : Number((metres * factor).toPrecision(12));
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
