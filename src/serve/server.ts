import { getRequestListener } from "@hono/node-server";
import { createServer, STATUS_CODES, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

import { listen } from "../system/listen.ts";
import { makeFolder } from "../system/outputFolder.ts";
import { removeAbandoned, removeOwn } from "../system/temporaryFolder.ts";
import type { JobQueue } from "../queue/queue.ts";
import type { FileStore } from "../queue/store.ts";
import { createApp } from "./app.ts";
import { limitConnections } from "./connections.ts";
import type { Limits } from "./limits.ts";
import type { Log } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { asProblem, Problem, problemBody, problemResponse, PROBLEMS, type ProblemCode } from "./problem.ts";
import type { Protection } from "./protect.ts";
import { createReadiness } from "./readiness.ts";
import { createSweeper } from "./sweeper.ts";

export interface ServerOptions extends Omit<Protection, "metrics"> {
  /** The server closes it when it stops. */
  readonly queue: JobQueue;
  readonly store: FileStore;
  /** A folder for what is being received; on the store's disk if that is a directory. */
  readonly uploads: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Workers that there must be for the server to be ready; 0 where they are started when jobs wait. */
  readonly minWorkers: number;
  /** Milliseconds for which the files of ended jobs are kept. */
  readonly keep: number;
}

export interface RunningServer {
  readonly url: string;
  /** Accepts no new requests, gives running ones this many milliseconds to end, and tidies up. */
  close(options?: { readonly grace?: number }): Promise<void>;
}

const GRACE = 10_000;

/** Starts to listen. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { store, limits, log } = options;
  const queue = reachable(options.queue, log);
  const stop = new AbortController();
  await makeFolder(options.uploads, { mode: 0o700 });
  await removeAbandoned(options.uploads);
  const readiness = createReadiness({ ...options, stopping: stop.signal });
  const metrics = createMetrics({ queue, readiness });
  const app = createApp({ ...options, queue, metrics, readiness, stopping: stop.signal });
  const server = listenerFor((request, environment) => app.fetch(request, environment), limits);
  if (!options.behindProxy) shareConnections(server, { limits, metrics });
  await listen(server, options);
  const sweeper = createSweeper({ queue, store, keep: options.keep, log, onSwept: metrics.swept });
  const { address, port } = server.address() as AddressInfo;
  const url = `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
  log("info", "listening", { url });
  return {
    url,
    async close({ grace = GRACE } = {}) {
      stop.abort(); // ends the streams of events, and nothing new is accepted
      sweeper.close();
      await closeServer(server, grace);
      await removeOwn(options.uploads); // of uploads that were cut off
      await queue.close();
      log("info", "stopped");
    },
  };
}

type Fetch = Parameters<typeof getRequestListener>[0];

function listenerFor(fetch: Fetch, limits: Limits): Server {
  const answers = new WeakMap<Duplex, ServerResponse>();
  const listener = getRequestListener(fetch, {
    overrideGlobalObjects: false,
    errorHandler: (error) => problemResponse(error instanceof Error && error.name === "RequestError" ? malformed(error) : asProblem(error)),
  });
  const server = createServer(
    {
      headersTimeout: limits.headerSeconds * 1000,
      requestTimeout: limits.requestSeconds * 1000,
      connectionsCheckingInterval: Math.min(1000, limits.headerSeconds * 250),
      keepAliveTimeout: 5000,
      maxHeaderSize: 16 << 10,
      requireHostHeader: false, // a request without one is refused later, with a reason
    },
    (request, response) => {
      answers.set(request.socket, response);
      void listener(request, response);
    },
  );
  server.maxConnections = limits.connections;
  server.timeout = 4 * 1000 * Math.max(limits.idleSeconds, limits.heartbeatSeconds); // of a connection on which nothing moves, either way
  server.on("checkExpectation", (_request, response: ServerResponse) => {
    const problem = new Problem("expectation", { detail: "the Expect header asks for more than 100-continue", remedy: "leave it out" });
    response.writeHead(PROBLEMS.expectation.status, { "Content-Type": "application/problem+json", Connection: "close" });
    response.end(problemBody(problem));
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    refuse(socket, { error, hasAnswered: answers.get(socket)?.headersSent === true });
  });
  return server;
}

const malformed = (cause: unknown): Problem =>
  new Problem("bad-request", { detail: "the request line or a header is malformed", remedy: "send plain HTTP/1.1", cause });

const CLIENT_ERRORS: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ["timeout", "the request took too long to arrive"],
  HPE_HEADER_OVERFLOW: ["header-too-large", "the headers are too large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["too-large", "the chunk extensions are too large"],
};

/** Answers what never became a request. Where an answer has begun another would be taken for part of it. */
function refuse(socket: Duplex, { error, hasAnswered }: { error: NodeJS.ErrnoException; hasAnswered: boolean }): void {
  if (error.code === "ECONNRESET" || !socket.writable || hasAnswered) {
    socket.destroy();
    return;
  }
  const [code, detail] = CLIENT_ERRORS[error.code ?? ""] ?? ["bad-request", "this is not HTTP/1.1"];
  answerAndClose(socket, new Problem(code, { detail, remedy: "send the request again, whole and well-formed" }));
}

function shareConnections(server: Server, { limits, metrics }: { limits: Limits; metrics: Metrics }): void {
  const perClient = limits.connectionsPerClient;
  const detail = `more than ${perClient} connections from one address`;
  const problem = new Problem("rate-limited", { detail, remedy: "close some, or use one for several requests" });
  limitConnections(server, {
    perClient,
    onRefused: (socket) => {
      metrics.connectionRefused();
      answerAndClose(socket, problem);
    },
  });
}

/** Without Node's answer to a request, of which there is none. */
function answerAndClose(socket: Duplex, problem: Problem): void {
  const body = problemBody(problem);
  const { status } = PROBLEMS[problem.code];
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
  socket.end(head + body, () => socket.destroy());
}

/** The same queue, whose failures clients see as what they are: it cannot be reached at the moment. */
function reachable(queue: JobQueue, log: Log): JobQueue {
  const answered = async <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((cause: unknown) => {
      log("error", "queue failed", { cause: String(cause) });
      const remedy = "try again in 5 seconds";
      throw new Problem("busy", { detail: "the queue cannot be reached", remedy, headers: { "Retry-After": "5" }, cause });
    });
  return {
    submit: (job) => answered(queue.submit(job)),
    get: (id) => answered(queue.get(id)),
    subscribe: (id, options) => queue.subscribe(id, options),
    remove: (id) => answered(queue.remove(id)),
    counts: () => answered(queue.counts()),
    usage: (tenant) => answered(queue.usage(tenant)),
    ping: () => queue.ping(),
    close: () => queue.close(),
  };
}

async function closeServer(server: Server, grace: number): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  server.closeIdleConnections();
  const force = setTimeout(() => {
    server.closeAllConnections();
  }, grace);
  await closed;
  clearTimeout(force);
}
