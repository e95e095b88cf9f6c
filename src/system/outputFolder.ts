import { constants, existsSync, rmdirSync, rmSync } from "node:fs";
import { access, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { DualFocusError } from "../errors.ts";
import { cannotWrite, errnoOf, isMissing, reasonOf } from "./errno.ts";
import { isRunning } from "./temporaryFolder.ts";

const PARTIAL = `.partial-${hostname()}-`;

/**
 * Fills a folder completely or not at all: `write` puts its files into a temporary folder beside it, which then takes its place. Where
 * the folder is there already (it may be a mount, or the one the program runs in), the temporary one is inside, and its files move up.
 * A folder that already holds something is refused, unless `force`: then files of the same name are replaced and others left alone.
 * If `write` fails or the program ends itself, nothing is left, not even the folders made on the way.
 */
export async function fillFolder<T>(folder: string, { force }: { force: boolean }, write: (temporary: string) => Promise<T>): Promise<T> {
  const target = resolve(folder);
  await removeLeftovers(target);
  const present = await contents(target);
  if (present !== undefined && present.length > 0 && !force)
    throw new DualFocusError("output-not-empty", `${folder}: the output folder is not empty`, { facts: { folder } });
  const temporary = join(present === undefined ? dirname(target) : target, `.${basename(target)}${PARTIAL}${process.pid}`);
  await rm(temporary, { recursive: true, force: true }); // left by a killed run of the same number
  const missing = missingAbove(temporary);
  const tidy = (): void => {
    rmSync(temporary, { recursive: true, force: true });
    missing.forEach(removeIfEmpty);
  };
  process.once("exit", tidy);
  try {
    await makeFolder(temporary, { called: folder });
    const result = await write(temporary);
    if (present === undefined) await move(temporary, target);
    else for (const name of await orderedNames(temporary)) await move(join(temporary, name), join(target, name));
    await rm(temporary, { recursive: true, force: true });
    return result;
  } catch (error) {
    tidy();
    throw named(error, { folder, temporary });
  } finally {
    process.off("exit", tidy);
  }
}

/** result.json last: what has one is finished. */
const orderedNames = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).sort((a, b) => Number(a === "result.json") - Number(b === "result.json"));

/** Windows refuses for a moment to move a file that a virus scanner has open. */
const BUSY = new Set(["EPERM", "EBUSY", "EACCES"]);

async function move(from: string, to: string, attempts = process.platform === "win32" ? 10 : 1): Promise<void> {
  try {
    await rename(from, to);
  } catch (cause) {
    if (attempts <= 1 || !BUSY.has(errnoOf(cause) ?? "")) throw cause;
    await setTimeout(100);
    await move(from, to, attempts - 1);
  }
}

/** The system does not always name a path, and the temporary folder means nothing to anyone: the user knows `folder`. */
function named(error: unknown, { folder, temporary }: { folder: string; temporary: string }): unknown {
  if (errnoOf(error) === undefined) return error;
  const { path = temporary } = error as NodeJS.ErrnoException;
  if (!path.startsWith(temporary)) return error;
  return cannotWrite(path === temporary ? folder : join(folder, path.slice(temporary.length)), error);
}

/** The folders above this one that are not there, from the lowest to the highest. */
function missingAbove(folder: string): string[] {
  const above = dirname(folder);
  return existsSync(above) ? [] : [above, ...missingAbove(above)];
}

/** Another run may have put something there meanwhile. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // not empty, or never made
  }
}

/**
 * Makes a folder and those above it; errors call it `called`. `mode` is that of the folder itself, if it is new. (Node's recursive mkdir never returns where a file system makes no folders at
 * all, such as /proc.)
 */
export async function makeFolder(
  folder: string,
  { called = folder, mode = 0o777 }: { readonly called?: string; readonly mode?: number } = {},
): Promise<void> {
  const above = dirname(resolve(folder));
  if (!existsSync(above)) await makeFolder(above, { called });
  try {
    await mkdir(folder, { mode });
  } catch (cause) {
    if (errnoOf(cause) === "ENOTDIR") throw underFile(called, cause);
    const present = errnoOf(cause) === "EEXIST" ? await stat(folder) : undefined;
    if (!present) throw unusable(called, `cannot be created: ${reasonOf(cause)}`, cause);
    if (!present.isDirectory()) throw underFile(called, cause);
    await access(folder, constants.W_OK).catch((denied: unknown) => {
      throw unusable(called, "is not writable", denied); // reported now, not after the work whose results go there
    });
  }
}

/** Removes the temporary folders in `folder` of runs on this machine that were killed. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of (await contents(folder)) ?? []) {
    const at = name.startsWith(".") ? name.lastIndexOf(PARTIAL) : -1;
    if (at > 0 && !isRunning(Number(name.slice(at + PARTIAL.length)))) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** What the folder holds; undefined if there is no such folder. */
async function contents(folder: string): Promise<string[] | undefined> {
  try {
    return await readdir(folder);
  } catch (cause) {
    if (errnoOf(cause) === "ENOTDIR") throw underFile(folder, cause);
    if (isMissing(cause)) return undefined;
    throw unusable(folder, reasonOf(cause), cause);
  }
}

const unusable = (folder: string, reason: string, cause: unknown): DualFocusError =>
  new DualFocusError("output-unusable", `${folder}: ${reason}`, { facts: { folder }, cause });

/** This is a file, or is under one, which the error names. */
const underFile = (folder: string, cause: unknown): DualFocusError =>
  existsSync(folder) ? unusable(folder, "is a file, not a folder", cause) : underFile(dirname(folder), cause);
