import { FormatError } from "../io/formatError.ts";
import { metresPer } from "./quantity.ts";

/** One plane of a multi-page TIFF: its page, and the z position of the microscope [m], if stated. */
interface ZPlane {
  readonly page: number;
  readonly position?: number;
}

/** The z planes that the description of a multi-page TIFF states. */
export interface ZStack {
  readonly planes: readonly ZPlane[];
  /** Width of a pixel in the object [m]. */
  readonly pixelSize?: number;
  /** Bits of the stored integers in use: a 12-bit camera writes 12 in 16. */
  readonly significantBits?: number;
  readonly notes: readonly string[];
}

type Attributes = Readonly<Record<string, string>>;

const MAX_PLANES = 10_000;
/** Times a page is assigned to a plane, over all blocks that list pages. */
const MAX_PLACED = 10 * MAX_PLANES;

/** Reads OME-XML: which pages are the z planes, and PositionZ or else PhysicalSizeZ. Undefined if the text is not OME-XML. */
export function omeStack(xml: string, { file, pages }: { file: string; pages: number }): ZStack | undefined {
  if (!/<(\w+:)?OME[\s>]/.test(xml)) return undefined;
  const body = xml.slice(0, xml.search(/<\/(\w+:)?Pixels>|$/)); // the first image; later ones are labels and overviews
  const [pixels] = elements(body, "Pixels");
  if (!pixels) throw new FormatError(`${file}: its OME-XML describes no pixels`);
  const size = (name: string): number => wholeNumber(pixels[name], { file, name });
  const sizes = { Z: size("SizeZ"), C: size("SizeC"), T: size("SizeT") };
  const axis = sizes.Z === 1 && sizes.T > 1 ? "T" : "Z"; // some programs store focus as time
  const notes = [
    ...(axis === "T" ? [`${file}: has one z plane and ${sizes.T} time points, which are taken as focus planes`] : []),
    ...(axis === "Z" && sizes.T > 1 ? [`${file}: the first of ${sizes.T} time points is used`] : []),
  ];
  const order = /^XY[ZCT]{3}$/.test(pixels["DimensionOrder"] ?? "") ? (pixels["DimensionOrder"] as string).slice(2) : "ZCT";
  const pageOf = pageTable(elements(body, "TiffData", "UUID"), { file, pages, order, sizes });
  const positions = planePositions(elements(body, "Plane"), axis);
  const spacing = lengthOf(pixels["PhysicalSizeZ"], pixels["PhysicalSizeZUnit"]);
  const planes: ZPlane[] = [];
  for (let n = 0; n < sizes[axis]; n++) {
    const page = pageOf.get(key({ Z: 0, C: 0, T: 0, [axis]: n }));
    const position = positions.size > 0 ? positions.get(n) : spacing === undefined || axis === "T" ? undefined : n * spacing;
    if (page !== undefined) planes.push({ page, ...(position === undefined ? {} : { position }) });
  }
  const channels = new Set([...pageOf.keys()].map((name) => name.split(" ")[1])).size;
  if (channels > 1) notes.push(`${file}: the first of ${channels} channels is used`);
  return { planes, notes, ...lateral(pixels) };
}

/** ImageJ's description: `ImageJ=1.53 … slices=10 … spacing=0.5 … unit=micron`. */
export function imageJStack(description: string, { file, pages }: { file: string; pages: number }): ZStack | undefined {
  if (!description.startsWith("ImageJ=")) return undefined;
  const value = (name: string): string | undefined => new RegExp(`^${name}=(.*)$`, "m").exec(description)?.[1];
  const number = (name: string): number => Number(value(name) ?? 1);
  const [channels, slices, frames] = [number("channels"), number("slices"), number("frames")];
  const planes = slices > 1 ? slices : frames > 1 ? frames : pages;
  const metres = metresPer((value("unit") ?? "").replaceAll("\\u00B5", "µ"));
  const spacing = slices > 1 && value("spacing") !== undefined && metres ? Math.abs(number("spacing")) * metres : NaN;
  const count = Math.min(planes, Math.floor((pages - 1) / channels) + 1);
  const notes = channels > 1 ? [`${file}: the first of ${channels} channels is used`] : [];
  if (!(count >= 1 && channels >= 1 && Number.isInteger(channels))) return undefined;
  return {
    planes: Array.from({ length: count }, (_, n) => ({ page: n * channels, ...(spacing > 0 ? { position: n * spacing } : {}) })),
    notes,
  };
}

