import { DualFocusError, type ErrorCode, type ErrorFacts } from "../errors.ts";

/** Bytes that are not what their format says. The message starts with the file, as the caller named it. */
export class FormatError extends DualFocusError {
  override readonly name = "FormatError";

  constructor(message: string, { code = "bad-file", facts = {}, cause }: { code?: ErrorCode; facts?: ErrorFacts; cause?: unknown } = {}) {
    super(code, message, { facts, cause });
  }
}

/** Runs a decoder; whatever it throws comes out as a FormatError that names the file and the format. */
export function decoding<T>({ file, format }: { file: string; format: string }, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw asFormatError(cause, { file, format });
  }
}

/** The same for an asynchronous decoder. */
export async function decodingAsync<T>({ file, format }: { file: string; format: string }, decode: () => Promise<T>): Promise<T> {
  try {
    return await decode();
  } catch (cause) {
    throw asFormatError(cause, { file, format });
  }
}

function asFormatError(cause: unknown, { file, format }: { file: string; format: string }): FormatError {
  if (cause instanceof FormatError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = /\.hei[cf]$/i.test(file) ? "heic-unsupported" : "bad-file"; // sharp and most browsers come without its decoder
  return new FormatError(`${file}: not a readable ${format} file: ${reason}`, { code, facts: { file, format }, cause });
}
