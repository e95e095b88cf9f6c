import { baseName, type FocusSource } from "./stackFormat.ts";
import { FormatError } from "../io/formatError.ts";
import { imageJStack, omeStack, type ZStack } from "./omeTiff.ts";
import { uprightSize } from "../image/orient.ts";
import { StackError } from "./stackError.ts";
import type { Frame } from "./focus.ts";
import type { Listing } from "./listing.ts";
import type { Size } from "../image/image.ts";
import type { PictureInfo, StackFiles } from "./stackFiles.ts";
import type { TiffInfo } from "../io/tiff.ts";
import { whiteLevel } from "./whiteLevel.ts";

/** The pictures of a stack, all alike, in the order of the listing. */
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
  /** For TIFFs: what values are divided by after the usual scaling of integers to [0, 1]. Undefined for other files. */
  tiffWhite(file: string): number | undefined;
}

/** Less is no picture to find depth in. */
const MIN_SIDE = 16;

interface Probed {
  readonly frame: Frame;
  readonly info: PictureInfo;
}

/** Reads every header, finds the pages that are planes, and refuses what is not one stack. */
export async function findFrames({ name, files }: Listing, store: StackFiles): Promise<FrameSet> {
  const infos = new Map<string, PictureInfo>();
  for (const file of files) infos.set(file, await store.probePicture(file));
  const described = files.map((file) => describedPages(file, infos.get(file)?.tiff));
  const pagesOf = files.length === 1 ? multiPage(files[0] as string, infos) : undefined;
  const probed =
    pagesOf?.probed ?? files.map((file, n) => ({ frame: singleFrame(file, described[n]), info: infos.get(file) as PictureInfo }));
  const notes = [...(pagesOf?.notes ?? extraPages(files, infos))];
  if (probed.length < 2)
    throw new StackError(`${name}: one picture is no focal stack`, {
      code: "input",
      remedy: "at least two pictures of the same scene are needed, better five or more, with the focus moved between them",
    });
  const { orientation, note } = commonOrientation(probed);
  if (note !== undefined) notes.push(note);
  const size = commonSize(probed, orientation);
  const all = probed.map(({ info }) => info);
  const zStack = described[0];
  const { white, note: whiteNote } = await whiteLevel({ name, probed, significantBits: zStack?.significantBits }, store);
  if (whiteNote !== undefined) notes.push(whiteNote);
  return {
    frames: probed.map(({ frame }) => frame),
    positionSource: zStack?.source ?? "OME-TIFF",
    size,
    channels: all.some(({ channels }) => channels === 3) ? 3 : 1,
    bits: all.some(({ depth }) => depth !== "8") ? 16 : 8,
    ...{ orientation, notes },
    ...(zStack?.pixelSize === undefined ? {} : { pixelSize: zStack.pixelSize }),
    tiffWhite: (file) => {
      const info = infos.get(file);
      return info?.tiff && (info.depth === "8" ? 1 : white);
    },
  };
}

type Described = ZStack & { readonly source: FocusSource };

function describedPages(file: string, tiff: TiffInfo | undefined): Described | undefined {
  if (!tiff) return undefined;
  const where = { file, pages: tiff.pages.length };
  const ome = omeStack(tiff.description, where);
  if (ome) return { ...ome, source: "OME-TIFF" };
  const imageJ = imageJStack(tiff.description, where);
  return imageJ && { ...imageJ, source: "ImageJ" };
}

/** A picture of its own. A file of an OME set may hold one plane that knows its position. */
function singleFrame(file: string, described: Described | undefined): Frame {
  const [plane, second] = described?.planes ?? [];
  const position = plane && !second ? plane.position : undefined;
  return { file, page: plane && !second ? plane.page : 0, ...(position === undefined ? {} : { position }) };
}

function multiPage(file: string, infos: ReadonlyMap<string, PictureInfo>): { probed: Probed[]; notes: string[] } {
  const info = infos.get(file) as PictureInfo;
  const pages = info.tiff?.pages ?? [];
  const [first] = pages;
  const described = describedPages(file, info.tiff);
  const whole = pages.filter(({ isReduced, width, height }) => !isReduced && width === first?.width && height === first.height);
  const chosen = described?.planes ?? whole.map(({ page }) => ({ page }));
  const notes = [...(described?.notes ?? [])];
  if (!described && whole.length > 1 && whole.length < pages.length)
    notes.push(`${file}: ${pages.length - whole.length} pages of other sizes (thumbnails) are left out`);
  const probed = chosen.map((plane) => {
    const page = pages[plane.page];
    if (!page) throw new FormatError(`${file}: its description names page ${plane.page + 1} of ${pages.length}`);
    return { frame: { file, ...plane }, info: { ...info, ...page } };
  });
  return { probed: probed.length > 0 ? probed : [{ frame: { file, page: 0 }, info }], notes };
}

function extraPages(files: readonly string[], infos: ReadonlyMap<string, PictureInfo>): string[] {
  return files.flatMap((file) => {
    const pages = infos.get(file)?.tiff?.pages ?? [];
    const alike = pages.filter(({ isReduced, width }) => !isReduced && width === pages[0]?.width);
    return alike.length > 1 ? [`${file}: has ${alike.length} pages; only the first is used`] : [];
  });
}

/** Stored sizes alike but orientations not: one camera whose sensor of gravity wavered, so the commonest orientation holds for all. */
function commonOrientation(probed: readonly Probed[]): { orientation: number; note?: string } {
  const counts = new Map<number, number>();
  for (const { info } of probed) counts.set(info.orientation, (counts.get(info.orientation) ?? 0) + 1);
  const [[orientation] = [1]] = [...counts].sort((a, b) => b[1] - a[1]);
  if (counts.size < 2) return { orientation };
  const [first] = probed as [Probed];
  const odd = probed.find(({ info }) => info.width !== first.info.width || info.height !== first.info.height);
  if (odd) throw mixedSizes(first, odd);
  const other = probed.find(({ info }) => info.orientation !== orientation) as Probed;
  return { orientation, note: `${baseName(other.frame.file)}: its orientation differs from the other pictures'; theirs is used` };
}

function commonSize(probed: readonly Probed[], orientation: number): Size {
  const [first] = probed as [Probed];
  const odd = probed.find(({ info }) => info.width !== first.info.width || info.height !== first.info.height);
  if (odd) throw mixedSizes(first, odd);
  const size = uprightSize(first.info, orientation);
  if (Math.min(size.width, size.height) < MIN_SIDE)
    throw new StackError(`${first.frame.file}: is only ${size.width}×${size.height} pixels`, {
      code: "input",
      remedy: `pictures need at least ${MIN_SIDE} pixels a side`,
    });
  return size;
}

function mixedSizes(a: Probed, b: Probed): StackError {
  const describe = ({ frame, info }: Probed): string => `${baseName(frame.file)} is ${info.width}×${info.height}`;
  return new StackError(`${describe(a)} but ${describe(b)}: the pictures of a stack must have one size and orientation`, {
    code: "input",
    remedy: "remove the picture that does not belong, or export all in one size",
  });
}
