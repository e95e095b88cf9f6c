import { z } from "zod";
import type { Space } from "../image/depthMap.ts";
import { describeIssues, DualFocusError } from "../errors.ts";
import { FormatError } from "../io/formatError.ts";
import { isImageName } from "./imageName.ts";
import { isLength, numberText, PER_METRE } from "./quantity.ts";

export const UNITS = ["m", "cm", "mm", "um", "dpt", "disparity", "index"] as const;
export type Unit = (typeof UNITS)[number];

/** Where a focus distance came from; the earlier ones win. `ImageJ` is that program's description in a TIFF. */
export type FocusSource =
  "argument" | "stack.json" | "distance list" | "OME-TIFF" | "ImageJ" | "file name" | "EXIF" | "MakerNote" | "XMP" | "file order";

/** The words that name a source after "focus distance"; the caller knows what it gave. */
export const fromSource = (source: FocusSource): string => (source === "argument" ? "" : ` (from ${source})`);

/** One plane: its image, the number given for it, and where that number came from. */
export interface StackPlane {
  readonly file: string;
  readonly value: number;
  readonly source: FocusSource;
}

/** Planes from near to far. */
export interface OrderedPlanes<P extends StackPlane> {
  readonly planes: readonly P[];
  /** Of the planes' `value`. */
  readonly unit: Unit;
  readonly focusDistances: readonly number[];
  readonly space: Space;
}

/** A thin lens in front of a sensor. Lengths in metres. */
const camera = z
  .object({ focalLength: z.number().positive(), fNumber: z.number().positive(), pixelPitch: z.number().positive() })
  .readonly();

export type Camera = z.infer<typeof camera>;

const stackJson = z.object({
  unit: z.enum(UNITS),
  focus: z.array(z.number()).min(1),
  files: z.array(z.string()).optional(),
  camera: camera.optional(),
});

export type StackJson = z.infer<typeof stackJson>;

const NOT_A_PLANE = /^(depth(16)?|disparity|aif|confidence|error|beyond|filled|color|index|normals?)([._-].*)?$/i;

/** The last part of a path of any system: Node's `basename`, for code that runs in a browser too. */
export const baseName = (path: string): string => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);

/** Names in the order people expect: plane_2 before plane_10. */
export function naturalOrder(names: readonly string[]): string[] {
  const { compare } = new Intl.Collator("en", { numeric: true });
  return [...names].sort((a, b) => compare(a, b) || (a < b ? -1 : 1));
}

/** The least number that is a focus distance. */
export const LEAST_DISTANCE: Readonly<Record<Unit, number>> = {
  m: Number.MIN_VALUE,
  cm: Number.MIN_VALUE,
  mm: Number.MIN_VALUE,
  um: Number.MIN_VALUE,
  dpt: 0,
  disparity: -Infinity,
  index: -Infinity,
};

export interface OrderOptions {
  /** The lengths are positions whose zero is arbitrary: they may be negative, and count from the first plane. */
  readonly arbitraryZero?: boolean;
}

/** Near to far, in metres where the unit allows it. A plane at infinity (0 dpt) keeps the whole stack in dioptres. */
export function orderPlanes<P extends StackPlane>(
  planes: readonly P[],
  unit: Unit,
  { arbitraryZero = false }: OrderOptions = {},
): OrderedPlanes<P> {
  const least = arbitraryZero ? -Infinity : LEAST_DISTANCE[unit];
  const bad = planes.find(({ value }) => !Number.isFinite(value) || value < least);
  if (bad) {
    const { file, value, source } = bad;
    const message = `${file}: ${numberText(value)} ${unit} is not a focus distance${fromSource(source)}`;
    throw new DualFocusError("distances-invalid", message, { facts: { file, value, unit, source } });
  }
  const inDioptres = unit === "dpt" && planes.some(({ value }) => value === 0);
  const metric = arbitraryZero ? "position" : "depth";
  const space: Space = unit === "index" ? "index" : unit === "disparity" || inDioptres ? "disparity" : metric;
  const inMetres = (value: number): number => (isLength(unit) ? value / PER_METRE[unit] : 1 / value);
  const distance = (value: number): number => (space === metric ? inMetres(value) : value);
  const sign = space === "disparity" ? -1 : 1;
  const ordered = [...planes].sort((a, b) => sign * (distance(a.value) - distance(b.value)));
  const twin = ordered.find(({ value }, n) => value === ordered[n - 1]?.value);
  if (twin) {
    const files = ordered.filter(({ value }) => value === twin.value).map(({ file }) => baseName(file));
    const { value, source } = twin;
    const message = `${files.join(" and ")} have the same focus distance, ${numberText(value)} ${unit}${fromSource(source)}`;
    throw new DualFocusError("distances-invalid", message, { facts: { files, value, unit, source } });
  }
  const zero = arbitraryZero ? (ordered[0]?.value ?? 0) : 0;
  return { planes: ordered, unit, focusDistances: ordered.map(({ value }) => distance(value - zero)), space };
}

/** The planes among files: `plane_*` if there are any; else every image that is not named like a result. */
export const planeFiles = (names: readonly string[]): readonly string[] => sortImages(names).planes;

interface SortedImages {
  readonly planes: readonly string[];
  /** Those that are named like a result. */
  readonly results: readonly string[];
  /** Those beside `plane_*`. */
  readonly others: readonly string[];
}

export function sortImages(names: readonly string[]): SortedImages {
  const images = naturalOrder(names.filter((name) => isImageName(name) && !name.startsWith(".")));
  const results = images.filter((name) => NOT_A_PLANE.test(name));
  const photos = images.filter((name) => !NOT_A_PLANE.test(name));
  const numbered = photos.filter((name) => /^plane[_-]?\d/i.test(name));
  if (numbered.length === 0) return { planes: photos, results, others: [] };
  return { planes: numbered, results, others: photos.filter((name) => !numbered.includes(name)) };
}

/** The content of a stack.json; `file` names it in the error. */
export function parseStackJson(text: string, file: string): StackJson {
  try {
    return stackJson.parse(JSON.parse(text));
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? describeIssues(z.prettifyError(cause)) : String(cause);
    throw new FormatError(`${file}: ${reason}; expected { "unit": "${UNITS.join('"|"')}", "focus": [one number per plane] }`, { cause });
  }
}
