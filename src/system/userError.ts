/** 2 wrong usage, 3 bad input, 4 could not align, 5 missing metadata, 130 stopped by Ctrl-C. */
export type ExitCode = 2 | 3 | 4 | 5 | 130;

/** A failure the user can correct: the message says what was wrong with which file, `remedy` what to do about it. */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly exitCode: ExitCode;
  readonly remedy?: string;

  constructor(message: string, { exitCode, remedy, cause }: { exitCode: ExitCode; remedy?: string; cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
    if (remedy !== undefined) this.remedy = remedy;
  }
}
