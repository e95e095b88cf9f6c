import { JobFailure, type JobRunner } from "../queue/runner.ts";
import type { Log } from "./log.ts";

/** The same runner, with a line in the log when a job starts and ends; the reasons that clients are not told are there. */
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
        const code = options.signal.aborted ? "stopped" : cause instanceof JobFailure ? cause.error.code : "internal";
        const isOurs = code === "internal" || code === "lost" || code === "memory"; // messages about pictures are the client's own
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
