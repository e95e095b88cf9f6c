// The queue's overhead for an empty job, and the gain of a second worker.
//   nice node --import tsx bench/serve.ts [--stack examples/desk] [--jobs 40] [--noops 300] [--repeats 2] [--skip throughput]
// Needs redis-server. The workers are processes of `dualfocus worker` with one thread each; both are warm before the clock starts.
import { Redis } from "ioredis";
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { depthSettings } from "../src/depth/settings.ts";
import { createDirectoryStore } from "../src/queue/directoryStore.ts";
import { frameOf, type Job } from "../src/queue/job.ts";
import type { JobQueue } from "../src/queue/queue.ts";
import { createRedisQueue } from "../src/queue/redisQueue.ts";
import { startRedisWorker, type RedisWorker } from "../src/queue/redisWorker.ts";
import { stackJob, uploadStack } from "../src/queue/stackJob.ts";
import { end, freePort, PROGRAM, startRedis } from "./services.ts";
import { option } from "./timing.ts";

const [jobs, noops, repeats] = [option("jobs", "40"), option("noops", "300"), option("repeats", "2")].map(Number) as [
  number,
  number,
  number,
];
const stack = option("stack", join(import.meta.dirname, "..", "examples", "desk"));

async function whenDone(queue: JobQueue, count: number): Promise<void> {
  for (;;) {
    const { done, failed } = await queue.counts();
    if (failed > 0) throw new Error(`bench: ${failed} jobs failed`);
    if (done >= count) return;
    await setTimeout(20);
  }
}

interface Cost {
  /** Milliseconds from submit to done, nothing else waiting. */
  readonly alone: number;
  /** Milliseconds for each of many that wait for one slot. */
  readonly inLine: number;
  /** Milliseconds for each with many slots: what Redis and one process of ours can pass on. */
  readonly abreast: number;
  /** Commands that Redis carries out for one job. */
  readonly commands: number;
}

const noop = (id: string): Job => ({ id, frames: [frameOf(id, 0, "png")], settings: depthSettings.parse({}) });

const startNoops = (url: string, slots: number): RedisWorker =>
  startRedisWorker({ url, name: "bench", runner: { slots, run: () => Promise.resolve(), close: () => Promise.resolve() } });

/** Milliseconds for each of many jobs that take no time. */
async function many(url: string, slots: number): Promise<number> {
  const queue = createRedisQueue(url);
  const worker = startNoops(url, slots);
  const [before, start] = [(await queue.counts()).done, performance.now()];
  await Promise.all(Array.from({ length: noops }, () => queue.submit(noop(randomUUID()))));
  await whenDone(queue, before + noops);
  const each = (performance.now() - start) / noops;
  await worker.stop(1000);
  await queue.close();
  return each;
}

async function overhead(url: string): Promise<Cost> {
  const redis = new Redis(url);
  const commands = async (): Promise<number> => Number(/total_commands_processed:(\d+)/.exec(await redis.info("stats"))?.[1]);
  const queue = createRedisQueue(url);
  const worker = startNoops(url, 1);
  const alone: number[] = [];
  for (let i = 0; i < 50; i++) {
    const [id, start] = [randomUUID(), performance.now()];
    await queue.submit(noop(id));
    for await (const { state } of queue.subscribe(id, { signal: AbortSignal.timeout(10_000) })) if (state === "done") break;
    alone.push(performance.now() - start);
  }
  await worker.stop(1000);
  await queue.close();
  const inLine = await many(url, 1);
  const before = await commands();
  const abreast = await many(url, 32);
  const used = (await commands()) - before;
  redis.disconnect();
  return { alone: alone.sort((a, b) => a - b)[25] as number, inLine, abreast, commands: used / noops };
}

/** Processor seconds of a process and those it started, so far (Linux). */
function processorSeconds(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]); // user and system, in hundredths of a second
  return ticks / 100 + children.reduce((sum, child) => sum + processorSeconds(child), 0);
}

