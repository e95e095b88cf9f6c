import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** A hash of `item` and of the size and modification time of its files. No file is opened. */
export async function markOf(item: unknown, files: readonly string[], stampOf = fileStamp): Promise<string> {
  const stamps = await Promise.all(files.map((file) => stampOf(file)));
  return createHash("sha256")
    .update(JSON.stringify([item, stamps]))
    .digest("hex")
    .slice(0, 16);
}

/** `fileStamp` that queries each path once, for sets whose samples share files. */
export function rememberStamps(): (path: string) => Promise<string> {
  const known = new Map<string, Promise<string>>();
  return (path) => {
    const stamp = known.get(path) ?? fileStamp(path);
    known.set(path, stamp);
    return stamp;
  };
}

/** Size and modification time; a folder means the files in it. What is missing is reported when it is read. */
async function fileStamp(path: string): Promise<string> {
  try {
    const about = await stat(path);
    if (!about.isDirectory()) return `${path} ${about.size} ${about.mtimeMs}`;
    const entries = await readdir(path, { withFileTypes: true });
    const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
    return (await Promise.all(names.sort().map((name) => fileStamp(join(path, name))))).join("\n");
  } catch {
    return `${path} is missing`;
  }
}
