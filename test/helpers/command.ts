import type { TestContext } from "node:test";
import { run } from "../../src/cli/run.ts";
import { asUserError } from "../../src/cli/words.ts";

/** What a command line printed, and its exit code. */
export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `dualfocus` with these arguments inside this process. */
export async function runCommand(context: TestContext, ...args: readonly string[]): Promise<CommandResult> {
  const out = capture(context, process.stdout);
  const err = capture(context, process.stderr);
  try {
    const code = await run(args);
    return { code, out: out.text(), err: err.text() };
  } finally {
    out.restore();
    err.restore();
  }
}

/** Collects what is written to a stream instead of writing it. */
export function capture(context: TestContext, stream: NodeJS.WriteStream): { text: () => string; restore: () => void } {
  let text = "";
  const write = stream.write.bind(stream);
  // The test runner sends its own messages, as bytes, through the same stream.
  const { mock } = context.mock.method(stream, "write", (chunk: string | Uint8Array) =>
    typeof chunk === "string" ? ((text += chunk), true) : write(chunk),
  );
  return {
    text: () => text,
    restore: () => {
      mock.restore();
    },
  };
}

/** Throws an error of a command as the program would report it: with its exit code and remedy. */
export function reported(error: unknown): never {
  throw asUserError(error) ?? error;
}