interface Rate {
  /** Stacks a second. */
  readonly rate: number;
  /** Processor seconds of one stack. */
  readonly work: number;
}

/** Throughput of this many workers. */
async function throughput(url: string, { folder, workers }: { folder: string; workers: number }): Promise<Rate> {
  const store = createDirectoryStore(join(folder, "store"));
  const queue = createRedisQueue(url);
  const args = [...PROGRAM, "worker", "--redis", url];
  const more = ["--store", store.name, "--concurrency", "1", "--threads", "1", "--device", "cpu", "--scratch", join(folder, "scratch")];
  const processes = Array.from({ length: workers }, () =>
    spawn(process.execPath, [...args, ...more], { stdio: ["ignore", "ignore", "pipe"] }),
  );
  const warm = new Set<ChildProcess>();
  for (const child of processes)
    child.stderr.on("data", (text: Buffer) => {
      if (text.includes("job-done")) warm.add(child);
    });
  const { job, files } = await stackJob(stack, depthSettings.parse({}));
  const submit = async (id: string): Promise<void> => {
    const renamed = { ...job, id, frames: job.frames.map(({ key, name }) => ({ key: key.replace(job.id, id), name })) };
    await uploadStack(store, { job: renamed, files });
    await queue.submit(renamed);
  };
  try {
    const series = `${workers}-${Date.now()}`;
    // One at a time: whoever has come up takes it, until each has taken one.
    for (let i = 0; warm.size < workers; i++) {
      await submit(`warm-up-${series}-${i}`);
      while ((await queue.counts()).queued > 0) await setTimeout(50);
    }
    while ((await queue.counts()).queued + (await queue.counts()).running > 0) await setTimeout(50);
    const used = (): number => processes.reduce((sum, { pid }) => sum + processorSeconds(pid ?? 0), 0);
    const [before, usedBefore, start] = [(await queue.counts()).done, used(), performance.now()];
    await Promise.all(Array.from({ length: jobs }, (_, i) => submit(`measured-${series}-${i}`)));
    await whenDone(queue, before + jobs);
    return { rate: jobs / ((performance.now() - start) / 1000), work: (used() - usedBefore) / jobs };
  } finally {
    await Promise.all(processes.map((child) => end(child)));
    await queue.close();
  }
}

const folder = await mkdtemp(join(tmpdir(), "dualfocus-bench-"));
const port = await freePort();
const redis = startRedis(port, folder);
try {
  const url = `redis://127.0.0.1:${port}`;
  const costs: Cost[] = [];
  for (let i = 0; i < repeats; i++) costs.push(await overhead(url));
  const least = (name: keyof Cost): string => Math.min(...costs.map((cost) => cost[name])).toFixed(1);
  console.log(`a job of no work: ${least("alone")} ms from submit to done when alone, ${least("inLine")} ms for each of ${noops} in line,`);
  console.log(`  ${least("abreast")} ms for each with 32 slots, ${least("commands")} commands of Redis for each`);
  if (option("skip", "") !== "throughput") {
    const best: Record<1 | 2, Rate> = { 1: { rate: 0, work: Infinity }, 2: { rate: 0, work: Infinity } };
    for (let i = 0; i < repeats; i++)
      for (const workers of [1, 2] as const) {
        const { rate, work } = await throughput(url, { folder, workers });
        best[workers] = { rate: Math.max(best[workers].rate, rate), work: Math.min(best[workers].work, work) };
      }
    console.log(`${stack}, small, one thread a worker, best of ${repeats} runs of ${jobs} jobs:`);
    for (const [workers, { rate, work }] of Object.entries(best))
      console.log(`  workers ${workers}: ${(3600 * rate).toFixed(0)} stacks an hour; ${work.toFixed(3)} s of a core each`);
    console.log(`  ratio ${(best[2].rate / best[1].rate).toFixed(2)}; work of one stack × ${(best[2].work / best[1].work).toFixed(2)}`);
  }
} finally {
  await end(redis);
  await rm(folder, { recursive: true, force: true });
}
