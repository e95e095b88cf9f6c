import { UserError } from "../system/userError.ts";

interface Stopping {
  /** Ctrl-C, and `kill` or the end of a container. With SIGHUP also a terminal that was closed, but then `nohup` has no effect. */
  readonly signals?: readonly NodeJS.Signals[];
  /** Printed at once, on standard error. */
  readonly notice?: string;
  /** What the abort signal is aborted with, and so what `body` fails with where it asks. */
  readonly reason?: string;
  readonly remedy?: string;
}

/**
 * Runs `body`, which the first signal asks to stop, so that it can tidy up; the second ends the program at once. `stop` asks for the same
 * from within.
 */
export async function stoppable<T>(
  body: (signal: AbortSignal, stop: () => void) => Promise<T>,
  { signals = ["SIGINT", "SIGTERM"], notice, reason = "stopped", remedy }: Stopping = {},
): Promise<T> {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) return;
    if (process.stderr.isTTY) process.stderr.write("\n"); // ends the line of the progress, behind the terminal's ^C
    if (notice !== undefined) process.stderr.write(`${notice}\n`);
    controller.abort(new UserError(reason, { exitCode: 130, ...(remedy === undefined ? {} : { remedy }) }));
  };
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(130);
    stop();
  };
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await body(controller.signal, stop);
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
}

/** Resolves when the signal is aborted: what a server does between its start and its end. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener("abort", () => {
        resolve();
      });
  });
