import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";

import { hasEnded, type JobStatus } from "../queue/queue.ts";
import { readResults } from "../queue/results.ts";
import type { FileStore } from "../queue/store.ts";
import { Problem } from "./problem.ts";
import { contentType, type ResultName } from "./schemas.ts";

export interface OpenResult {
  readonly headers: Readonly<Record<string, string>>;
  readonly stream: Readable;
}

export const noSuchJob = (): Problem =>
  new Problem("not-found", {
    detail: "there is no such job",
    remedy: "it may have been deleted, or have been kept long enough; submit the stack again",
  });

/** Finds a result in the store; the name is one of a fixed list, the file's name one of ours. */
export async function openResult(status: JobStatus, name: ResultName, store: FileStore): Promise<OpenResult> {
  if (status.state !== "done")
    throw new Problem("not-ready", {
      detail: `the job is ${status.state}`,
      remedy: hasEnded(status) ? "GET the job to see why" : "wait until it is done",
    });
  const entry = (await readResults(store, status.id))?.files[name];
  const found = entry && (await store.open(entry.key));
  if (!found)
    throw new Problem("not-found", { detail: `the job has no ${name}`, remedy: "GET the job to see what it has, or name it in “save”" });
  const headers = {
    "Content-Type": contentType(entry.file),
    "Content-Length": String(found.size),
    "Content-Disposition": `attachment; filename="${entry.file}"`,
    "Cache-Control": "private, no-store",
  };
  return { headers, stream: found.stream };
}

interface Sending {
  readonly outgoing: ServerResponse;
  readonly onError: (error: unknown) => void;
}

/** The stream as a response's body. If it breaks off the connection does too, so that half a file is never taken for a whole. */
export function bodyOf(stream: Readable, { outgoing, onError }: Sending): ReadableStream<Uint8Array> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      } catch (error) {
        onError(error);
        outgoing.destroy();
        controller.close();
      }
    },
    cancel() {
      stream.destroy();
    },
  });
}
