import { DualFocusError } from "../errors.ts";

/** `input`: the pictures or numbers given cannot be used. `metadata`: something needed is not there. */
export type StackErrorCode = "input" | "metadata";

/** A stack that cannot be opened or read: the message names the file and the fault, `remedy` says what to do. */
export class StackError extends DualFocusError {
  override readonly name = "StackError";
  readonly remedy: string;

  constructor(message: string, { code, remedy, cause }: { code: StackErrorCode; remedy: string; cause?: unknown }) {
    super(code === "metadata" ? "distances-missing" : "bad-file", message, { facts: { remedy }, cause });
    this.remedy = remedy;
  }
}
