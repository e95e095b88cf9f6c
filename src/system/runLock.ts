import { join } from "node:path";
import { UserError } from "./userError.ts";
import { takeLock } from "./lock.ts";

/** The file that says which process writes into a folder. */
export const lockFile = (folder: string): string => join(folder, "running.lock");

/** Runs `body` while no other process runs one for the same folder; they would overwrite each other's files. */
export async function holdFolder<T>(folder: string, body: () => Promise<T>): Promise<T> {
  const file = lockFile(folder);
  const release = takeLock(file, {
    touchEvery: 20,
    leftAfter: 120,
    refusal: ({ pid, host }, cause) =>
      new UserError(`${folder}: another run is writing there (process ${pid ?? "?"} on ${host ?? "?"})`, {
        exitCode: 2,
        remedy: `wait for it, or choose another -o; if there is no such run, remove ${file}`,
        cause,
      }),
  });
  try {
    return await body();
  } finally {
    release();
  }
}
