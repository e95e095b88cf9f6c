import type { RawPixels } from "../../../src/io/libraw.ts";
import type { RawReply, RawRequest } from "./rawProtocol.ts";

/** The build puts LibRaw and the worker that runs it beside the page's scripts. */
const WORKER = "../libraw/worker.js";
/** After so many milliseconds without a file its memory is freed. */
const IDLE = 20_000;

interface Decoder {
  readonly worker: Worker;
  readonly waiting: Map<number, { resolve: (pixels: RawPixels | undefined) => void; reject: (error: Error) => void }>;
}

let decoder: Decoder | undefined;
let files = 0;
let idle: ReturnType<typeof setTimeout> | undefined;

/** Develops a raw file; undefined if LibRaw cannot. LibRaw, 1.5 MB, is fetched by the first such file. */
export function decodeRaw(bytes: Uint8Array): Promise<RawPixels | undefined> {
  clearTimeout(idle);
  const { worker, waiting } = (decoder ??= startDecoder());
  const id = (files += 1);
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    const request: RawRequest = { id, bytes };
    worker.postMessage(request);
  });
}

function startDecoder(): Decoder {
  const worker = new Worker(new URL(WORKER, location.href), { type: "module" });
  const waiting: Decoder["waiting"] = new Map();
  worker.addEventListener("message", ({ data }: MessageEvent<RawReply>) => {
    const { resolve, reject } = waiting.get(data.id) ?? {};
    waiting.delete(data.id);
    if ("failure" in data) reject?.(cannotLoad(data.failure));
    else resolve?.(data.pixels);
    if (waiting.size === 0) idle = setTimeout(stopDecoder, IDLE);
  });
  worker.addEventListener("error", ({ message }) => {
    for (const { reject } of waiting.values()) reject(cannotLoad(message));
    stopDecoder(); // the next file tries again
  });
  return { worker, waiting };
}

function stopDecoder(): void {
  decoder?.worker.terminate();
  decoder = undefined;
}

const cannotLoad = (cause: string): Error => new Error(`the decoder of raw files could not be loaded${cause ? ` (${cause})` : ""}`);
