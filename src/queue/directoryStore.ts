import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, link, mkdir, open, readdir, rename, rm, stat, unlink, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";

import { errnoOf, isMissing } from "../system/errno.ts";
import { storeKeySchema } from "./job.ts";
import { missingFile, type FileStore, type StoredFile } from "./store.ts";

/** Half-written files live here, on the same disk as the rest, until they are renamed. No key begins with a dot. */
const PARTIAL = ".partial";

/** A directory that servers and workers share: a local disk, or NFS between machines. */
export function createDirectoryStore(directory: string): FileStore {
  const root = resolve(directory);
  const place = (key: string): string => join(root, storeKeySchema.parse(key));
  const partial = async (write: (file: string) => Promise<void>, use: (file: string) => Promise<void>): Promise<void> => {
    const file = join(root, PARTIAL, randomUUID());
    await mkdir(dirname(file), { recursive: true });
    try {
      await write(file);
      await use(file);
    } finally {
      await rm(file, { force: true });
    }
  };
  const put = (key: string, file: string): Promise<void> =>
    partial(
      (temporary) => copyFile(file, temporary),
      (temporary) => renameInto(temporary, place(key)),
    );
  return {
    name: root,
    put,
    async move(key, file) {
      try {
        await renameInto(file, place(key));
      } catch (cause) {
        if (errnoOf(cause) !== "EXDEV") throw cause; // EXDEV: it is on another disk
        await put(key, file);
        await unlink(file);
      }
    },
    async putOnce(key, text) {
      let first = true;
      await partial(
        (temporary) => writeFile(temporary, text),
        async (temporary) => {
          await mkdir(dirname(place(key)), { recursive: true });
          // A link fails where something is already, so that of many who try one succeeds; a rename would replace it.
          await link(temporary, place(key)).catch((cause: unknown) => {
            if (errnoOf(cause) !== "EEXIST") throw cause;
            first = false;
          });
        },
      );
      return first;
    },
    async fetch(key, file) {
      await copyFile(place(key), file, constants.COPYFILE_EXCL).catch((cause: unknown) => {
        throw isMissing(cause) ? missingFile(key, cause) : cause;
      });
    },
    async open(key) {
      const handle = await unlessMissing(open(place(key)));
      if (!handle) return undefined;
      return { size: (await handle.stat()).size, stream: handle.createReadStream() };
    },
    list: (prefix) => listFiles(root, place(prefix)),
    async remove(prefix) {
      await rm(place(prefix), { recursive: true, force: true });
    },
  };
}

async function renameInto(file: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  await rename(file, target);
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  return found.catch((cause: unknown) => {
    if (isMissing(cause)) return undefined;
    throw cause;
  });
}

async function listFiles(root: string, folder: string): Promise<StoredFile[]> {
  const entries = (await unlessMissing(readdir(folder, { recursive: true, withFileTypes: true }))) ?? [];
  const files: StoredFile[] = [];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const facts = await unlessMissing(stat(file)); // it may be removed meanwhile
    if (facts) files.push({ key: relative(root, file).split(sep).join("/"), size: facts.size, changedAt: facts.mtimeMs });
  }
  return files;
}
