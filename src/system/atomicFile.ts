import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

import { cannotWrite, errnoOf } from "./errno.ts";

/**
 * Writes beside `file`, makes sure the bytes are on the disk, then moves them into place: at any moment, also when the process is
 * killed or the disk is full, `file` is the old one or the new one, whole.
 */
export async function writeAtomically(file: string, bytes: Uint8Array): Promise<void> {
  const draft = `${file}.partial`;
  try {
    await writeSynced(draft, bytes);
    await rename(draft, file);
    await syncFolder(dirname(file));
  } catch (cause) {
    await rm(draft, { force: true });
    throw cannotWrite(file, cause);
  }
}

async function writeSynced(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, "w");
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The answers of systems that cannot sync folders: Windows, and some network file systems. */
const NO_FOLDER_SYNC = new Set(["EPERM", "EISDIR", "EINVAL", "ENOTSUP"]);

/** The move itself survives a power failure only once the folder is on the disk too. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    await handle.sync().finally(() => handle.close());
  } catch (cause) {
    if (!NO_FOLDER_SYNC.has(errnoOf(cause) ?? "")) throw cause;
  }
}
