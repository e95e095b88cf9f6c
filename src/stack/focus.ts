import { DualFocusError } from "../errors.ts";
import { baseName, fromSource, orderPlanes, type FocusSource, type StackPlane, type Unit } from "./stackFormat.ts";
import { parseDistanceFile, typedDistances, type DistanceList } from "./distanceList.ts";
import { FOCUS_TAGS, type PhotoFacts } from "../io/exif.ts";
import { distancesInNames } from "./fileNameDistance.ts";
import { isLength, numberText, PER_METRE, unify, type Quantity } from "./quantity.ts";
import type { Space } from "../image/depthMap.ts";
import type { Listing } from "./listing.ts";
import type { StackFiles } from "./stackFiles.ts";

/** One image of the stack: a file, or a page of one. */
export interface Frame {
  readonly file: string;
  readonly page: number;
  /** The z position of the microscope [m]; its zero is arbitrary. */
  readonly position?: number;
}

export interface FocusOptions {
  /** One number per image, in the order of their names, or such a list as text (`0.5,650mm,inf`), the first and the step (`150mm+0.1mm`), or the name of a text file. */
  readonly distances?: readonly number[] | string;
  /** Of numbers that come without one; metres by default. `index` without `distances` ignores all distances. */
  readonly unit?: Unit;
}

interface FocusPlane extends StackPlane, Frame {
  /** Index of its image, in the order in which `FocusOptions.distances` are given. */
  readonly frame: number;
}

/** The planes, near to far. */
export interface Focus {
  readonly planes: readonly FocusPlane[];
  readonly unit: Unit;
  readonly focusDistances: readonly number[];
  readonly space: Space;
  /** The z position of the first plane [m], where `space` is "position". */
  readonly zeroPosition?: number;
  readonly notes: readonly string[];
}

interface Found {
  readonly quantities: readonly Quantity[];
  readonly source: FocusSource;
}

interface Stack {
  readonly frames: readonly Frame[];
  readonly listing: Listing;
  readonly positionSource: FocusSource;
  readonly readText: StackFiles["readText"];
  /** Reads the metadata of the photographs; called only if nothing better is known. */
  readonly facts: () => Promise<readonly PhotoFacts[]>;
}

/**
 * Focus distances: the caller's > stack.json or a list beside the images > positions in the TIFF > numbers in the file names > EXIF,
 * maker note, XMP > none, and then the stack is in plane indices.
 */
export async function findFocus(stack: Stack, { distances, unit }: FocusOptions): Promise<Focus> {
  const { frames, listing } = stack;
  const notes: string[] = [];
  const found =
    (distances === undefined ? undefined : await givenDistances(distances, stack)) ??
    (unit === "index" ? fileOrder(frames) : undefined) ??
    jsonDistances(listing) ??
    (listing.distanceFile ? await listedDistances(listing.distanceFile, stack) : undefined) ??
    zPositions(stack) ??
    nameDistances(frames) ??
    photoDistances(await stack.facts(), { frames, notes }) ??
    missing(stack, unit);
  return inOrder(found, { frames, unit, name: listing.name, notes });
}

/** What `findFocus` makes of distances that were given, numbers or typed ones, for these images, before any of them is read. */
export const givenFocus = (distances: readonly number[] | string, images: Omit<Context, "notes">): Focus =>
  inOrder(typedOrNumbers(distances, images.frames.length), { ...images, notes: [] });

const fileOrder = (frames: readonly Frame[]): Found => ({
  quantities: frames.map((_, value) => ({ value, unit: "index" })),
  source: "file order",
});

function missing({ frames, listing }: Stack, unit: Unit | undefined): Found {
  if (unit === undefined) return fileOrder(frames);
  const message = `${listing.name}: no focus distances found, so there is no depth in ${unit}`;
  throw new DualFocusError("distances-missing", message, { facts: { name: listing.name, unit } });
}

async function givenDistances(distances: readonly number[] | string, stack: Stack): Promise<Found> {
  const isFile = typeof distances === "string" && /\.(csv|tsv|txt)$/i.test(distances);
  return isFile ? { ...(await listedDistances(distances, stack)), source: "argument" } : typedOrNumbers(distances, stack.frames.length);
}

const typedOrNumbers = (distances: readonly number[] | string, images: number): Found => ({
  quantities: typeof distances === "string" ? typedDistances(distances, images) : distances.map((value) => ({ value })),
  source: "argument",
});

function jsonDistances({ json }: Listing): Found | undefined {
  if (!json) return undefined;
  return { quantities: json.content.focus.map((value) => ({ value, unit: json.content.unit })), source: "stack.json" };
}

async function listedDistances(file: string, { frames, readText }: Stack): Promise<Found> {
  const list = parseDistanceFile(await readText(file), file);
  return { quantities: byName(list, frames, file) ?? list.entries.map(({ quantity }) => quantity), source: "distance list" };
}

