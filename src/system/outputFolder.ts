import { constants, existsSync, rmdirSync, rmSync } from "node:fs";
import { access, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { UserError } from "./userError.ts";

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
    throw new UserError(`${folder}: the output folder is not empty`, {
      exitCode: 2,
      remedy: "choose another -o, or add --force to replace files in it",
    });
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
    throw naming(error, { folder, temporary });
  } finally {
    process.off("exit", tidy);
  }
}

/** result.json last: what has one is finished. */
const orderedNames = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).sort((a, b) => Number(a === "result.json") - Number(b === "result.json"));

/** Windows refuses for a moment to move what a virus scanner looks at. */
const BUSY = new Set(["EPERM", "EBUSY", "EACCES"]);

async function move(from: string, to: string, attempts = process.platform === "win32" ? 10 : 1): Promise<void> {
  try {
    await rename(from, to);
  } catch (cause) {
    if (attempts <= 1 || !BUSY.has((cause as NodeJS.ErrnoException).code ?? "")) throw cause;
    await setTimeout(100);
    await move(from, to, attempts - 1);
  }
}

/** A full disk is not told with a path, and the temporary folder's name means nothing to anyone: the error gets the one the user knows. */
function naming(error: unknown, { folder, temporary }: { folder: string; temporary: string }): unknown {
  if (error instanceof Error && "syscall" in error) {
    const told = error as NodeJS.ErrnoException;
    if (told.path === undefined || told.path.startsWith(temporary)) told.path = folder;
  }
  return error;
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

export interface FolderName {
  /** What the user calls the folder. */
  readonly called?: string;
  /** The option that names it. */
  readonly option?: string;
}

/** Makes a folder and those above it. (Node's recursive mkdir never returns where a file system makes no folders at all, such as /proc.) */
export async function makeFolder(folder: string, { called = folder, option = "-o" }: FolderName = {}): Promise<void> {
  const above = dirname(resolve(folder));
  if (!existsSync(above)) await makeFolder(above, { called, option });
  try {
    await mkdir(folder);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const present = code === "EEXIST" ? await stat(folder) : undefined;
    if (present?.isDirectory()) {
      await checkWritable(folder, { called, option });
      return;
    }
    const [why] = message.split(", "); // what follows is the path, which may be a temporary one
    throw unusable(called, present ? "is a file, not a folder" : `no folder can be made there (${why})`, { option, cause });
  }
}

/** Told now, not after the work whose results go there. */
async function checkWritable(folder: string, { called, option }: Required<FolderName>): Promise<void> {
  try {
    await access(folder, constants.W_OK);
  } catch (cause) {
    throw unusable(called, "may not be written into", { option, cause });
  }
}

/** Removes the temporary folders in `folder` of runs on this machine that were killed. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of (await contents(folder)) ?? []) {
    const at = name.startsWith(".") ? name.lastIndexOf(PARTIAL) : -1;
    if (at > 0 && !isRunning(Number(name.slice(at + PARTIAL.length)))) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Whether there is a process of this number on this machine. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0); // sends nothing
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM"; // there, but someone else's
  }
}

/** What the folder holds; undefined if there is no such folder. */
async function contents(folder: string): Promise<string[] | undefined> {
  try {
    return await readdir(folder);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw unusable(folder, code === "ENOTDIR" ? "is a file, not a folder" : String(cause), { cause });
  }
}

const unusable = (folder: string, reason: string, { option = "-o", cause }: { option?: string; cause: unknown }): UserError =>
  new UserError(`${folder}: ${reason}`, { exitCode: 2, remedy: `choose another ${option}`, cause });
