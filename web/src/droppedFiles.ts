import { naturalOrder } from "../../src/stack/stackFormat.ts";
import type { UserFile } from "./worker/protocol.ts";

/** Files chosen with a button; those of a folder know their path in it. */
export const pickedFiles = (files: Iterable<File> | ArrayLike<File>): UserFile[] =>
  Array.from(files, (file) => ({ path: file.webkitRelativePath || file.name, file })).filter(isVisible);

/** Files dropped on the page, including those in folders. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<UserFile[]> {
  const entries = Array.from(items, (item) => (item.kind === "file" ? item.webkitGetAsEntry() : null));
  if (!entries.some((entry) => entry?.isDirectory)) return pickedFiles(files);
  const found: UserFile[] = [];
  for (const entry of entries) if (entry) found.push(...(await filesBelow(entry)));
  return found.filter(isVisible);
}

/** Operating systems leave hidden files, whose names begin with a dot. */
export const isVisible = ({ path }: Pick<UserFile, "path">): boolean => !path.split("/").some((part) => part.startsWith("."));

async function filesBelow(entry: FileSystemEntry): Promise<UserFile[]> {
  const path = entry.fullPath.replace(/^\//, "");
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => {
      (entry as FileSystemFileEntry).file(resolve, reject);
    });
    return [{ path, file }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: UserFile[] = [];
  // A browser lists a folder in batches; an empty batch is the end.
  for (let part = await readPart(reader); part.length > 0; part = await readPart(reader))
    for (const child of part) found.push(...(await filesBelow(child)));
  return found;
}

const readPart = (reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> =>
  new Promise((resolve, reject) => {
    reader.readEntries(resolve, reject);
  });

/** The name of a stack: its folder's, or that of its file, or of its first and last one: `IMG_2041–2047`. */
export function nameOf(files: readonly UserFile[]): string {
  const [first] = files;
  if (!first) return "nothing";
  const folders = first.path.split("/").slice(0, -1);
  if (folders.length > 0) return folders[0] ?? "";
  const stems = naturalOrder(files.map(({ path }) => path)).map((path) => path.replace(/\.[^.]*$/, ""));
  const [from = "", to = ""] = [stems[0], stems.at(-1)];
  if (from === to) return from;
  const same = /^.*?(?=\d+$)/.exec(from)?.[0] ?? "";
  return `${from}–${same !== "" && to.startsWith(same) ? to.slice(same.length) : to}`;
}
