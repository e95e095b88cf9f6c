import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { DISTANCE_FILE } from "../io/distanceList.ts";
import { FormatError } from "../io/formatError.ts";
import { StackError } from "../io/stackError.ts";
import { naturalOrder, planeFiles, readStackJson } from "../io/stackFolder.ts";
import type { StackJson } from "../io/stackFolder.ts";

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

/** A folder, a stack.json, one TIFF of many pages, or a list of pictures. */
export async function listStack(inputs: readonly string[]): Promise<Listing> {
  const [only, ...others] = inputs;
  if (only === undefined)
    throw new StackError("no stack was given", { code: "input", remedy: "name a folder, pictures, a stack.json or a multi-page TIFF" });
  if (others.length > 0) return listFiles(inputs);
  if ((await statOf(only)).isDirectory()) return listFolder(only);
  if (extname(only).toLowerCase() === ".json") return listJson(only);
  return { name: only, files: [only], notes: [] };
}

async function listFolder(folder: string): Promise<Listing> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new StackError(`${folder}: cannot be read`, { code: "input", remedy: "check the permissions of the folder", cause });
  });
  if (names.includes("stack.json")) return listJson(join(folder, "stack.json"));
  const { kept, note } = withoutCopies(planeFiles(names));
  const files: string[] = [];
  for (const name of kept) if ((await statOf(join(folder, name))).isFile()) files.push(join(folder, name));
  if (files.length === 0) throw noPictures(folder, names);
  const lists = naturalOrder(names.filter((name) => DISTANCE_FILE.test(name)));
  if (lists.length > 1)
    throw new StackError(`${folder}: ${lists.join(" and ")} both look like lists of focus distances`, {
      code: "input",
      remedy: "keep one of them",
    });
  const [list] = lists;
  return { name: folder, files, notes: note ? [`${folder}: ${note}`] : [], ...(list ? { distanceFile: join(folder, list) } : {}) };
}

function noPictures(folder: string, names: readonly string[]): StackError {
  const raw = names.find((name) => RAW.test(name));
  return new StackError(`${folder}: no pictures in it${raw ? `, only raw files such as ${raw}` : ""}`, {
    code: "input",
    remedy: raw ? "export them as 16-bit TIFF first" : "expected jpg, png, tif, webp or avif files directly in the folder",
  });
}

async function listJson(file: string): Promise<Listing> {
  const content = await readStackJson(file);
  const folder = dirname(file);
  const names = content.files ?? planeFiles(await readdir(folder));
  if (names.length === 0) throw noPictures(folder, []);
  for (const name of names)
    await statOf(join(folder, name)).catch((cause: unknown) => {
      throw new StackError(`${file} names ${name}, which is not there`, { code: "input", remedy: "correct “files” in it", cause });
    });
  return {
    name: basename(file) === "stack.json" ? folder : file,
    files: names.map((name) => join(folder, name)),
    json: { file, content },
    notes: [],
  };
}

/** A list sorted letter by letter is what a shell's `*` gives, with 10 before 2: it is put into natural order. Any other order is meant. */
async function listFiles(inputs: readonly string[]): Promise<Listing> {
  for (const file of inputs)
    if ((await statOf(file)).isDirectory())
      throw new StackError(`${file}: is a folder, given together with other files`, {
        code: "input",
        remedy: "give one folder, or pictures only",
      });
  const twice = inputs.find((file, n) => inputs.findIndex((other) => resolve(other) === resolve(file)) !== n);
  if (twice !== undefined) throw new StackError(`${twice}: is given twice`, { code: "input", remedy: "name each picture once" });
  const byLetters = inputs.every((file, n) => n === 0 || (inputs[n - 1] as string) < file);
  return { name: dirname(inputs[0] as string), files: byLetters ? naturalOrder(inputs) : inputs, notes: [] };
}

/** Cameras and programs leave the same pictures in two formats: if every name comes with the same endings, one ending is enough. */
function withoutCopies(names: readonly string[]): { kept: readonly string[]; note?: string } {
  const ending = (name: string): string => extname(name).toLowerCase();
  const endings = [...new Set(names.map(ending))];
  const stems = new Set(names.map((name) => basename(name, extname(name))));
  if (endings.length < 2 || names.length !== endings.length * stems.size) return { kept: names };
  const rank = (name: string): number => (FORMAT_ORDER.includes(name) ? FORMAT_ORDER.indexOf(name) : FORMAT_ORDER.length);
  const best = endings.reduce((a, b) => (rank(b) < rank(a) ? b : a));
  return {
    kept: names.filter((name) => ending(name) === best),
    note: `every picture is there as ${endings.join(" and ")}; ${best} is used`,
  };
}

async function statOf(path: string): Promise<{ isDirectory: () => boolean; isFile: () => boolean }> {
  try {
    return await stat(path);
  } catch (cause) {
    const { code = String(cause) } = cause as NodeJS.ErrnoException;
    const reason = { ENOENT: "there is no such file or folder", ELOOP: "is a link that leads back to itself", EACCES: "may not be read" }[
      code
    ];
    throw new FormatError(`${path}: ${reason ?? `cannot be read (${code})`}`, { cause });
  }
}
