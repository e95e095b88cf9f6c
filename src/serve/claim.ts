import { readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";

import { UserError } from "../job/errors.ts";
import { isRunning, makeFolder } from "../job/outputFolder.ts";

const FILE = ".server";
/** Milliseconds between two signs of life, and after which an owner that cannot be seen from here is taken for dead. */
const HEARTBEAT = { every: 5000, missing: 60_000 } as const;

/**
 * Makes a folder this process's own until the function it resolves to is called. Two servers with queues of their own would each take
 * the other's jobs for what a killed server has left.
 */
export async function claimFolder(folder: string): Promise<() => Promise<void>> {
  await makeFolder(folder);
  const file = join(folder, FILE);
  const owner = { host: hostname(), pid: process.pid };
  const write = (flag: "wx" | "w"): Promise<void> => writeFile(file, JSON.stringify(owner), { flag, mode: 0o600 });
  try {
    await write("wx");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    if (await isOwned(file))
      throw new UserError(`${folder}: another server uses it`, {
        exitCode: 2,
        remedy: `give this one another --store, or let both use --redis; one that was killed is forgotten after ${HEARTBEAT.missing / 1000} seconds`,
        cause,
      });
    await write("w"); // its owner was killed
  }
  const beat = setInterval(() => {
    utimes(file, new Date(), new Date()).catch(() => undefined); // the next beat may succeed
  }, HEARTBEAT.every).unref();
  return async () => {
    clearInterval(beat);
    await rm(file, { force: true });
  };
}

/** On this machine the process itself is looked at; containers and other machines are known by their heartbeat. */
async function isOwned(file: string): Promise<boolean> {
  const { host, pid } = parse(await readFile(file, "utf8"));
  if (host === hostname()) return pid !== process.pid && isRunning(pid);
  return Date.now() - (await stat(file)).mtimeMs < HEARTBEAT.missing;
}

function parse(text: string): { host: string; pid: number } {
  try {
    const { host, pid } = JSON.parse(text) as { host: unknown; pid: unknown };
    return { host: String(host), pid: Number(pid) };
  } catch {
    return { host: "", pid: 0 }; // killed while writing it
  }
}