/** If the list names images, each takes the number on its line. */
function byName({ entries }: DistanceList, frames: readonly Frame[], file: string): Quantity[] | undefined {
  const named = new Map(entries.flatMap((entry) => (entry.file === undefined ? [] : [[baseName(entry.file), entry.quantity]])));
  const stems = new Map([...named].map(([name, quantity]) => [name.replace(/\.[^.]+$/, ""), quantity]));
  const lookUp = (frame: Frame): Quantity | undefined => {
    const name = baseName(frame.file);
    return named.get(name) ?? stems.get(name.replace(/\.[^.]+$/, ""));
  };
  if (!frames.some(lookUp)) return undefined; // the other column was not names
  return frames.map((frame) => {
    const quantity = lookUp(frame);
    if (quantity) return quantity;
    const name = baseName(frame.file);
    throw new DualFocusError("image-not-listed", `${file}: has no line for ${name}`, { facts: { file, name } });
  });
}

function zPositions({ frames, positionSource }: Stack): Found | undefined {
  const positions = frames.map(({ position }) => position);
  const first = frames.find(({ position }) => position === undefined);
  if (first && frames.some(({ position }) => position !== undefined)) {
    const message = `${first.file}: page ${first.page + 1} has no z position, while others have one`;
    throw new DualFocusError("some-distances-missing", message, { facts: { file: first.file, page: first.page + 1 } });
  }
  if (first) return undefined;
  return {
    quantities: positions.map((position) => ({ value: (position as number) * 1e6, unit: "um" })),
    source: positionSource,
  };
}

function nameDistances(frames: readonly Frame[]): Found | undefined {
  const quantities = distancesInNames(frames.map(({ file }) => baseName(file)));
  return quantities && { quantities, source: "file name" };
}

/** Only if every image states it in the same place, and they are not all equal: then the camera did not record the bracketing. */
function photoDistances(facts: readonly PhotoFacts[], { frames, notes }: { frames: readonly Frame[]; notes: string[] }): Found | undefined {
  for (const source of FOCUS_TAGS) {
    const values = facts.map(({ focusDistance }) => focusDistance[source]);
    const known = values.filter((value) => value !== undefined);
    if (known.length === 0) continue;
    const silent = frames[values.indexOf(undefined)];
    if (silent) notes.push(`${baseName(silent.file)}: no focus distance in its ${source}, while others have one; ignored`);
    else if (new Set(known).size === 1)
      notes.push(`all images state the same focus distance in their ${source}, ${numberText(known[0] as number)} m; ignored`);
    else return { quantities: known.map((value) => ({ value, unit: "m" })), source };
  }
  return undefined;
}

interface Context {
  readonly frames: readonly Frame[];
  readonly unit: Unit | undefined;
  /** The stack's, for messages. */
  readonly name: string;
  readonly notes: string[];
}

function inOrder({ quantities, source }: Found, { frames, unit, name, notes }: Context): Focus {
  const count = quantities.length;
  if (count !== frames.length) {
    const message = `${name}: ${frames.length} images but ${count} focus distances${fromSource(source)}`;
    throw new DualFocusError("distance-count", message, { facts: { images: frames.length, distances: count, source } });
  }
  const unified = unify(quantities, unit ?? "m");
  if (!unified) {
    const message = `${name}: the focus distances${fromSource(source)} mix units that cannot be compared`;
    throw new DualFocusError("units-mixed", message, { facts: { name, source } });
  }
  if (unit === undefined && quantities.some((quantity) => quantity.unit === undefined) && source !== "argument")
    notes.push(`${name}: the focus distances${fromSource(source)} have no unit; taken as metres`);
  const arePositions = isLength(unified.unit) && frames.every(({ position }) => position !== undefined);
  const { values, unit: used } = arePositions ? unified : farIsInfinite(unified, { frames, notes });
  const planes = frames.map((frame, n) => ({ ...frame, frame: n, value: values[n] as number, source }));
  // Lengths given for the planes of a microscope replace its positions, so they are positions too.
  if (!arePositions || !isLength(used)) return { ...orderPlanes(planes, used), notes };
  const ordered = orderPlanes(planes, used, { arbitraryZero: true });
  return { ...ordered, zeroPosition: (ordered.planes[0]?.value ?? 0) / PER_METRE[used], notes };
}

/** In metres. No lens distinguishes more from infinity, and one such number must not dominate an average over planes. */
const BEYOND_FOCUS = 1000;

/** If a length exceeds a kilometre, all become dioptres, and that one 0. */
function farIsInfinite(
  { values, unit }: { values: readonly number[]; unit: Unit },
  { frames, notes }: Pick<Context, "frames" | "notes">,
): { values: readonly number[]; unit: Unit } {
  const perMetre = isLength(unit) ? PER_METRE[unit] : NaN;
  const far = values.findIndex((value) => value / perMetre > BEYOND_FOCUS);
  if (far < 0) return { values, unit };
  notes.push(
    `${baseName(frames[far]?.file ?? "")}: ${numberText(values[far] as number)} ${unit} counts as infinity; the stack is in dioptres`,
  );
  return { values: values.map((value) => (value / perMetre > BEYOND_FOCUS ? 0 : perMetre / value)), unit: "dpt" };
}
