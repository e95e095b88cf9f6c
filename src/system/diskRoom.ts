import { rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { errnoOf, NoRoom } from "./errno.ts";

export interface FileWriter {
  /** Writes a file of the folder. */
  readonly write: (file: string, bytes: Uint8Array | string) => Promise<void>;
  /** To be called after the last file: throws if there was no room for all of them. */
  readonly end: () => Promise<void>;
}

/** Writes files into a folder. Once the disk is full the others are only measured, so that the error says how much room all of them need. */
export function createFileWriter(folder: string): FileWriter {
  let [needed, written] = [0, 0];
  let full: { readonly file: string; readonly cause: unknown } | undefined;
  return {
    async write(file, bytes) {
      const size = Buffer.byteLength(bytes);
      needed += size;
      if (full) return;
      try {
        await writeFile(join(folder, file), bytes);
        written += size;
      } catch (cause) {
        if (!["ENOSPC", "EDQUOT"].includes(errnoOf(cause) ?? "")) throw Object.assign(cause as Error, { path: join(folder, file) });
        full = { file, cause };
        await rm(join(folder, file), { force: true });
      }
    },
    async end() {
      if (!full) return;
      const free = errnoOf(full.cause) === "ENOSPC" ? await freeBytes(folder) : undefined;
      throw new NoRoom({ needed, ...(free === undefined ? {} : { free: free + written }), ...full });
    },
  };
}

/** Throws if the disk of this folder has less room than that; for a check before the work whose results go there. */
export async function checkRoom(folder: string, needed: number): Promise<void> {
  const free = await freeBytes(folder);
  if (free !== undefined && free < needed) throw new NoRoom({ needed, free });
}

/** Undefined where the file system does not say. */
async function freeBytes(folder: string): Promise<number | undefined> {
  const { blocks, bavail, bsize } = await statfs(folder).catch(() => ({ blocks: 0, bavail: 0, bsize: 0 }));
  return blocks > 0 ? bavail * bsize : undefined;
}
