import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";

/** What a process on another machine has left is removed after this many milliseconds: whether it still runs cannot be seen from here. */
const FOREIGN_AGE = 24 * 3600 * 1000;

/**
 * Gives `body` an empty folder in `parent`, readable by this user alone, which is removed however `body` ends. Its name says whose it is,
 * so that `removeAbandoned` finds it if the process is killed.
 */
export async function withTemporaryFolder<T>(parent: string, body: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const folder = join(parent, ["dualfocus", hostname(), process.pid, randomUUID()].join("@"));
  await mkdir(folder, { mode: 0o700 });
  try {
    return await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes this process's temporary folders in `parent`, also those in use: for a process that is about to end. */
export async function removeOwn(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => []))
    if (name.startsWith(["dualfocus", hostname(), process.pid, ""].join("@")))
      await rm(join(parent, name), { recursive: true, force: true });
}

/** Removes the temporary folders of processes that were killed. Several machines may share `parent`. */
export async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const [ours, host, pid, id] = name.split("@");
    if (ours !== "dualfocus" || id === undefined) continue;
    const folder = join(parent, name);
    const changed = (await stat(folder).catch(() => undefined))?.mtimeMs;
    if (changed === undefined) continue; // just removed
    const isLeft = host === hostname() ? !isOwnerRunning(Number(pid), changed) : Date.now() - changed > FOREIGN_AGE;
    if (isLeft) await rm(folder, { recursive: true, force: true }).catch(() => undefined); // another user's is not ours to remove
  }
}

/** A container that is started again may give this process the number of the one before: then the folder is older than the process. */
const isOwnerRunning = (pid: number, changed: number): boolean =>
  pid === process.pid ? changed >= Date.now() - process.uptime() * 1000 : isRunning(pid);

/** Whether there is a process of this number on this machine. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0); // sends nothing
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM"; // there, but someone else's
  }
}
