import type { JobQueue } from "../queue/queue.ts";
import type { Log } from "./log.ts";
import { Problem } from "./problem.ts";

/** The same queue, whose failures are told to clients as what they are: it cannot be reached just now. */
export function reachable(queue: JobQueue, log: Log): JobQueue {
  const told = async <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((cause: unknown) => {
      log("error", "queue failed", { cause: String(cause) });
      const remedy = "try again in 5 seconds";
      throw new Problem("busy", { detail: "the queue cannot be reached", remedy, headers: { "Retry-After": "5" }, cause });
    });
  return {
    submit: (job) => told(queue.submit(job)),
    get: (id) => told(queue.get(id)),
    subscribe: (id, options) => queue.subscribe(id, options),
    remove: (id) => told(queue.remove(id)),
    counts: () => told(queue.counts()),
    ping: () => queue.ping(),
    close: () => queue.close(),
  };
}
