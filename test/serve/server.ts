import { mkdtempSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { connect } from "node:net";
import { join } from "node:path";
import { encodePng } from "../../src/io/png.ts";
import { createDirectoryStore } from "../../src/queue/directoryStore.ts";
import { createEmbeddedQueue } from "../../src/queue/embeddedQueue.ts";
import type { JobQueue } from "../../src/queue/queue.ts";
import type { JobRunner } from "../../src/queue/runner.ts";
import type { FileStore } from "../../src/queue/store.ts";
import { DEFAULT_LIMITS, type Limits } from "../../src/serve/limits.ts";
import type { LogFields } from "../../src/serve/log.ts";
import { startServer, type ServerOptions } from "../../src/serve/server.ts";
import { slantedStack } from "../helpers/texturedStack.ts";

export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly fields: LogFields;
}

/** A server that listens, and what it keeps. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly queue: JobQueue;
  readonly store: FileStore;
  readonly log: readonly LogLine[];
  /** Stops it, giving requests this many milliseconds. */
  readonly stop: (grace: number) => Promise<void>;
}

type Options = Partial<Omit<ServerOptions, "limits">> & { readonly limits?: Partial<Limits>; readonly runner?: JobRunner };

/** Takes jobs and never ends them. */
export const idleRunner: JobRunner = {
  slots: 1,
  run: (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        reject(signal.reason as Error);
      });
    }),
  close: () => Promise.resolve(),
};

/** Runs `body` with a server of its own on a free port and an empty folder; by default no job is ever computed. */
export async function withServer<T>(
  { limits, runner = idleRunner, ...options }: Options,
  body: (server: TestServer) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "dualfocus-serve-"));
  const store = createDirectoryStore(folder);
  const queue = options.queue ?? createEmbeddedQueue({ runner });
  const log: LogLine[] = [];
  const server = await startServer({
    queue,
    store,
    uploads: join(folder, ".uploads"),
    host: "127.0.0.1",
    port: 0,
    hosts: [],
    tokens: [],
    origins: [],
    behindProxy: false,
    minWorkers: 0,
    keep: 3600_000,
    log: (level, event, fields = {}) => log.push({ level, event, fields }),
    ...options,
    limits: { ...DEFAULT_LIMITS, requestsPerMinute: 0, freeBytes: 0, ...limits },
  });
  let closing: Promise<void> | undefined;
  const stop = (grace: number): Promise<void> => (closing ??= server.close({ grace }));
  try {
    return await body({ url: server.url, port: Number(new URL(server.url).port), folder, queue, store, log, stop });
  } finally {
    await stop(0);
    await rm(folder, { recursive: true });
  }
}

/** The files below a folder. */
export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Three pictures of 64×48 pixels that are a stack, as PNG; focus at 1, 2 and 3 metres. */
export function stackPictures(): Uint8Array<ArrayBuffer>[] {
  const { stack } = slantedStack({ width: 64, height: 48, planes: 3 });
  return stack.images.map((image) => new Uint8Array(encodePng(image)));
}

/** A form as a browser sends it. */
export function stackForm(pictures: readonly Uint8Array<ArrayBuffer>[], options?: unknown): FormData {
  const form = new FormData();
  pictures.forEach((bytes, n) => {
    form.append("frames", new Blob([bytes], { type: "image/png" }), `my holiday ${n}.png`);
  });
  if (options !== undefined) form.append("options", typeof options === "string" ? options : JSON.stringify(options));
  return form;
}

/** Sends bytes as they are, then reads until the server closes the connection or `patience` milliseconds have passed. */
export function sendRaw(port: number, parts: readonly (string | Uint8Array)[], { patience = 60_000 } = {}): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => {
      for (const part of parts) socket.write(part);
    });
    const timer = setTimeout(() => socket.destroy(), patience);
    socket.on("data", (data) => (answer += data.toString("latin1")));
    socket.on("error", () => undefined); // a server that has answered need not hear the rest
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(answer);
    });
  });
}
