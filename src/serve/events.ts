import { hasEnded, type JobQueue } from "../queue/queue.ts";
import type { FileStore } from "../queue/store.ts";
import { describeJob, type JobView } from "./schemas.ts";

export interface EventOptions {
  readonly queue: JobQueue;
  readonly store: FileStore;
  readonly heartbeatSeconds: number;
  /** Ends the stream. */
  readonly signal: AbortSignal;
  readonly onEnd: () => void;
  readonly onError: (error: unknown) => void;
}

/** The id of a job's last event: a client that comes back with it has had everything. */
export const LAST_EVENT = "end";

/** Events that a client may be behind; of a slow one's progress, what comes after is left out, but for the last. */
const MOST_WAITING = 16;

/** A job's progress as server-sent events, with a sign of life where nothing happens. It ends with the job. */
export function jobEvents(
  id: string,
  { queue, store, heartbeatSeconds, signal, onEnd, onError }: EventOptions,
): ReadableStream<Uint8Array> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const encoder = new TextEncoder();
  let heartbeat: NodeJS.Timeout | undefined;
  const follow = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    for await (const status of queue.subscribe(id, { signal: either })) {
      if (either.aborted) return;
      const ended = hasEnded(status);
      if (ended || (controller.desiredSize ?? 0) > 0)
        controller.enqueue(encoder.encode(eventText(await describeJob(status, store), ended)));
      if (ended) return;
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        heartbeat = setInterval(() => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(": still here\n\n"));
        }, heartbeatSeconds * 1000);
        follow(controller)
          .catch(onError)
          .finally(() => {
            clearInterval(heartbeat);
            onEnd();
            if (!stop.signal.aborted) controller.close();
          });
      },
      cancel() {
        clearInterval(heartbeat);
        stop.abort();
      },
    },
    new CountQueuingStrategy({ highWaterMark: MOST_WAITING }),
  );
}

const eventText = (job: JobView, ended: boolean): string =>
  `event: ${ended ? "end" : "progress"}\n${ended ? `id: ${LAST_EVENT}\n` : ""}data: ${JSON.stringify(job)}\n\n`;
