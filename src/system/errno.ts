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
  EFBIG: "a file is larger than the disk or the system allows",
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

interface Room {
  /** Bytes that all files take, or are known to take at least. */
  readonly needed: number;
  /** Bytes there are without them, if known. */
  readonly free?: number;
  /** The file that did not fit, if it came to that. */
  readonly file?: string;
  readonly cause?: unknown;
}

/** A disk, or the share of it that may be used, that has no room for what is to be written. */
export class NoRoom extends Error {
  override readonly name = "NoRoom";
  readonly syscall = "write";
  readonly code: string;

  constructor({ needed, free, file, cause }: Room) {
    const code = errnoOf(cause) ?? "ENOSPC";
    const need = file === undefined ? "the results need at least" : `no room was left for ${file}; all results together need`;
    const there = free === undefined ? "" : `, and ${sizeText(free, Math.floor)} are free`;
    super(`${REASONS[code]}: ${need} ${sizeText(needed, Math.ceil)}${there}`, { cause });
    this.code = code;
  }
}

/** So rounded that what is needed never seems to fit where it does not. */
function sizeText(bytes: number, round: (value: number) => number): string {
  const [unit, name] = bytes < 1e6 ? [1e3, "kB"] : bytes < 1e10 ? [1e6, "MB"] : [1e9, "GB"];
  return `${round(bytes / unit)} ${name}`;
}

/** Whether there is nothing of that name. */
export const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "");

/** Why it failed, in plain words; an error's own message where it is not one of the system's. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof NoRoom ? message : (REASONS[errnoOf(error) ?? ""] ?? message);
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
