import { DualFocusError } from "../../src/errors.ts";
import { Problem } from "../../src/serve/problem.ts";
import { EngineError } from "../../src/engine/errors.ts";

/** What JavaScript, WebAssembly or a stack trace says, and no person should read. */
const INNER_WORDS =
  /typed array|array (buffer )?length|allocation failed|is not (a function|iterable|defined)|Cannot (read|set) propert|Cannot convert|call stack|DataView|\[object |node_modules|\bat .+:\d+:\d+|memory access|unreachable|\bundefined\b/;
const LONGEST = 2500;

/** What is wrong with how a reader refused its input; undefined if nothing is. `file` is what it was called. */
export function complaint(error: unknown, file: string): string | undefined {
  if (error instanceof EngineError) return undefined; // of the addon, whose callers are programs
  if (!(error instanceof DualFocusError || error instanceof Problem)) return `not an error for people: ${String(error)}`;
  const { message } = error;
  if (!message.includes(file)) return `does not name the file: ${message}`;
  if (message.length > LONGEST) return `a message of ${message.length} letters: ${message.slice(0, 200)}`;
  if (INNER_WORDS.test(message)) return `the inside shows: ${message}`;
  // eslint-disable-next-line no-control-regex -- that is what is looked for
  if (/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.test(message)) return `steers the terminal: ${JSON.stringify(message)}`;
  return undefined;
}
