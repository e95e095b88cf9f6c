import { rmSync } from "node:fs";
import { mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { UserError } from "./errors.ts";

/**
 * Fills a folder completely or not at all: `write` puts its files into a temporary folder beside it, which then takes its place.
 * A folder that already holds something is refused, unless `force`: then files of the same name are replaced and others left alone.
 * If `write` fails or the program is ended, nothing is left, not even the folders made on the way.
 */
export async function fillFolder<T>(folder: string, { force }: { force: boolean }, write: (temporary: string) => Promise<T>): Promise<T> {
  const target = resolve(folder);
  const present = await contents(target);
  if (present !== undefined && present.length > 0 && !force)
    throw new UserError(`${folder}: the output folder is not empty`, {
      exitCode: 2,
      remedy: "choose another -o, or add --force to replace files in it",
    });
  const made = await mkdir(dirname(target), { recursive: true }); // the first one that was not there
  const temporary = join(dirname(target), `.${basename(target)}.partial-${process.pid}`);
  await rm(temporary, { recursive: true, force: true }); // left by a killed run of the same number
  await mkdir(temporary);
  const tidy = (): void => {
    rmSync(made ?? temporary, { recursive: true, force: true });
  };
  process.once("exit", tidy);
  try {
    const result = await write(temporary);
    if (present === undefined || present.length === 0) {
      if (present !== undefined) await rmdir(target);
      await rename(temporary, target);
    } else for (const name of await readdir(temporary)) await rename(join(temporary, name), join(target, name));
    await rm(temporary, { recursive: true, force: true });
    return result;
  } catch (error) {
    tidy();
    throw error;
  } finally {
    process.off("exit", tidy);
  }
}

/** What the folder holds; undefined if there is no such folder. */
async function contents(folder: string): Promise<string[] | undefined> {
  try {
    return await readdir(folder);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new UserError(`${folder}: ${code === "ENOTDIR" ? "is a file, not a folder" : String(cause)}`, {
      exitCode: 2,
      remedy: "choose another -o",
      cause,
    });
  }
}
