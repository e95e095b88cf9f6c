import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

import { DualFocusError } from "../errors.ts";
import { errnoOf } from "./errno.ts";
import { isRunning } from "./temporaryFolder.ts";

export interface LockOptions {
  /** Seconds between two signs of life. */
  readonly touchEvery: number;
  /** Seconds without one after which the lock is left behind, where nobody can ask for the process itself. */
  readonly leftAfter: number;
  readonly mode?: number;
  /** The error when another process holds it. */
  readonly refusal: (holder: Holder, cause: unknown) => Error;
}

export interface Holder {
  readonly pid?: number;
  readonly host?: string;
  /** When the lock was touched last, milliseconds since 1970. */
  readonly touched: number;
}

/**
 * Makes `file` this process's lock until the function it returns is called. A process that was killed leaves its lock behind: it counts
 * no more when there is no such process, or, in another container or on another machine, when it has not been touched lately.
 */
export function takeLock(file: string, options: LockOptions): () => void {
  write(file, options);
  const touching = setInterval(() => {
    touch(file);
  }, 1000 * options.touchEvery).unref();
  const remove = (): void => {
    rmSync(file, { force: true });
  };
  process.once("exit", remove);
  return () => {
    clearInterval(touching);
    process.off("exit", remove);
    remove();
  };
}

function write(file: string, options: LockOptions): void {
  const { mode, leftAfter, refusal } = options;
  try {
    writeFileSync(file, JSON.stringify({ pid: process.pid, host: hostname() }), { flag: "wx", ...(mode !== undefined && { mode }) });
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST") throw cause;
    const holder = readHolder(file);
    if (holder && isHeld(holder, leftAfter)) throw refusal(holder, cause);
    rmSync(file, { force: true });
    write(file, options);
  }
}

function readHolder(file: string): Holder | undefined {
  try {
    const touched = statSync(file).mtimeMs;
    return { ...parse(readFileSync(file, "utf8")), touched };
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined; // it has just ended
    throw cause;
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

function isHeld({ pid, host, touched }: Holder, leftAfter: number): boolean {
  if (pid === undefined || host !== hostname()) return Date.now() - touched < 1000 * leftAfter;
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

/** The file that says which process writes into a folder. */
export const lockFile = (folder: string): string => join(folder, "running.lock");

/** Runs `body` while no other process runs one for the same folder; they would overwrite each other's files. */
export async function holdFolder<T>(folder: string, body: () => Promise<T>): Promise<T> {
  const file = lockFile(folder);
  const release = takeLock(file, {
    touchEvery: 20,
    leftAfter: 120,
    refusal: ({ pid = "?", host = "?" }, cause) =>
      new DualFocusError("output-in-use", `${folder}: another run is writing there (process ${pid} on ${host})`, {
        facts: { folder, lock: file },
        cause,
      }),
  });
  try {
    return await body();
  } finally {
    release();
  }
}
