import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";

import { isRunning, makeFolder } from "../system/outputFolder.ts";

/** Where requests put what they receive until it is a job. */
export interface UploadFolder {
  /** Runs `body` with an empty folder of its own, which is gone afterwards, however it ends. */
  use<T>(body: (folder: string) => Promise<T>): Promise<T>;
  /** Removes it. */
  close(): Promise<void>;
}

/** What a server on another machine has left is removed after this many milliseconds: its process cannot be seen from here. */
const FOREIGN_AGE = 24 * 3600 * 1000;

/** A folder of this process in `parent`, which servers on several machines may share. What killed servers have left there is removed. */
export async function createUploadFolder(parent: string): Promise<UploadFolder> {
  await makeFolder(parent);
  await removeLeftovers(parent);
  const own = join(parent, `${hostname()}@${process.pid}@${randomUUID()}`);
  await mkdir(own, { mode: 0o700 });
  return {
    async use(body) {
      const folder = join(own, randomUUID());
      await mkdir(folder, { mode: 0o700 });
      try {
        return await body(folder);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    close: () => rm(own, { recursive: true, force: true }),
  };
}

async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [host, pid, id] = name.split("@");
    if (id === undefined) continue; // not ours
    const folder = join(parent, name);
    const { mtimeMs } = await stat(folder);
    const isLeft = host === hostname() ? !isOwnersRunning(Number(pid), mtimeMs) : Date.now() - mtimeMs > FOREIGN_AGE;
    if (isLeft) await rm(folder, { recursive: true, force: true });
  }
}

/** In a container that is started again the process has the number of the one before: then the folder is older than the process. */
const isOwnersRunning = (pid: number, changed: number): boolean =>
  pid === process.pid ? changed >= Date.now() - process.uptime() * 1000 : isRunning(pid);
