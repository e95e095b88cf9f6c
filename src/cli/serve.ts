import { Command, InvalidArgumentError, Option } from "commander";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { cannotRead } from "../system/errno.ts";
import { UserError } from "../system/userError.ts";
import { DEVICES, type DeviceName } from "../network/node/devices.ts";
import { createEmbeddedQueue } from "../queue/embeddedQueue.ts";
import { isBucket, openStore } from "../queue/openStore.ts";
import { createProcessRunner, SLOT_MEMORY, TIME_LIMIT } from "../queue/processRunner.ts";
import type { JobQueue } from "../queue/queue.ts";
import { createRedisQueue, withRedisQueue } from "../queue/redisQueue.ts";
import { claimFolder } from "../serve/claim.ts";
import { isLoopback } from "../serve/guard.ts";
import { DEFAULT_LIMITS, type Limits } from "../serve/limits.ts";
import { createLog, loggedRunner, type Log } from "../serve/log.ts";
import { startServer, type ServerOptions } from "../serve/server.ts";
import { parseTokens, type Token } from "../serve/tenants.ts";
import { removeAbandoned, withTemporaryFolder } from "../system/temporaryFolder.ts";
import { portNumber, positiveNumber, wholeNumber } from "./arguments.ts";
import { aborted, stoppable } from "./stop.ts";

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly store: string;
  readonly redis?: string;
  readonly tokenFile?: string;
  /** False with --no-token. */
  readonly token: boolean;
  readonly allowHost: readonly string[];
  readonly cors: readonly string[];
  readonly proxy: boolean;
  readonly minWorkers: number;
  readonly maxConnections: number;
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
    .option("--token-file <FILE>", "file with the tokens that clients must send, with names and quotas; or set DUALFOCUS_TOKEN(S)")
    .option("--no-token", "let everyone who can reach the server use it; without a token it listens on loopback addresses only")
    .option(
      "--allow-host <NAME>",
      "answer to this host name, too; may be given several times (default: loopback names, --host)",
      hostList,
      [],
    )
    .option("--cors <ORIGIN>", "let web pages of this origin use the server; may be given several times", originList, [])
    .option("--proxy", "the server is behind a proxy that sets X-Forwarded-For", false)
    .option("--keep <HOURS>", "how long results are kept", positiveNumber, 24)
    .option("--max-size <MB>", "largest request", positiveNumber, DEFAULT_LIMITS.requestBytes / MEGABYTE)
    .option("--max-file <MB>", "largest image file", positiveNumber, DEFAULT_LIMITS.fileBytes / MEGABYTE)
    .option("--max-frames <N>", "most images of one stack", wholeNumber(1), DEFAULT_LIMITS.frames)
    .option("--max-megapixels <N>", "largest image", positiveNumber, DEFAULT_LIMITS.pixels / 1e6)
    .option("--max-queue <N>", "jobs that may wait", wholeNumber(1), DEFAULT_LIMITS.queued)
    .option("--rate <N>", "requests per minute of one client (0: unlimited)", wholeNumber(0), DEFAULT_LIMITS.requestsPerMinute)
    .option("--max-connections <N>", "connections of one client, without --proxy", wholeNumber(1), DEFAULT_LIMITS.connectionsPerClient)
    .option("--min-workers <N>", "workers there must be to report ready (with --redis); 0 if jobs start them", wholeNumber(0), 1)
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

function hostList(name: string, before: readonly string[]): readonly string[] {
  if (isIP(name) === 0 && !/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i.test(name))
    throw new InvalidArgumentError("Expected a name or address such as depth.example.org, without a port.");
  return [...before, name];
}

async function serve(options: ServeOptions): Promise<void> {
  const log = createLog(process.stderr);
  const tokens = await readTokens(options);
  const store = await openStore(options.store);
  if (isBucket(options.store)) {
    await removeAbandoned(tmpdir());
    await withTemporaryFolder(tmpdir(), (uploads) => run(options, { log, tokens, store, uploads }));
    return;
  }
  const release = options.redis === undefined ? await claimFolder(options.store) : () => undefined;
  try {
    await run(options, { log, tokens, store, uploads: join(options.store, ".uploads") });
  } finally {
    release();
  }
}

async function run(options: ServeOptions, own: Pick<ServerOptions, "log" | "tokens" | "store" | "uploads">): Promise<void> {
  const server = await startServer({
    ...own,
    queue: await openQueue(options, own.log),
    host: options.host,
    port: options.port,
    hosts: options.allowHost,
    origins: options.cors,
    behindProxy: options.proxy,
    minWorkers: options.redis === undefined ? 0 : options.minWorkers,
    limits: limitsOf(options),
    keep: options.keep * 3600 * 1000,
  });
  await stoppable(async (signal) => {
    process.stdout.write(`${server.url}\n`);
    await aborted(signal);
    await server.close();
  });
}

/** From the file, or from the environment, which loses them: processes that decode strangers' images have no use for tokens. */
async function readTokens({ host, token: isRequired, tokenFile: file }: ServeOptions): Promise<Token[]> {
  const { DUALFOCUS_TOKENS: several, DUALFOCUS_TOKEN: one } = process.env;
  delete process.env["DUALFOCUS_TOKENS"];
  delete process.env["DUALFOCUS_TOKEN"];
  const text =
    file === undefined ? (several ?? one) : await readFile(file, "utf8").catch((cause: unknown) => Promise.reject(cannotRead(file, cause)));
  if (text !== undefined) return parseTokens(text, file ?? (several === undefined ? "DUALFOCUS_TOKEN" : "DUALFOCUS_TOKENS"));
  if (!isRequired || isLoopback(host)) return [];
  throw new UserError(`without a token, everyone who can reach ${host} could use the server`, {
    exitCode: 2,
    remedy: "give it --token-file FILE or DUALFOCUS_TOKEN (openssl rand -hex 32 prints one), or --no-token if that is intended",
  });
}

async function openQueue({ redis, store, device, concurrency, threads, timeLimit, memory }: ServeOptions, log: Log): Promise<JobQueue> {
  if (redis !== undefined) {
    await withRedisQueue(redis, (queue) => queue.counts()); // reports a wrong address now
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

const limitsOf = ({ maxSize, maxFile, maxFrames, maxMegapixels, maxQueue, rate, maxConnections }: ServeOptions): Limits => ({
  ...DEFAULT_LIMITS,
  requestBytes: maxSize * MEGABYTE,
  fileBytes: maxFile * MEGABYTE,
  frames: maxFrames,
  pixels: maxMegapixels * 1e6,
  queued: maxQueue,
  requestsPerMinute: rate,
  connectionsPerClient: maxConnections,
});
