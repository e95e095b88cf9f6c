import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { UserError } from "./errors.ts";
import { isRunning } from "./outputFolder.ts";

const TOUCH_EVERY = 20; // seconds
const LEFT_AFTER = 120; // seconds without a touch, where nobody can ask for the process itself

/** The file that says which process writes into a folder. */
export const lockFile = (folder: string): string => join(folder, "running.lock");

/**
 * Runs `body` while no other process runs one for the same folder; they would overwrite each other's files. A process that was killed
 * leaves its lock behind: it counts no more when there is no such process, or, on another machine, when it has not been touched lately.
 */
export async function holdFolder<T>(folder: string, body: () => Promise<T>): Promise<T> {
  const file = lockFile(folder);
  take(file, folder);
  const release = (): void => {
    rmSync(file, { force: true });
  };
  const touching = setInterval(() => {
    touch(file);
  }, 1000 * TOUCH_EVERY).unref();
  process.once("exit", release);
  try {
    return await body();
  } finally {
    clearInterval(touching);
    process.off("exit", release);
    release();
  }
}

function take(file: string, folder: string): void {
  try {
    writeFileSync(file, JSON.stringify({ pid: process.pid, host: hostname() }), { flag: "wx" });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    const holder = readHolder(file);
    if (holder && isHeld(holder))
      throw new UserError(`${folder}: another run is writing there (process ${holder.pid ?? "?"} on ${holder.host ?? "?"})`, {
        exitCode: 2,
        remedy: `wait for it, or choose another -o; if there is no such run, remove ${file}`,
        cause,
      });
    rmSync(file, { force: true });
    take(file, folder);
  }
}

interface Holder {
  readonly pid?: number;
  readonly host?: string;
  /** When the lock was touched last, milliseconds since 1970. */
  readonly touched: number;
}

function readHolder(file: string): Holder | undefined {
  try {
    const touched = statSync(file).mtimeMs;
    return { ...parse(readFileSync(file, "utf8")), touched };
  } catch {
    return undefined; // it has just ended
  }
}

/** Nothing from a file that was cut off, or is only being written. */
function parse(text: string): { pid?: number; host?: string } {
  try {
    const { pid, host } = JSON.parse(text) as Record<string, unknown>;
    return typeof pid === "number" && typeof host === "string" ? { pid, host } : {};
  } catch {
    return {};
  }
}

function isHeld({ pid, host, touched }: Holder): boolean {
  if (pid === undefined || host !== hostname()) return Date.now() - touched < 1000 * LEFT_AFTER;
  if (pid === process.pid) return touched >= performance.timeOrigin; // containers start again with the same number
  return isRunning(pid);
}

function touch(file: string): void {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // removed by hand: nothing to keep fresh
  }
}
