import { UserError } from "./userError.ts";

/** Runs `read`; whatever it throws comes out as bad input with this remedy. */
export async function readingInput<T>(file: string, remedy: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: "there is no such file",
      EISDIR: "is a folder, not a file",
      ENOTDIR: "there is no such file",
      EACCES: "may not be read",
    };
    const reason = code === undefined ? undefined : reasons[code];
    const told = cause instanceof Error ? cause.message : String(cause);
    const message = reason === undefined ? (told.startsWith(file) ? told : `${file}: ${told}`) : `${file}: ${reason}`;
    throw new UserError(message, { exitCode: 3, remedy, cause });
  }
}
