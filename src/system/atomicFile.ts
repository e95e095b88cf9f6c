import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** A file that could not be written; whatever stood there before still stands. */
export class WriteError extends Error {
  override readonly name = "WriteError";
}

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
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === "ENOSPC" ? "the disk is full" : message;
    throw new WriteError(`${file}: could not be written (${reason}); what was there before is intact`, { cause });
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

/** What says that folders cannot be synced here: Windows, and some file systems over a network. */
const NO_FOLDER_SYNC = new Set(["EPERM", "EISDIR", "EINVAL", "ENOTSUP"]);

/** The move itself is safe only when the folder is on the disk too. It has happened by now: where that cannot be asked for, the file stands. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    await handle.sync().finally(() => handle.close());
  } catch (cause) {
    if (!NO_FOLDER_SYNC.has((cause as NodeJS.ErrnoException).code ?? "")) throw cause;
  }
}
