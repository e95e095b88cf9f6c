import { DualFocusError, type ErrorCode } from "../errors.ts";

/** What the operating system's codes mean, in plain words that follow a name: "a.png: there is no such file". */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "there is no such file or folder",
  EISDIR: "is a folder, not a file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ELOOP: "is a link that leads back to itself",
  ENAMETOOLONG: "the name is too long",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the disk is read-only",
  EEXIST: "a file is in the way",
  EMFILE: "too many files are open",
  EADDRINUSE: "another program listens there",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "there is no such host name",
};

/** The code of what the operating system refused; undefined for every other error. */
export const errnoOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && "syscall" in error ? String(error.code) : undefined;

/** Whether there is nothing of that name. */
export const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "");

/** Why it failed, in plain words; an error's own message where it is not one of the system's. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return REASONS[errnoOf(error) ?? ""] ?? message;
}

/** A file or folder given as input that the system does not let us read. */
export const cannotRead = (file: string, cause: unknown): DualFocusError =>
  new DualFocusError(isMissing(cause) ? "file-not-found" : "file-unreadable", `${file}: ${reasonOf(cause)}`, { facts: { file }, cause });

/** A result that the system does not let us write. `errno` among the facts is for those who know more to do about some of them. */
export const cannotWrite = (file: string, cause: unknown): DualFocusError =>
  new DualFocusError("write-failed", `${file}: cannot be written: ${reasonOf(cause)}`, {
    facts: { file, errno: errnoOf(cause) ?? "" },
    cause,
  });

/** Runs `read`; whatever it throws comes out as an error of this code whose message begins with the file. */
export async function readingInput<T>(file: string, code: ErrorCode, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof DualFocusError && cause.code === code) throw cause;
    const reason = reasonOf(cause);
    throw new DualFocusError(code, reason.startsWith(file) ? reason : `${file}: ${reason}`, { facts: { file }, cause });
  }
}
