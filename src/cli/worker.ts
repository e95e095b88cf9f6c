import { Command, Option } from "commander";
import { closeSync, openSync, utimesSync } from "node:fs";
import { hostname } from "node:os";

import { UserError } from "../system/userError.ts";
import { DEVICES, type DeviceName } from "../network/node/devices.ts";
import { openStore } from "../queue/openStore.ts";
import { createProcessRunner, SLOT_MEMORY, TIME_LIMIT } from "../queue/processRunner.ts";
import type { JobStatus } from "../queue/queue.ts";
import { withRedisQueue } from "../queue/redisQueue.ts";
import { startRedisWorker, type WorkerLog } from "../queue/redisWorker.ts";
import { positiveNumber, wholeNumber } from "./arguments.ts";
import { aborted, stoppable } from "./stop.ts";

interface WorkerOptions {
  readonly redis: string;
  readonly store?: string;
  readonly concurrency?: number;
  readonly together: number;
  readonly threads?: number;
  readonly device: DeviceName;
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
    .addOption(new Option("--redis <URL>", "address of the queue").env("DUALFOCUS_REDIS").makeOptionMandatory())
    .addOption(
      new Option("--store <PLACE>", "where the files are: a directory that servers and workers share, or s3://bucket/prefix").env(
        "DUALFOCUS_STORE",
      ),
    )
    .option("--concurrency <N>", "processes that compute (default: one per core, as far as the memory goes)", wholeNumber(1))
    .option("--threads <N>", "CPU threads of each process (default: an equal share of the cores)", wholeNumber(1))
    .addOption(new Option("--device <DEVICE>", "where the network runs").choices(DEVICES).default("auto"))
    .option(
      "--together <N>",
      "jobs in one process at the same time, whose stacks run through the network as a batch (GPU)",
      wholeNumber(1),
      1,
    )
    .option("--memory <GB>", "memory limit of each process", positiveNumber, SLOT_MEMORY / 2 ** 30)
    .option("--time-limit <SECONDS>", "time limit of one job", positiveNumber, TIME_LIMIT / 1000)
    .option(
      "--grace <SECONDS>",
      "time for running jobs to finish when the worker is asked to stop; then they return to the queue",
      positiveNumber,
      25,
    )
    .option("--lock <SECONDS>", "time without a sign of life after which another worker takes over a job", positiveNumber, 30)
    .option("--scratch <DIR>", "folder for files while a job runs (default: the system's temporary folder)")
    .option("--heartbeat <FILE>", "file whose modification time is updated every few seconds, for supervisors")
    .option("--dead-letters", "list the jobs that failed for good, with their reasons", false)
    .option("--retry <ID...>", "retry these dead letters; `all` for all of them")
    .option("--json", "print the list as one JSON document", false)
    .action(async (options: WorkerOptions) => {
      await (options.retry ? retryLetters(options, options.retry) : options.deadLetters ? listLetters(options) : work(options));
    });
}

async function work(options: WorkerOptions): Promise<void> {
  const { redis: url, store, concurrency, together, threads, device, scratch, heartbeat } = options;
  if (store === undefined)
    throw new UserError("--store is missing", {
      exitCode: 2,
      remedy: "name the directory or s3://bucket/prefix that holds the jobs' files",
    });
  process.stderr.on("error", () => undefined); // whoever read the log is gone; the jobs continue
  await openStore(store); // reports what is wrong with it now, not with the first job
  await withRedisQueue(url, (queue) => queue.counts()); // reports a wrong address now
  const runner = await createProcessRunner({
    ...{ store, together, device, memory: options.memory * 2 ** 30, timeLimit: options.timeLimit * 1000 },
    ...(concurrency === undefined ? {} : { processes: concurrency }),
    ...(threads === undefined ? {} : { threads }),
    ...(scratch === undefined ? {} : { scratch }),
  });
  await stoppable(async (signal) => {
    const worker = startRedisWorker({
      ...{ url, runner, log, lock: options.lock * 1000, name: `${hostname()}-${process.pid}` },
      ...(heartbeat === undefined ? {} : { onBeat: touching(heartbeat) }),
    });
    await aborted(signal);
    await worker.stop(options.grace * 1000);
    await runner.close();
  });
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
