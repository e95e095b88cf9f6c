import { DualFocusError } from "../errors.ts";
import type { Size } from "../image/image.ts";
import { uprightSize } from "../image/orient.ts";
import { FormatError } from "../io/formatError.ts";
import type { Frame } from "./focus.ts";
import type { Listing } from "./listing.ts";
import { imageJStack, omeStack, type ZStack } from "./omeTiff.ts";
import type { ImageInfo, StackFiles } from "./stackFiles.ts";
import { baseName, type FocusSource } from "./stackFormat.ts";
import { whiteLevel, type ProbedFrame } from "./whiteLevel.ts";

/** The images of a stack, all alike, in the order of the listing. */
export interface FrameSet {
  readonly frames: readonly Frame[];
  readonly positionSource: FocusSource;
  /** Upright. */
  readonly size: Size;
  readonly channels: 1 | 3;
  readonly bits: 8 | 16;
  readonly orientation: number;
  readonly pixelSize?: number;
  readonly notes: readonly string[];
  /** For TIFFs: what values are divided by after integers were scaled to [0, 1]. Undefined for other files. */
  tiffWhite(file: string): number | undefined;
}

/** Smaller images show no depth. */
export const MIN_SIDE = 16;

/** Reads every header, finds the pages that are planes, and refuses what is not one stack. */
export async function findFrames({ name, files }: Listing, store: StackFiles): Promise<FrameSet> {
  const infos = new Map<string, ImageInfo>();
  for (const file of files) infos.set(file, await store.probe(file));
  const found = [...infos].map(([file, info]) => ({ file, info, zStack: describedPages(file, info) }));
  const [first] = found;
  const zStack = first?.zStack;
  const { probed, notes } = first && found.length === 1 ? multiPage(first) : singlePages(found);
  if (probed.length < 2) throw new DualFocusError("single-image", `${name}: one image is not a focal stack`, { facts: { name } });
  const { size, orientation, note } = commonShape(probed);
  const { white, note: whiteNote } = await whiteLevel({ name, probed, significantBits: zStack?.significantBits }, store);
  return {
    frames: probed.map(({ frame }) => frame),
    positionSource: zStack?.source ?? "OME-TIFF",
    size,
    channels: probed.some(({ info }) => info.channels === 3) ? 3 : 1,
    bits: probed.some(({ info }) => info.depth !== "8") ? 16 : 8,
    orientation,
    notes: [...notes, ...fileNotes(found), note, whiteNote].filter((each) => each !== undefined),
    ...(zStack?.pixelSize === undefined ? {} : { pixelSize: zStack.pixelSize }),
    tiffWhite: (file) => {
      const info = infos.get(file);
      return info?.tiff && (info.depth === "8" ? 1 : white);
    },
  };
}

/** The planes of one file, whatever else belongs to the stack: the pages of a TIFF that are planes, or the image itself. */
export const planesOf = (file: string, info: ImageInfo): Frame[] =>
  multiPage({ file, info, zStack: describedPages(file, info) }).probed.map(({ frame }) => frame);

interface FoundFile {
  readonly file: string;
  readonly info: ImageInfo;
  /** What a microscope's file says about its pages. */
  readonly zStack: (ZStack & { readonly source: FocusSource }) | undefined;
}

/** The same remark about many files is made once, with the first one's name. */
function fileNotes(found: readonly FoundFile[]): string[] {
  const [first, ...others] = found.flatMap(({ info }) => info.note ?? []);
  if (first === undefined) return [];
  return others.length === 0 ? [first] : [`${first} (and ${others.length} more)`];
}

interface ProbedFrames {
  readonly probed: readonly ProbedFrame[];
  readonly notes: readonly string[];
}

function describedPages(file: string, { tiff }: ImageInfo): FoundFile["zStack"] {
  if (!tiff) return undefined;
  const where = { file, pages: tiff.pages.length };
  const ome = omeStack(tiff.description, where);
  if (ome) return { ...ome, source: "OME-TIFF" };
  const imageJ = imageJStack(tiff.description, where);
  return imageJ && { ...imageJ, source: "ImageJ" };
}

/** One image per file. A file of an OME set may hold one plane that knows its position. */
function singlePages(found: readonly FoundFile[]): ProbedFrames {
  const probed = found.map(({ file, info, zStack }) => {
    const [plane, second] = zStack?.planes ?? [];
    return { frame: { file, page: 0, ...(second ? {} : plane) }, info };
  });
  const notes = found.flatMap(({ file, info }) => {
    const pages = info.tiff?.pages ?? [];
    const alike = pages.filter(({ isReduced, width }) => !isReduced && width === pages[0]?.width);
    return alike.length > 1 ? [`${file}: has ${alike.length} pages; only the first is used`] : [];
  });
  return { probed, notes };
}

function multiPage({ file, info, zStack }: FoundFile): ProbedFrames {
  const pages = info.tiff?.pages ?? [];
  const [first] = pages;
  const whole = pages.filter(({ isReduced, width, height }) => !isReduced && width === first?.width && height === first.height);
  const chosen = zStack?.planes ?? whole.map(({ page }) => ({ page }));
  const notes = [...(zStack?.notes ?? [])];
  if (!zStack && whole.length > 1 && whole.length < pages.length)
    notes.push(`${file}: ${pages.length - whole.length} pages of other sizes (thumbnails) are left out`);
  const probed = chosen.map((plane) => {
    const page = pages[plane.page];
    if (!page) throw new FormatError(`${file}: its description names page ${plane.page + 1} of ${pages.length}`);
    return { frame: { file, ...plane }, info: { ...info, ...page } };
  });
  return { probed: probed.length > 0 ? probed : [{ frame: { file, page: 0 }, info }], notes };
}

/** Orientations may differ where the sizes do not: the camera's gravity sensor wavered, so the most common one holds for all. */
function commonShape(probed: readonly ProbedFrame[]): { size: Size; orientation: number; note?: string } {
  const [first] = probed as [ProbedFrame];
  const odd = probed.find(({ info }) => info.width !== first.info.width || info.height !== first.info.height);
  if (odd) throw sizesDiffer(first, odd);
  const counts = new Map<number, number>();
  for (const { info } of probed) counts.set(info.orientation, (counts.get(info.orientation) ?? 0) + 1);
  const [[orientation] = [1]] = [...counts].sort((a, b) => b[1] - a[1]);
  const size = uprightSize(first.info, orientation);
  if (Math.min(size.width, size.height) < MIN_SIDE) {
    const message = `${first.frame.file}: is only ${size.width}×${size.height} pixels; a side needs at least ${MIN_SIDE}`;
    throw new DualFocusError("image-too-small", message, { facts: { file: first.frame.file, ...size, least: MIN_SIDE } });
  }
  const turned = probed.find(({ info }) => info.orientation !== orientation);
  if (!turned) return { size, orientation };
  return {
    size,
    orientation,
    note: `${baseName(turned.frame.file)}: its orientation differs from that of the other images, which is used`,
  };
}

function sizesDiffer(a: ProbedFrame, b: ProbedFrame): DualFocusError {
  const describe = ({ frame, info }: ProbedFrame): string => `${baseName(frame.file)} is ${info.width}×${info.height}`;
  const message = `${describe(a)} but ${describe(b)}: the images of a stack must have one size and orientation`;
  return new DualFocusError("sizes-differ", message, { facts: { file: b.frame.file, other: a.frame.file } });
}
