import { Command, InvalidArgumentError, Option } from "commander";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { cannotRead } from "../system/errno.ts";
import { UserError } from "../system/userError.ts";
import { DEVICES, type DeviceName } from "../network/node/devices.ts";
import { createEmbeddedQueue } from "../queue/embeddedQueue.ts";
import { openStore } from "../queue/openStore.ts";
import { createProcessRunner, SLOT_MEMORY, TIME_LIMIT } from "../queue/processRunner.ts";
import type { JobQueue } from "../queue/queue.ts";
import { createRedisQueue, withRedisQueue } from "../queue/redisQueue.ts";
import { claimFolder } from "../serve/claim.ts";
import { isLoopback } from "../serve/guard.ts";
import { DEFAULT_LIMITS, type Limits } from "../serve/limits.ts";
import { createLog, loggedRunner, type Log } from "../serve/log.ts";
import { startServer } from "../serve/server.ts";
import { portNumber, positiveNumber, wholeNumber } from "./arguments.ts";
import { aborted, stoppable } from "./stop.ts";

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
  readonly device: DeviceName;
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
      new Option("--store <DIR|s3://BUCKET/PREFIX>", "where images and results are kept").env("DUALFOCUS_STORE").default("dualfocus-data"),
    )
    .addOption(new Option("--redis <URL>", "queue jobs there for dualfocus worker, instead of computing them here").env("DUALFOCUS_REDIS"))
    .option("--token-file <FILE>", "file with the token that clients must send; or set DUALFOCUS_TOKEN")
    .option("--cors <ORIGIN>", "let web pages of this origin use the server; may be given several times", originList, [])
    .option("--proxy", "the server is behind a proxy that sets X-Forwarded-For", false)
    .option("--keep <HOURS>", "how long results are kept", positiveNumber, 24)
    .option("--max-size <MB>", "largest request", positiveNumber, DEFAULT_LIMITS.requestBytes / MEGABYTE)
    .option("--max-file <MB>", "largest image file", positiveNumber, DEFAULT_LIMITS.fileBytes / MEGABYTE)
    .option("--max-frames <N>", "most images of one stack", wholeNumber(1), DEFAULT_LIMITS.frames)
    .option("--max-megapixels <N>", "largest image", positiveNumber, DEFAULT_LIMITS.pixels / 1e6)
    .option("--max-queue <N>", "jobs that may wait", wholeNumber(1), DEFAULT_LIMITS.queued)
    .option("--rate <N>", "requests per minute of one client (0: unlimited)", wholeNumber(0), DEFAULT_LIMITS.requestsPerMinute)
    .option("--time-limit <SECONDS>", "time limit of one job (without --redis)", positiveNumber, TIME_LIMIT / 1000)
    .addOption(new Option("--device <DEVICE>", "where jobs are computed (without --redis)").choices(DEVICES).default("auto"))
    .option("--concurrency <N>", "jobs at the same time (without --redis; default: one per core)", wholeNumber(1))
    .option("--threads <N>", "CPU threads of each job (without --redis)", wholeNumber(1))
    .option("--memory <GB>", "memory limit of each process that computes (without --redis)", positiveNumber, SLOT_MEMORY / 2 ** 30)
    .action(serve);
}

function originList(origin: string, before: readonly string[]): readonly string[] {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url?.origin !== origin) throw new InvalidArgumentError("Expected an origin such as https://example.org, without a path.");
  return [...before, origin];
}

async function serve(options: ServeOptions): Promise<void> {
  const log = createLog(process.stderr);
  const token = await readToken(options.tokenFile);
  if (token === undefined && !isLoopback(options.host))
    log("warning", "everyone who can reach this server may use it; give it a --token-file");
  const store = await openStore(options.store);
  const isFolder = !options.store.includes("://");
  const release = isFolder && options.redis === undefined ? await claimFolder(options.store) : () => undefined;
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
    await stoppable(async (signal) => {
      process.stdout.write(`${server.url}\n`);
      await aborted(signal);
      await server.close();
    });
  } finally {
    release();
  }
}

async function readToken(file: string | undefined): Promise<string | undefined> {
  const text =
    file === undefined
      ? process.env["DUALFOCUS_TOKEN"]
      : await readFile(file, "utf8").catch((cause: unknown) => Promise.reject(cannotRead(file, cause)));
  const token = text?.trim();
  if (token === undefined || /^[\w\-.~+/]{16,}=*$/.test(token)) return token;
  throw new UserError(`${file ?? "DUALFOCUS_TOKEN"}: a token has 16 or more letters, digits and -._~+/`, {
    exitCode: 2,
    remedy: "use a long random one, such as openssl rand -hex 32 prints",
  });
}

async function openQueue({ redis, store, device, concurrency, threads, timeLimit, memory }: ServeOptions, log: Log): Promise<JobQueue> {
  if (redis !== undefined) {
    await withRedisQueue(redis, (queue) => queue.ping()); // reports a wrong address now
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
