import { DualFocusError } from "../errors.ts";
import { FormatError } from "../io/formatError.ts";
import { RAW_NAME } from "../io/raw.ts";
import { DISTANCE_FILE } from "./distanceList.ts";
import { baseName, naturalOrder, planeFiles, sortImages, type StackJson } from "./stackFormat.ts";

/** What was given as a stack: its images in the order of their names (or as listed), and what lies beside them. */
export interface Listing {
  /** The folder or file, for messages. */
  readonly name: string;
  readonly files: readonly string[];
  readonly json?: { readonly file: string; readonly content: StackJson };
  /** A text file of focus distances. */
  readonly distanceFile?: string;
  readonly notes: readonly string[];
}

/** Which of several copies of one image to take: the one that lost least. */
const FORMAT_ORDER = [/\.tiff?$/, RAW_NAME, /\.(png|bmp)$/, /\.hei[cf]$|\.hif$/, /\.(webp|avif)$/, /\.jpe?g$/];

interface FolderContent {
  /** For messages. */
  readonly name: string;
  /** What lies in the folder. */
  readonly names: readonly string[];
  /** The path of a name in the folder. */
  readonly place: (name: string) => string;
}

/** A folder without a stack.json: which of its files are the planes, and which the list of their distances. */
export function folderListing({ name: folder, names, place }: FolderContent): Listing {
  const { planes, results, others } = sortImages(names);
  const unread = naturalOrder(names).find((name) => UNREAD_IMAGE.test(name));
  if (planes.length === 0 && unread !== undefined) throw unreadFormat(place(unread), endingOf(unread).slice(1));
  if (planes.length === 0) throw noImages(folder, results);
  const { kept, note } = withoutCopies(planes);
  const lists = naturalOrder(names.filter((name) => DISTANCE_FILE.test(name)));
  const [list] = lists;
  if (lists.length > 1) {
    const message = `${folder}: ${lists.join(" and ")} both look like lists of focus distances`;
    throw new DualFocusError("several-distance-lists", message, { facts: { folder, lists } });
  }
  return {
    name: folder,
    files: kept.map(place),
    notes: [
      ...(note ? [`${folder}: ${note}`] : []),
      ...(others.length > 0 ? [`${folder}: only the images called plane… are used; ${listed(others)} left out`] : []),
    ],
    ...(list ? { distanceFile: place(list) } : {}),
  };
}

/** The images a stack.json names, or those beside it. */
export function jsonListing({
  file,
  content,
  names,
  place,
}: Omit<FolderContent, "name"> & { readonly file: string; readonly content: StackJson }): Listing {
  const images = content.files ?? planeFiles(names);
  if (images.length === 0) throw noImages(file);
  return { name: file, files: images.map(place), json: { file, content }, notes: [] };
}

export const missingImage = (file: string, name: string, cause?: unknown): DualFocusError =>
  new DualFocusError("listed-image-missing", `${file} names ${name}, which does not exist`, { facts: { file, name }, cause });

/** Images by their names that are in no format of photos. */
const UNREAD_IMAGE = /^[^.].*\.(gif|svg|jxl|jp2|psd|xcf)$/i;

export const unreadFormat = (file: string, format: string): FormatError =>
  new FormatError(`${file}: ${format.toUpperCase()} files are not read; convert them to PNG or JPEG`, { facts: { file, unread: format } });

/** `results`: its images that are named like our results, and so are not photos. */
export const noImages = (folder: string, results: readonly string[] = []): DualFocusError => {
  const but = results.length === 0 ? "" : `, but ${listed(results)} named like results: rename those that are photos`;
  return new DualFocusError("no-images", `${folder}: no images in it${but}`, { facts: { folder, results: [...results] } });
};

const listed = ([first = "", ...others]: readonly string[]): string =>
  others.length === 0 ? `${first} is` : `${first} and ${others.length === 1 ? others[0] : `${others.length} others`} are`;

/** Cameras and programs leave the same images in two formats: if every name comes with the same endings, one ending is enough. */
function withoutCopies(names: readonly string[]): { kept: readonly string[]; note?: string } {
  const ending = (name: string): string => endingOf(name).toLowerCase();
  const endings = [...new Set(names.map(ending))];
  const stems = new Set(names.map((name) => name.slice(0, name.length - endingOf(name).length)));
  if (endings.length < 2 || names.length !== endings.length * stems.size) return { kept: names };
  const rank = (name: string): number => FORMAT_ORDER.findIndex((format) => format.test(name));
  const best = endings.reduce((a, b) => (rank(b) < rank(a) ? b : a));
  return {
    kept: names.filter((name) => ending(name) === best),
    note: `every image exists as ${endings.join(" and ")}; ${best} is used`,
  };
}

const endingOf = (name: string): string => /.(\.[^.]*)$/.exec(baseName(name))?.[1] ?? "";
