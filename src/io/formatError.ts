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
  return new FormatError(`${file}: not a readable ${format} file: ${decoderReason(cause)}`, { facts: { file, format }, cause });
}

/** What JavaScript itself, or WebAssembly, says where a decoder believed a damaged header. It means nothing to whoever gave the file. */
const ENGINE_WORDS =
  /^(Invalid (typed )?array( buffer)? length|Invalid (string|DataView) length|Array buffer allocation|Invalid offset|[Oo]ffset is out|Start offset|(byte )?length of |Cannot (read|set|convert|mix|access|destructure)|Maximum call stack|The value of "|Out of bounds|memory access|unreachable|table index|source array|Division by zero|.*\bundefined\b|null$|.* is (not|undefined|null)\b.*(function|iterable|constructor|object|undefined))/;

/** What libvips, the libraries below it, libheif, geotiff and browsers say, and what it means to whoever gave the file. The first that fits holds. */
const LIBRARY_WORDS: readonly (readonly [RegExp, string])[] = [
  [/unsupported image format/, "it is not an image, or in a format that cannot be read"],
  [/premature end|Unexpected end of file|outside of file/, "it is truncated"],
  [/^Unsupported (feature|file-?type|codec|image type)|No decoding plugin/i, "its kind of compression cannot be decoded"],
  [
    /^(Input (buffer|file) |vips|source: |webp: |heif|Invalid input: |Decoder plugin |Usage error|marker was not found|The source image could not be decoded|Cannot decode the data)/i,
    "it is damaged or truncated",
  ],
];

/** Why a decoder failed, for people. */
export function decoderReason(cause: unknown): string {
  const [line = ""] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
  if (line === "" || ENGINE_WORDS.test(line)) return "its sizes or offsets are damaged";
  return LIBRARY_WORDS.find(([words]) => words.test(line))?.[1] ?? line;
}
