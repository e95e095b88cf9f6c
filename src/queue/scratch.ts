import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isRunning } from "../system/outputFolder.ts";

const OURS = `dualfocus-job-${hostname()}-`;

/** Gives `body` an empty folder that is removed when it ends. */
export async function withScratch<T>(parent: string, body: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, `${OURS}${process.pid}-`));
  try {
    return await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes the folders of processes of this machine that were killed. */
export async function removeOldScratch(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const pid = name.startsWith(OURS) ? Number(name.slice(OURS.length).split("-")[0]) : NaN;
    if (Number.isInteger(pid) && !isRunning(pid)) await rm(join(parent, name), { recursive: true, force: true });
  }
}
