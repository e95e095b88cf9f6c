import { problemWords } from "./state/words.ts";
import type { Calls, CallName, Event, Problem, Reply, Request, Thumbnail } from "./worker/protocol.ts";

/** Why the worker could not do what it was asked, in the page's words. */
export class WorkerProblem extends Error {
  override readonly name = "WorkerProblem";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** The user cancelled the call. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: Event) => void;
}

/** Calls to the worker. */
export interface Client {
  call<N extends CallName>(name: N, ask: Calls[N]["ask"], options?: CallOptions): Promise<Calls[N]["answer"]>;
}

interface Waiting {
  readonly resolve: (answer: Calls[CallName]["answer"]) => void;
  readonly reject: (error: Error) => void;
  readonly onEvent: ((event: Event) => void) | undefined;
}

/** The page's end of a worker. */
interface RequestPort extends Pick<Worker, "addEventListener"> {
  postMessage(request: Request): void;
}

/**
 * A cancelled call ends at once for the page; the worker stops at its next step. Thumbnails made on the way are sent once, so they count
 * even then.
 */
export function createClient(worker: RequestPort, onThumbnail: (thumbnail: Thumbnail) => void = () => undefined): Client {
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  const settle = (id: number, end: (call: Waiting) => void): void => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (call) end(call);
  };
  worker.addEventListener("message", ({ data }: MessageEvent<Reply>) => {
    if ("event" in data && data.event.kind === "thumbnail") onThumbnail(data.event);
    else if ("event" in data) waiting.get(data.id)?.onEvent?.(data.event);
    else
      settle(data.id, ({ resolve, reject }) => {
        if ("answer" in data) resolve(data.answer);
        else reject("problem" in data ? new WorkerProblem(problemWords(data.problem)) : new Cancelled("stopped"));
      });
  });
  worker.addEventListener("error", ({ message }) => {
    for (const id of [...waiting.keys()])
      settle(id, ({ reject }) => {
        reject(new WorkerProblem({ message: message || "The worker could not start.", remedy: "Load the page again." }));
      });
  });
  return {
    call: <N extends CallName>(name: N, ask: Calls[N]["ask"], { signal, onEvent }: CallOptions = {}) =>
      new Promise<Calls[N]["answer"]>((resolve, reject) => {
        const id = (calls += 1);
        waiting.set(id, { resolve: resolve, reject, onEvent });
        signal?.addEventListener("abort", () => {
          worker.postMessage({ cancel: id });
          settle(id, (call) => {
            call.reject(new Cancelled("stopped"));
          });
        });
        worker.postMessage({ id, call: name, ask } as Request);
      }),
  };
}
