import type { RawPixels } from "../../../src/io/libraw.ts";
import { rawSeconds } from "../../../src/stack/rawImage.ts";
import type { RawReply, RawRequest } from "./rawProtocol.ts";

/** The build puts LibRaw and the worker that runs it beside the page's scripts. */
const WORKER = "../libraw/worker.js";
/** After so many milliseconds without a file its memory is freed. */
const IDLE = 20_000;

let worker: Worker | undefined;
let idle: ReturnType<typeof setTimeout> | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Develops a raw file; undefined if LibRaw cannot, or does not come to an end. One after the other, so that each has its time to itself.
 * LibRaw, 1.5 MB, is fetched by the first such file.
 */
export function decodeRaw(bytes: Uint8Array, signal?: AbortSignal): Promise<RawPixels | undefined> {
  const developed = last.then(() => develop(bytes, signal));
  last = developed.catch(() => undefined);
  return developed;
}

async function develop(bytes: Uint8Array, signal?: AbortSignal): Promise<RawPixels | undefined> {
  signal?.throwIfAborted();
  clearTimeout(idle);
  worker ??= new Worker(new URL(WORKER, location.href), { type: "module" });
  try {
    const reply = await replyOf(worker, bytes, signal);
    if (!reply) stopWorker();
    else if ("failure" in reply) throw cannotLoad(reply.failure);
    else return reply.pixels;
  } catch (error) {
    stopWorker(); // the next file tries again
    throw error;
  } finally {
    idle = setTimeout(stopWorker, IDLE);
  }
  return undefined;
}

/** Undefined if there is none in time. */
async function replyOf(asked: Worker, bytes: Uint8Array, signal?: AbortSignal): Promise<RawReply | undefined> {
  const over = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const listening = { signal: over.signal };
      const onReply = ({ data }: MessageEvent<RawReply>): void => {
        resolve(data);
      };
      const onError = ({ message }: ErrorEvent): void => {
        reject(cannotLoad(message));
      };
      const onAbort = (): void => {
        reject(signal?.reason as Error);
      };
      asked.addEventListener("message", onReply, listening);
      asked.addEventListener("error", onError, listening);
      signal?.addEventListener("abort", onAbort, listening);
      timer = setTimeout(resolve, 1000 * rawSeconds(bytes.length), undefined);
      const request: RawRequest = { bytes };
      asked.postMessage(request);
    });
  } finally {
    over.abort();
    clearTimeout(timer);
  }
}

function stopWorker(): void {
  worker?.terminate();
  worker = undefined;
}

const cannotLoad = (cause: string): Error => new Error(`the decoder of raw files could not be loaded${cause ? ` (${cause})` : ""}`);
