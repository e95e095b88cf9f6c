import "./plainZod.ts";

import { EngineError } from "../../../src/engine/errors.ts";
import { reportOf, type ErrorReport } from "../../../src/errors.ts";
import { turnedFigures } from "../state/turn.ts";
import { restartOnProcessor, startEngine, type EngineRequest, type NetworkEngine } from "./engine.ts";
import { paperFigures } from "./figures.ts";
import { firstLook } from "./firstLook.ts";
import { checkJob, describeJob, openJob, refocusJob, runJob, type Caller, type FinishedJob, type Job } from "./job.ts";
import { packImages, unpackImages } from "./packedImages.ts";
import { unpackFiles } from "./unpack.ts";
import type { Calls, CallName, PackedImages, Reply, Request, RunResult } from "./protocol.ts";

/** What a worker's global object has and a window's has not. */
interface WorkerScope {
  postMessage(reply: Reply, transfer?: Transferable[]): void;
  addEventListener(kind: "message", listener: (event: { readonly data: Request }) => void): void;
}
const scope = self as unknown as WorkerScope;

let engine: Promise<NetworkEngine> | undefined;
let request: EngineRequest | undefined;
let job: Job | undefined;
/** Stays until the next result, whatever is opened meanwhile: its views go on working. */
let finished: FinishedJob | undefined;

const current = (): Job => {
  if (!job) throw new Error("no stack is open");
  return job;
};

const ready = (): Promise<NetworkEngine> => {
  if (!engine) throw new Error("the network has not been started");
  return engine;
};

const last = (): FinishedJob => {
  if (!finished) throw new Error("there is no result yet");
  return finished;
};

/** Graphics cards run out of memory and drivers give up; the processor goes on. Any other failure stays one. */
async function replaceFailedGraphics(error: unknown, { onEvent }: Caller): Promise<void> {
  if (!(error instanceof EngineError) || !request || (await ready()).info.device !== "webgpu") throw error;
  engine = restartOnProcessor(request, error, onEvent);
  await engine;
}

type Handlers = { readonly [N in CallName]: (ask: Calls[N]["ask"], caller: Caller) => Promise<Calls[N]["answer"]> };

const handlers: Handlers = {
  start: async ({ page, ...wish }, { onEvent }) => {
    request = { page, wish };
    engine = startEngine(request, onEvent);
    return (await engine).info;
  },
  unpack: ({ files }, caller) => unpackFiles(files, caller),
  open: async (ask, caller) => {
    job = await openJob(ask, caller, () => present);
    return describeJob(job);
  },
  focus: async (choice) => {
    job = await refocusJob(current(), choice);
    return describeJob(job);
  },
  check: async ({ align }, caller) => {
    const checked = await checkJob(current(), align, caller);
    job = checked.job;
    return checked.answer;
  },
  run: async ({ align }, caller) => {
    const attempt = async (): Promise<Awaited<ReturnType<typeof runJob>>> => runJob(current(), { align, engine: await ready(), caller });
    const ran = await attempt().catch(async (error: unknown) => {
      await replaceFailedGraphics(error, caller);
      return attempt();
    });
    finished = ran.finished;
    return ran.result;
  },
  firstLook: async (_, caller) => firstLook(current(), (await ready()).network, caller),
  turn: async () => {
    finished = turned(last());
    if (!job || job.id !== finished.id) return undefined;
    const leftOut = describeJob(job).leftOut.map(({ frame }) => frame);
    job = await refocusJob(job, { unit: "index", order: finished.frames, leftOut });
    return describeJob(job);
  },
  pack: () => Promise.resolve(packImages(last().stack.images)),
  restore: async ({ stack, files }, caller) => {
    job = files && (await openJob(files, caller, () => present));
    finished = { id: job?.id, frames: job?.source.frames ?? [], stack: { ...stack, images: unpackImages(stack) }, figures: undefined };
    return job && describeJob(job);
  },
  picture: ({ plane }) => {
    const image = last().stack.images[plane];
    return image ? Promise.resolve(image) : Promise.reject(new RangeError(`there is no plane ${plane}`));
  },
  figures: async () => {
    const { figures, stack } = last();
    return figures ?? paperFigures((await ready()).network, stack);
  },
};

/** The same result with its planes in the opposite order. */
function turned({ id, frames, stack, figures }: FinishedJob): FinishedJob {
  return {
    id,
    frames: [...frames].reverse(),
    stack: { ...stack, images: [...stack.images].reverse() },
    figures: figures && turnedFigures(figures, stack.images.length),
  };
}

const running = new Map<number, AbortController>();
let queue: Promise<void> = Promise.resolve();
/** The signal of the queued call being answered. */
let present: AbortSignal | undefined;

scope.addEventListener("message", ({ data }) => {
  if ("cancel" in data) {
    running.get(data.cancel)?.abort();
    return;
  }
  const controller = new AbortController();
  running.set(data.id, controller);
  const work = (): Promise<void> => answer(data, controller.signal).finally(() => running.delete(data.id));
  const isAside = data.call === "start" || data.call === "firstLook"; // beside opening and checking
  if (isAside) void work();
  else
    queue = queue.then(() => {
      present = controller.signal;
      return work();
    });
});

async function answer(request: Exclude<Request, { cancel: number }>, signal: AbortSignal): Promise<void> {
  const { id, call, ask } = request;
  const caller: Caller = {
    signal,
    onEvent: (event) => {
      if (!signal.aborted || event.kind === "thumbnail") scope.postMessage({ id, event });
    },
  };
  try {
    signal.throwIfAborted();
    const handle = handlers[call] as (ask: unknown, caller: Caller) => Promise<Calls[CallName]["answer"]>;
    const result = await handle(ask, caller);
    signal.throwIfAborted();
    scope.postMessage({ id, answer: result }, handedOver(call, result));
  } catch (error) {
    scope.postMessage(signal.aborted ? { id, cancelled: true } : { id, problem: reportedAs(error) });
  }
}

/** Large arrays change hands instead of being copied. */
function handedOver(call: CallName, result: Calls[CallName]["answer"]): Transferable[] {
  if (call === "run") return buffersOf(result as RunResult);
  return call === "pack" ? (result as PackedImages).images.map(({ buffer }) => buffer as ArrayBuffer) : [];
}

function buffersOf({ result, sharpness }: RunResult): Transferable[] {
  const { depth, confidence, error, beyond, filled, allInFocus, planeIndex, probability } = result;
  const arrays = [
    depth.values,
    depth.valid,
    confidence,
    allInFocus?.data,
    planeIndex,
    probability?.data,
    error,
    beyond,
    filled,
    sharpness.data,
  ];
  return [...new Set(arrays.flatMap((array) => (array ? [array.buffer as ArrayBuffer] : [])))];
}

/** How browsers say it. */
const OUT_OF_MEMORY = /allocation failed|invalid (typed )?array length|out of memory/i;

function reportedAs(error: unknown): ErrorReport {
  if (error instanceof RangeError && OUT_OF_MEMORY.test(error.message))
    return { code: "image-too-large", message: "there is not enough memory for images of this size", facts: {} };
  return reportOf(error);
}
