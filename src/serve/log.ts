import { reportOf } from "../errors.ts";
import type { JobRunner } from "../queue/runner.ts";

/** One thing that happened. No addresses, no names of files, no paths: nothing of the user's. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;
export type Log = (level: "info" | "warning" | "error", event: string, fields?: LogFields) => void;

/** One JSON document a line. */
export function createLog(output: { write(text: string): unknown }, { now = () => new Date() }: { now?: () => Date } = {}): Log {
  return (level, event, fields = {}) => {
    output.write(`${JSON.stringify({ time: now().toISOString(), level, event, ...fields })}\n`);
  };
}

/** The same runner, with a line in the log when a job starts and ends; with the reasons that clients do not see. */
export function loggedRunner(runner: JobRunner, log: Log): JobRunner {
  return {
    slots: runner.slots,
    async run(job, options) {
      const start = performance.now();
      const seconds = (): number => Number(((performance.now() - start) / 1000).toFixed(3));
      log("info", "job started", { job: job.id, frames: job.frames.length });
      try {
        await runner.run(job, options);
        log("info", "job done", { job: job.id, seconds: seconds() });
      } catch (cause) {
        const code = options.signal.aborted ? "stopped" : reportOf(cause).code;
        const isOurs = code === "internal" || code === "worker-lost" || code === "memory-limit"; // messages about images are the client's own
        log(isOurs ? "error" : "info", "job failed", {
          job: job.id,
          seconds: seconds(),
          code,
          ...(isOurs ? { cause: String(cause) } : {}),
        });
        throw cause;
      }
    },
    close: () => runner.close(),
  };
}
