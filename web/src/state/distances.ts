import { parseQuantity } from "../../../src/stack/quantity.ts";
import type { FocusSource, Unit } from "../../../src/stack/stackFormat.ts";
import type { FocusChoice, OpenedStack } from "../worker/protocol.ts";

/** Distances as they stand in the fields, by the picture's number in the order of the names. */
export interface Draft {
  readonly unit: Unit;
  readonly texts: Readonly<Record<number, string>>;
}

/** Units to choose from; what a file says in disparities stays so. */
export const UNIT_NAMES: Readonly<Record<Unit, string>> = {
  m: "metres",
  mm: "millimetres",
  um: "micrometres",
  dpt: "dioptres",
  disparity: "disparity",
  index: "plane numbers",
};

export const UNIT_SYMBOLS: Readonly<Record<Unit, string>> = { m: "m", mm: "mm", um: "µm", dpt: "dpt", disparity: "", index: "" };

export function draftOf({ unit, planes }: OpenedStack): Draft {
  return { unit, texts: unit === "index" ? {} : Object.fromEntries(planes.map(({ frame, value }) => [frame, numberText(value)])) };
}

/** As few digits as give the number back, six at most. */
export const numberText = (value: number): string => String(Number(value.toPrecision(6)));

/** What the fields ask for: a choice, or which picture's field cannot be read. Empty fields are not finished: neither. */
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

/** "0,5", "650 mm" and "inf" are read as people mean them; the unit of the list holds where none is written. */
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

/** Where a distance came from, for people. */
export const SOURCE_WORDS: Readonly<Record<FocusSource, string>> = {
  argument: "entered by you",
  "stack.json": "from stack.json",
  "distance list": "from the distance list",
  "OME-TIFF": "from the OME-TIFF",
  ImageJ: "from ImageJ’s notes",
  "file name": "from the file name",
  EXIF: "from the photo’s EXIF",
  MakerNote: "from the camera’s notes",
  XMP: "from the photo’s XMP",
  "file order": "by file order",
};
