import { randomUUID } from "node:crypto";
import { constants, type Dirent } from "node:fs";
import { chmod, copyFile, link, mkdir, open, readdir, rename, rm, stat, unlink, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";

import { errnoOf, isMissing } from "../system/errno.ts";
import { storeKeySchema } from "./job.ts";
import { missingFile, type FileStore, type StoredFile } from "./store.ts";

/** Half-written files live here, on the same disk as the rest, until they are renamed. No key begins with a dot. */
const PARTIAL = ".partial";

/** Images and results are their owners' alone: nobody else on the machine reads them. Servers and workers run as one user. */
const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600];

/** A directory that servers and workers share: a local disk, or NFS between machines. */
export function createDirectoryStore(directory: string): FileStore {
  const root = resolve(directory);
  const place = (key: string): string => join(root, storeKeySchema.parse(key));
  const partial = async (write: (file: string) => Promise<void>, use: (file: string) => Promise<void>): Promise<void> => {
    const file = join(root, PARTIAL, randomUUID());
    await makeFolders(dirname(file));
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
        (temporary) => writeFile(temporary, text, { mode: FILE_MODE }),
        async (temporary) => {
          await makeFolders(dirname(place(key)));
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

const makeFolders = (folder: string): Promise<unknown> => mkdir(folder, { recursive: true, mode: FOLDER_MODE });

async function renameInto(file: string, target: string): Promise<void> {
  await makeFolders(dirname(target));
  await chmod(file, FILE_MODE); // before others can find it
  await rename(file, target);
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  return found.catch((cause: unknown) => {
    if (isMissing(cause)) return undefined;
    throw cause;
  });
}

/** Folders that cannot be read are someone else's: they do not hide the others. */
async function listFiles(root: string, folder: string): Promise<StoredFile[]> {
  const entries = (await readFolder(folder)) ?? [];
  const files: StoredFile[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await listFiles(root, path)));
    if (!entry.isFile()) continue;
    const facts = await unlessMissing(stat(path)); // it may be removed meanwhile
    if (facts) files.push({ key: relative(root, path).split(sep).join("/"), size: facts.size, changedAt: facts.mtimeMs });
  }
  return files;
}

const readFolder = (folder: string): Promise<Dirent[] | undefined> =>
  unlessMissing(readdir(folder, { withFileTypes: true })).catch((cause: unknown) => {
    if (["EACCES", "EPERM"].includes(errnoOf(cause) ?? "")) return undefined;
    throw cause;
  });
