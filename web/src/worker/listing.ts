import { baseName, naturalOrder, parseStackJson } from "../../../src/stack/stackFormat.ts";
import { DualFocusError } from "../../../src/errors.ts";
import { folderListing, jsonListing, missingImage, type Listing } from "../../../src/stack/listing.ts";
import type { UserFile } from "./protocol.ts";

/** The stack among files given to the page, by the rules by which the command lists a folder; a note names the files that are not part of it. */
export async function listUserFiles(name: string, given: readonly UserFile[]): Promise<Listing> {
  const listing = await findListing(name, given);
  const used = new Set([...listing.files, listing.json?.file, listing.distanceFile]);
  const ignored = naturalOrder(given.map(({ path }) => path).filter((path) => !used.has(path)));
  return ignored.length === 0 ? listing : { ...listing, notes: [...listing.notes, ignoredNote(ignored)] };
}

/** Names of ignored files in a note. */
const MOST_NAMED = 3;

function ignoredNote(paths: readonly string[]): string {
  const named = paths.slice(0, MOST_NAMED).join(", ");
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : "";
  return `not part of the stack and ignored: ${named}${more}`;
}

async function findListing(name: string, given: readonly UserFile[]): Promise<Listing> {
  const [first, ...others] = given;
  if (!first) throw new DualFocusError("no-stack", "there are no files in what you dropped");
  const folder = oneFolder(given);
  const inFolder = given.filter(({ path }) => folderOf(path) === folder);
  const names = inFolder.map(({ path }) => baseName(path));
  const place = (each: string): string => (folder === "" ? each : `${folder}/${each}`);
  const json = inFolder.find(({ path }) => baseName(path) === "stack.json") ?? (others.length === 0 ? jsonFile(first) : undefined);
  if (json) return listJson(name, { json, names, place, given });
  if (inFolder.length === 1 && /\.tiff?$/i.test(first.path)) return { name, files: [first.path], notes: [] };
  return { ...folderListing({ name, names, place }), name };
}

const jsonFile = (only: UserFile): UserFile | undefined => (/\.json$/i.test(only.path) ? only : undefined);

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** A stack is one folder. Of several, the one nearest to the top that holds most files; two alike cannot be distinguished. */
function oneFolder(given: readonly UserFile[]): string {
  const counts = new Map<string, number>();
  for (const { path } of given) counts.set(folderOf(path), (counts.get(folderOf(path)) ?? 0) + 1);
  const depth = (folder: string): number => folder.split("/").length;
  const holding = [...counts].filter(([, count]) => count > 1);
  const top = Math.min(...holding.map(([folder]) => depth(folder)));
  const nearest = naturalOrder(holding.filter(([folder]) => depth(folder) === top).map(([folder]) => folder));
  if (nearest.length > 1)
    throw new DualFocusError("several-stacks", `you dropped ${nearest.length} folders: ${nearest.join(", ")}`, {
      facts: { folders: nearest },
    });
  return nearest[0] ?? folderOf(given[0]?.path ?? "");
}

interface Described {
  readonly json: UserFile;
  readonly names: readonly string[];
  readonly place: (name: string) => string;
  readonly given: readonly UserFile[];
}

async function listJson(name: string, { json, names, place, given }: Described): Promise<Listing> {
  const content = parseStackJson(await json.file.text(), json.path);
  const listing = jsonListing({ file: json.path, content, names, place });
  const present = new Set(given.map(({ path }) => path));
  const missing = listing.files.find((path) => !present.has(path));
  if (missing !== undefined) throw missingImage(json.path, baseName(missing));
  return { ...listing, name };
}
