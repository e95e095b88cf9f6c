import { baseName, naturalOrder, planeFiles, type StackJson } from "./stackFormat.ts";
import { DISTANCE_FILE } from "./distanceList.ts";
import { StackError } from "./stackError.ts";

/** What was given as a stack: its pictures in the order of their names (or as listed), and what lies beside them. */
export interface Listing {
  /** For people: the folder or file. */
  readonly name: string;
  readonly files: readonly string[];
  readonly json?: { readonly file: string; readonly content: StackJson };
  /** A text file of focus distances. */
  readonly distanceFile?: string;
  readonly notes: readonly string[];
}

const RAW = /\.(dng|nef|nrw|cr[23w]|arw|raf|orf|rw2|pef|srw)$/i;
/** Which of several copies of one picture to take: the one that lost least. */
const FORMAT_ORDER = [".tif", ".tiff", ".png", ".webp", ".avif", ".jpg", ".jpeg", ".heic", ".heif"];

interface FolderContent {
  /** For people. */
  readonly name: string;
  /** What lies in the folder. */
  readonly names: readonly string[];
  /** Where a name of the folder is. */
  readonly place: (name: string) => string;
}

/** A folder without a stack.json: which of its files are the planes, and which the list of their distances. */
export function folderListing({ name: folder, names, place }: FolderContent): Listing {
  const { kept, note } = withoutCopies(planeFiles(names));
  if (kept.length === 0) throw noPictures(folder, names);
  const lists = naturalOrder(names.filter((name) => DISTANCE_FILE.test(name)));
  if (lists.length > 1)
    throw new StackError(`${folder}: ${lists.join(" and ")} both look like lists of focus distances`, {
      code: "input",
      remedy: "keep one of them",
    });
  const [list] = lists;
  return {
    name: folder,
    files: kept.map(place),
    notes: note ? [`${folder}: ${note}`] : [],
    ...(list ? { distanceFile: place(list) } : {}),
  };
}

/** The pictures a stack.json names, or those beside it. */
export function jsonListing({
  file,
  content,
  names,
  place,
}: Omit<FolderContent, "name"> & { readonly file: string; readonly content: StackJson }): Listing {
  const pictures = content.files ?? planeFiles(names);
  if (pictures.length === 0) throw noPictures(file, []);
  return { name: file, files: pictures.map(place), json: { file, content }, notes: [] };
}

export const missingPicture = (file: string, name: string, cause?: unknown): StackError =>
  new StackError(`${file} names ${name}, which is not there`, { code: "input", remedy: "correct “files” in it", cause });

function noPictures(folder: string, names: readonly string[]): StackError {
  const raw = names.find((name) => RAW.test(name));
  return new StackError(`${folder}: no pictures in it${raw ? `, only raw files such as ${raw}` : ""}`, {
    code: "input",
    remedy: raw ? "export them as 16-bit TIFF first" : "expected jpg, png, tif, webp or avif files directly in the folder",
  });
}

/** Cameras and programs leave the same pictures in two formats: if every name comes with the same endings, one ending is enough. */
function withoutCopies(names: readonly string[]): { kept: readonly string[]; note?: string } {
  const ending = (name: string): string => endingOf(name).toLowerCase();
  const endings = [...new Set(names.map(ending))];
  const stems = new Set(names.map((name) => name.slice(0, name.length - endingOf(name).length)));
  if (endings.length < 2 || names.length !== endings.length * stems.size) return { kept: names };
  const rank = (name: string): number => (FORMAT_ORDER.includes(name) ? FORMAT_ORDER.indexOf(name) : FORMAT_ORDER.length);
  const best = endings.reduce((a, b) => (rank(b) < rank(a) ? b : a));
  return {
    kept: names.filter((name) => ending(name) === best),
    note: `every picture is there as ${endings.join(" and ")}; ${best} is used`,
  };
}

const endingOf = (name: string): string => /.(\.[^.]*)$/.exec(baseName(name))?.[1] ?? "";
