import { Command, InvalidArgumentError, Option } from "commander";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { readingInput } from "../system/readingInput.ts";
import type { DepthOptions } from "../depth/options.ts";
import { UserError } from "../system/userError.ts";
import { DEVICES } from "../network/node/devices.ts";
import { createEmbeddedQueue } from "../queue/embeddedQueue.ts";
import { openStore } from "../queue/openStore.ts";
import { createProcessRunner, SLOT_MEMORY, TIME_LIMIT } from "../queue/processRunner.ts";
import type { JobQueue } from "../queue/queue.ts";
import { createRedisQueue } from "../queue/redisQueue.ts";
import { claimFolder } from "../serve/claim.ts";
import { isLoopback } from "../serve/guard.ts";
import { DEFAULT_LIMITS, type Limits } from "../serve/limits.ts";
import { createLog, type Log } from "../serve/log.ts";
import { loggedRunner } from "../serve/loggedRunner.ts";
import { startServer } from "../serve/server.ts";
import { withRedisQueue } from "./redisQueue.ts";
import { portNumber, positiveNumber } from "./numbers.ts";

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly store: string;
  readonly redis?: string;
  readonly tokenFile?: string;
  readonly cors: readonly string[];
  readonly proxy: boolean;
  readonly keep: number;
  readonly maxSize: number;
  readonly maxFile: number;
  readonly maxFrames: number;
  readonly maxMegapixels: number;
  readonly maxQueue: number;
  readonly rate: number;
  readonly timeLimit: number;
  readonly device: DepthOptions["device"];
  readonly concurrency?: number;
  readonly threads?: number;
  /** GB. */
  readonly memory: number;
}

const MEGABYTE = 1 << 20;

export function serveCommand(): Command {
  return new Command("serve")
    .option("--host <ADDRESS>", "where to listen; 0.0.0.0 for every address", "127.0.0.1")
    .option("--port <N>", "where to listen; 0 for any that is free", portNumber, 8080)
    .addOption(
      new Option("--store <DIR|s3://BUCKET/PREFIX>", "where pictures and results are kept")
        .env("DUALFOCUS_STORE")
        .default("dualfocus-data"),
    )
    .addOption(new Option("--redis <URL>", "queue jobs there for dualfocus worker, instead of computing them here").env("DUALFOCUS_REDIS"))
    .option("--token-file <FILE>", "clients must send the token in it; or set DUALFOCUS_TOKEN")
    .option("--cors <ORIGIN>", "let pages of this origin use the server; may be given several times", collect, [])
    .option("--proxy", "a proxy stands before the server and sets X-Forwarded-For", false)
    .option("--keep <HOURS>", "how long results are kept", positiveNumber, 24)
    .option("--max-size <MB>", "of one request", positiveNumber, DEFAULT_LIMITS.requestBytes / MEGABYTE)
    .option("--max-file <MB>", "of one picture", positiveNumber, DEFAULT_LIMITS.fileBytes / MEGABYTE)
    .option("--max-frames <N>", "of one stack", whole, DEFAULT_LIMITS.frames)
    .option("--max-megapixels <N>", "of one picture", positiveNumber, DEFAULT_LIMITS.pixels / 1e6)
    .option("--max-queue <N>", "jobs that may wait", whole, DEFAULT_LIMITS.queued)
    .option("--rate <N>", "requests a minute of one client (0: any number)", wholeOrNone, DEFAULT_LIMITS.requestsPerMinute)
    .option("--time-limit <SECONDS>", "for one job (without --redis)", positiveNumber, TIME_LIMIT / 1000)
    .addOption(new Option("--device <DEVICE>", "where jobs are computed (without --redis)").choices(DEVICES).default("auto"))
    .option("--concurrency <N>", "jobs at the same time (without --redis; default: one for each core)", whole)
    .option("--threads <N>", "CPU threads of each job (without --redis)", whole)
    .option("--memory <GB>", "most each process that computes may hold (without --redis)", positiveNumber, SLOT_MEMORY / 2 ** 30)
    .action(serve);
}

function whole(text: string): number {
  const value = wholeOrNone(text);
  if (value === 0) throw new InvalidArgumentError("It takes a whole number above 0.");
  return value;
}

function wholeOrNone(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isInteger(value) || value < 0) throw new InvalidArgumentError("It takes a whole number.");
  return value;
}

function collect(origin: string, before: readonly string[]): readonly string[] {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url?.origin !== origin) throw new InvalidArgumentError("It takes an origin such as https://example.org, without a path.");
  return [...before, origin];
}

async function serve(options: ServeOptions): Promise<void> {
  const log = createLog(process.stderr);
  const token = await readToken(options.tokenFile);
  if (token === undefined && !isLoopback(options.host))
    log("warning", "everybody who reaches this server may use it; give it a --token-file");
  const store = await openStore(options.store);
  const isFolder = !options.store.includes("://");
  const release = isFolder && options.redis === undefined ? await claimFolder(options.store) : () => Promise.resolve();
  try {
    const server = await startServer({
      queue: await openQueue(options, log),
      store,
      uploads: join(isFolder ? options.store : tmpdir(), ".uploads"),
      host: options.host,
      port: options.port,
      origins: options.cors,
      behindProxy: options.proxy,
      limits: limitsOf(options),
      keep: options.keep * 3600 * 1000,
      log,
      ...(token === undefined ? {} : { token }),
    });
    const stopped = stopSignal(); // before anyone can know that we are here
    process.stdout.write(`${server.url}\n`);
    await stopped;
    await server.close();
  } finally {
    await release();
  }
}

async function readToken(file: string | undefined): Promise<string | undefined> {
  const remedy = "put a long random word into it, such as openssl rand -hex 32 prints";
  const token =
    file === undefined ? process.env["DUALFOCUS_TOKEN"] : (await readingInput(file, remedy, () => readFile(file, "utf8"))).trim();
  if (token === undefined || /^[\w\-.~+/]{16,}=*$/.test(token)) return token;
  throw new UserError(`${file ?? "DUALFOCUS_TOKEN"}: a token has 16 or more letters, digits and -._~+/`, { exitCode: 2, remedy });
}

async function openQueue({ redis, store, device, concurrency, threads, timeLimit, memory }: ServeOptions, log: Log): Promise<JobQueue> {
  if (redis !== undefined) {
    await withRedisQueue(redis, (queue) => queue.ping()); // a wrong address should be told now
    return createRedisQueue(redis);
  }
  const runner = await createProcessRunner({
    store,
    device,
    timeLimit: timeLimit * 1000,
    memory: memory * 2 ** 30,
    ...(concurrency === undefined ? {} : { processes: concurrency }),
    ...(threads === undefined ? {} : { threads }),
  });
  return createEmbeddedQueue({ runner: loggedRunner(runner, log) });
}

const limitsOf = ({ maxSize, maxFile, maxFrames, maxMegapixels, maxQueue, rate }: ServeOptions): Limits => ({
  ...DEFAULT_LIMITS,
  requestBytes: maxSize * MEGABYTE,
  fileBytes: maxFile * MEGABYTE,
  frames: maxFrames,
  pixels: maxMegapixels * 1e6,
  queued: maxQueue,
  requestsPerMinute: rate,
});

const STOP = ["SIGINT", "SIGTERM"] as const;

/** Resolves at the first Ctrl-C or SIGTERM; the second ends the program at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const onFirst = (): void => {
      for (const signal of STOP) process.off(signal, onFirst);
      resolve();
    };
    for (const signal of STOP) process.on(signal, onFirst);
  });
}
