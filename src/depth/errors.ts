import { AlignmentError } from "../align/alignment.ts";
import { FormatError } from "../io/formatError.ts";
import { StackError } from "../stack/stackError.ts";
import { UserError } from "../system/userError.ts";

const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: "make room, or choose another -o",
  EDQUOT: "make room, or choose another -o",
  EACCES: "choose another -o, or correct the permissions",
  EPERM: "choose another -o, or correct the permissions",
  EROFS: "choose another -o",
  ENOTDIR: "a file is in the way; choose another -o",
  EEXIST: "a file is in the way; choose another -o",
  ELOOP: "a link on the way leads back to itself; choose another -o",
  ENAMETOOLONG: "choose a shorter -o",
};

/** Errors of the layers below, with the exit code of the command's contract and something to do about them. */
export function asUserError(error: unknown): unknown {
  if (error instanceof StackError)
    return new UserError(error.message, { exitCode: error.code === "metadata" ? 5 : 3, remedy: error.remedy, cause: error });
  if (error instanceof AlignmentError)
    return new UserError(error.message, { exitCode: 4, remedy: "use --align off if the frames are aligned already", cause: error });
  if (error instanceof FormatError)
    return new UserError(error.message, { exitCode: 3, remedy: "replace the file, or correct what the message names", cause: error });
  return isSystemError(error) ? outputError(error) : error;
}

const isSystemError = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && "code" in error && "syscall" in error;

/** What cannot be read is reported where it is read, so what the system refuses here is to write. */
function outputError(error: NodeJS.ErrnoException): unknown {
  const remedy = REMEDIES[error.code ?? ""];
  if (remedy === undefined) return error;
  return new UserError(`${error.path ?? "the results"}: cannot be written (${error.message})`, { exitCode: 2, remedy, cause: error });
}