const key = ({ Z, C, T }: { Z: number; C: number; T: number }): string => `${Z} ${C} ${T}`;

interface Layout {
  readonly file: string;
  readonly pages: number;
  readonly order: string;
  readonly sizes: Readonly<Record<"Z" | "C" | "T", number>>;
}

/** Page of every (z, c, t). TiffData without IFD lists all pages in the order of the dimensions; with IFD it stands for PlaneCount pages. */
function pageTable(blocks: readonly Attributes[], { file, pages, order, sizes }: Layout): Map<string, number> {
  const table = new Map<string, number>();
  let placed = 0; // also over an earlier one
  const axes = Array.from(order) as ("Z" | "C" | "T")[];
  const fill = (from: { Z: number; C: number; T: number }, page: number, count: number): void => {
    const at = { ...from };
    for (let i = 0; i < count && page + i < pages && table.size < MAX_PLANES && placed < MAX_PLACED; i++, placed++) {
      table.set(key(at), page + i);
      const axis = axes.find((name) => ++at[name] < sizes[name] || ((at[name] = 0), false));
      if (!axis) break;
    }
  };
  const name = file.split(/[\\/]/).at(-1);
  const here = blocks.filter(({ FileName }) => FileName === undefined || FileName === name);
  if (here.length === 0 && blocks.length > 0)
    throw new FormatError(`${file}: its pages are spread over other files, such as ${blocks[0]?.["FileName"]}`);
  for (const block of here.length > 0 ? here : [{} as Attributes]) {
    const start = (attribute: string): number => Number(block[attribute] ?? 0);
    const from = { Z: start("FirstZ"), C: start("FirstC"), T: start("FirstT") };
    const count = block["PlaneCount"] === undefined ? (block["IFD"] === undefined ? pages : 1) : Number(block["PlaneCount"]);
    if (!(Number.isInteger(start("IFD")) && start("IFD") >= 0)) throw new FormatError(`${file}: its OME-XML names page “${block["IFD"]}”`);
    fill(from, start("IFD"), count);
  }
  return table;
}

/** Of the first channel. Positions in a "reference frame" have no unit and are ignored. */
function planePositions(planes: readonly Attributes[], axis: "Z" | "T"): Map<number, number> {
  const positions = new Map<number, number>();
  const other = axis === "Z" ? "TheT" : "TheZ";
  for (const plane of planes) {
    const position = lengthOf(plane["PositionZ"], plane["PositionZUnit"]);
    if (position !== undefined && Number(plane["TheC"] ?? 0) === 0 && Number(plane[other] ?? 0) === 0)
      positions.set(Number(plane[`The${axis}`]), position);
  }
  return positions;
}

function lateral(pixels: Attributes): Pick<ZStack, "pixelSize" | "significantBits"> {
  const pixelSize = lengthOf(pixels["PhysicalSizeX"], pixels["PhysicalSizeXUnit"]);
  const bits = Number(pixels["SignificantBits"]);
  return { ...(pixelSize ? { pixelSize } : {}), ...(bits >= 1 && bits <= 32 ? { significantBits: bits } : {}) };
}

/** OME lengths without a unit are micrometres. */
function lengthOf(text: string | undefined, unit = "µm"): number | undefined {
  const metres = metresPer(unit);
  const value = text === undefined || text.trim() === "" ? NaN : Number(text) * (metres ?? NaN);
  return Number.isFinite(value) ? value : undefined;
}

function wholeNumber(text: string | undefined, { file, name }: { file: string; name: string }): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > MAX_PLANES)
    throw new FormatError(`${file}: its OME-XML says ${name}="${text ?? ""}"`);
  return value;
}

/** Attributes of every element of a name, with those of a direct child `inner`. Enough XML for what OME writers produce. */
function elements(xml: string, name: string, inner?: string): Attributes[] {
  const opening = (tag: string): string => `<(?:\\w+:)?${tag}\\b([^<>]{0,4000})>`;
  const pattern = new RegExp(opening(name) + (inner === undefined ? "" : `(?:\\s*${opening(inner)})?`), "g");
  return [...xml.matchAll(pattern)].map(([, own = "", child = ""]) => Object.fromEntries([...attributes(own), ...attributes(child)]));
}

const attributes = (text: string): [string, string][] =>
  [...text.matchAll(/(?<![\w:])([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)].map(([, name = "", a, b]) => [name, a ?? b ?? ""]);
