import { Command, Option } from "commander";
import { closeSync, openSync, utimesSync } from "node:fs";
import { hostname } from "node:os";

import { asUserError } from "../depth/errors.ts";
import type { DepthOptions } from "../depth/options.ts";
import { UserError } from "../system/userError.ts";
import { DEVICES } from "../network/node/devices.ts";
import { openStore } from "../queue/openStore.ts";
import { createProcessRunner, SLOT_MEMORY, TIME_LIMIT } from "../queue/processRunner.ts";
import type { JobStatus } from "../queue/queue.ts";
import { startRedisWorker, type WorkerLog } from "../queue/redisWorker.ts";
import { withRedisQueue } from "./redisQueue.ts";
import { positiveNumber, wholeNumber } from "./numbers.ts";

interface WorkerOptions {
  readonly redis: string;
  readonly store?: string;
  readonly concurrency?: number;
  readonly together: number;
  readonly threads?: number;
  readonly device: DepthOptions["device"];
  /** GB. */
  readonly memory: number;
  /** Seconds. */
  readonly timeLimit: number;
  readonly grace: number;
  readonly lock: number;
  readonly scratch?: string;
  readonly heartbeat?: string;
  readonly deadLetters: boolean;
  readonly retry?: readonly string[];
  readonly json: boolean;
}

export function workerCommand(): Command {
  return new Command("worker")
    .addOption(new Option("--redis <URL>", "of the queue").env("DUALFOCUS_REDIS").makeOptionMandatory())
    .addOption(
      new Option("--store <PLACE>", "where the files are: a directory that all can see, or s3://bucket/prefix").env("DUALFOCUS_STORE"),
    )
    .option("--concurrency <N>", "processes that compute (default: one for each core, as far as the memory goes)", wholeNumber(1))
    .option("--threads <N>", "CPU threads of each process (default: the cores shared out)", wholeNumber(1))
    .addOption(new Option("--device <DEVICE>", "where the network runs").choices(DEVICES).default("auto"))
    .option(
      "--together <N>",
      "jobs in one process at the same time, whose stacks go through the network as a batch (GPU)",
      wholeNumber(1),
      1,
    )
    .option("--memory <GB>", "most each process may hold", positiveNumber, SLOT_MEMORY / 2 ** 30)
    .option("--time-limit <SECONDS>", "most one job may take", positiveNumber, TIME_LIMIT / 1000)
    .option(
      "--grace <SECONDS>",
      "time for running jobs to end when the worker is told to stop; then they are handed back",
      positiveNumber,
      25,
    )
    .option("--lock <SECONDS>", "silence after which another worker takes over a job", positiveNumber, 30)
    .option("--scratch <DIR>", "folder for files while a job runs (default: the system's for temporary files)")
    .option("--heartbeat <FILE>", "file whose time is set every few seconds, for supervisors")
    .option("--dead-letters", "list the jobs that failed for good, with the reason", false)
    .option("--retry <ID...>", "give these dead letters another chance; `all` for all")
    .option("--json", "print the list as one JSON document", false)
    .action(async (options: WorkerOptions) => {
      try {
        await (options.retry ? retryLetters(options, options.retry) : options.deadLetters ? listLetters(options) : work(options));
      } catch (error) {
        throw asUserError(error);
      }
    });
}

async function work(options: WorkerOptions): Promise<void> {
  const { redis: url, store, concurrency, together, threads, device, scratch, heartbeat } = options;
  if (store === undefined)
    throw new UserError("--store is missing", {
      exitCode: 2,
      remedy: "name the directory or s3://bucket/prefix that holds the jobs' files",
    });
  process.stderr.on("error", () => undefined); // whoever read the log is gone; the jobs go on
  await openStore(store); // what is wrong with it should be told now, not with the first job
  await withRedisQueue(url, (queue) => queue.ping());
  const runner = await createProcessRunner({
    ...{ store, together, device, memory: options.memory * 2 ** 30, timeLimit: options.timeLimit * 1000 },
    ...(concurrency === undefined ? {} : { processes: concurrency }),
    ...(threads === undefined ? {} : { threads }),
    ...(scratch === undefined ? {} : { scratch }),
  });
  const worker = startRedisWorker({
    ...{ url, runner, log, lock: options.lock * 1000, name: `${hostname()}-${process.pid}` },
    ...(heartbeat === undefined ? {} : { onBeat: touching(heartbeat) }),
  });
  await toldToStop();
  await worker.stop(options.grace * 1000);
  await runner.close();
}

/** One JSON document a line, on standard error. */
const log: WorkerLog = (event, facts = {}) => {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), event, ...facts })}\n`);
};

const touching = (file: string) => (): void => {
  closeSync(openSync(file, "a"));
  const now = new Date();
  utimesSync(file, now, now);
};

/** Ctrl-C or a supervisor's SIGTERM; the second one ends the program at once. */
function toldToStop(): Promise<void> {
  return new Promise((resolve) => {
    let told = false;
    const onSignal = (): void => {
      if (told) process.exit(130);
      told = true;
      resolve();
    };
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, onSignal);
  });
}

async function listLetters({ redis, json }: WorkerOptions): Promise<void> {
  const letters = await withRedisQueue(redis, (queue) => queue.deadLetters());
  process.stdout.write(json ? `${JSON.stringify({ deadLetters: letters })}\n` : letterTable(letters));
}

function letterTable(letters: readonly JobStatus[]): string {
  if (letters.length === 0) return "no dead letters\n";
  const rows = letters.map(({ id, error, attempts, endedAt }) => {
    const when = endedAt === undefined ? "" : new Date(endedAt).toISOString();
    return `${id}  ${when}  ${error?.code ?? ""} after ${attempts} attempts: ${error?.message ?? ""}\n`;
  });
  return rows.join("");
}

async function retryLetters({ redis, json }: WorkerOptions, ids: readonly string[]): Promise<void> {
  await withRedisQueue(redis, async (queue) => {
    const wanted = ids.includes("all") ? (await queue.deadLetters()).map(({ id }) => id) : ids;
    const retried: string[] = [];
    for (const id of wanted) {
      if (await queue.retry(id)) retried.push(id);
      else if (!ids.includes("all"))
        throw new UserError(`${id}: no such dead letter`, { exitCode: 2, remedy: "dualfocus worker --dead-letters lists them" });
    }
    process.stdout.write(json ? `${JSON.stringify({ retried })}\n` : `${retried.length} retried\n`);
  });
}
