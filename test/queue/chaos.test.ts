import assert from "node:assert/strict";
import { Redis } from "ioredis";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";

import { createDirectoryStore } from "../../src/queue/directoryStore.ts";
import { jobPrefix } from "../../src/queue/job.ts";
import type { JobQueue, QueueCounts } from "../../src/queue/queue.ts";
import { PREFIX, QUEUE } from "../../src/queue/redis.ts";
import { createRedisQueue } from "../../src/queue/redisQueue.ts";
import { readResults } from "../../src/queue/results.ts";
import type { FileStore } from "../../src/queue/store.ts";
import { runCommand } from "../helpers/command.ts";
import { startRedis } from "./helpers/redisServer.ts";
import { storedJob, temporaryFolder, writeStack } from "./helpers/stack.ts";
import { startWorker, type WorkerProcess, type WorkerSetup } from "./helpers/workers.ts";

const JOBS = 120;
const WAVES = 4; // a worker is killed in each
const STACKS = 4; // different ones, so that results could be mixed up
const OPTIONS = ["--align", "off", "--size", "64", "--save", "npy", "--device", "cpu", "--threads", "1", "--quiet"];

/** Redis may be away: a question is asked again. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      await setTimeout(100);
    }
  }
}

async function until(queue: JobQueue, condition: (counts: QueueCounts) => boolean): Promise<void> {
  while (!condition(await untilAnswered(() => queue.counts()))) await setTimeout(20);
}

/** Kills the oldest worker that has come to work, without warning, and starts another in its place. */
async function killOldest(context: TestContext, workers: WorkerProcess[], setup: WorkerSetup): Promise<void> {
  const victim = workers.findIndex(({ events }) => events.some(({ event }) => event === "job-done"));
  const [killed] = workers.splice(victim, 1);
  assert.ok(victim >= 0 && killed, "jobs are done, and a worker said so");
  await killed.end("SIGKILL");
  workers.push(startWorker(context, setup));
}

/** How often Redis noted that a job was completed. */
async function completions(url: string): Promise<Map<string, number>> {
  const redis = new Redis(url);
  const entries = await redis.xrange(`${PREFIX}:${QUEUE}:events`, "-", "+");
  redis.disconnect();
  const counts = new Map<string, number>();
  for (const [, fields] of entries) {
    const facts = Object.fromEntries(fields.flatMap((name, i) => (i % 2 === 0 ? [[name, fields[i + 1] ?? ""]] : []))) as Record<
      string,
      string
    >;
    const { event, jobId = "" } = facts;
    if (event === "completed") counts.set(jobId, (counts.get(jobId) ?? 0) + 1);
  }
  return counts;
}

async function resultOf(store: FileStore, id: string): Promise<{ bytes: Buffer; runs: number }> {
  const results = await readResults(store, id);
  assert.ok(results, `${id} has results`);
  const files = await store.list(`${jobPrefix(id)}/runs`);
  const named = Object.values(results.files).map(({ key }) => key);
  assert.ok(
    named.every((key) => files.some((file) => file.key === key)),
    `${id}: every named file is there`,
  );
  return {
    bytes: await readFile(join(store.name, results.files["npy"]?.key ?? "")),
    runs: new Set(files.map(({ key }) => key.split("/")[3])).size,
  };
}

test(
  `${JOBS} jobs over 3 workers, ${WAVES} of them killed at work, Redis restarted once: each ends once, none is lost, results are the command's`,
  { timeout: 600_000 },
  async (context) => {
    const [redis, folder] = [await startRedis(context), await temporaryFolder(context)];
    const store = createDirectoryStore(join(folder, "store"));
    const setup = { url: redis.url, store: store.name, scratch: join(folder, "scratch"), lock: 3000 };
    const stacks = await Promise.all(Array.from({ length: STACKS }, (_, i) => writeStack(join(folder, `stack-${i}`), i + 1)));
    const workers = [1, 2, 3].map(() => startWorker(context, setup));
    const queue = createRedisQueue(redis.url);
    const ids = Array.from({ length: JOBS }, (_, i) => `chaos-job-${i}`);
    const perWave = JOBS / WAVES;
    for (let wave = 0; wave < WAVES; wave++) {
      for (const [i, id] of ids.entries()) {
        if (Math.floor(i / perWave) !== wave) continue;
        const job = await storedJob(store, stacks[i % STACKS] as string, { id });
        await untilAnswered(() => queue.submit(job));
      }
      await until(queue, ({ done }) => done > wave * perWave + perWave / 4);
      await killOldest(context, workers, setup);
      if (wave === 1) await redis.restart();
    }
    await until(queue, ({ done, failed, queued, running }) => done + failed === JOBS && queued + running === 0);

    assert.deepEqual(await untilAnswered(() => queue.counts()).then(({ done, failed }) => ({ done, failed })), { done: JOBS, failed: 0 });
    const noted = await completions(redis.url);
    assert.deepEqual(
      ids.filter((id) => noted.get(id) !== 1),
      [],
      "each is completed exactly once",
    );
    const expected: Buffer[] = [];
    for (const [i, stack] of stacks.entries()) {
      const output = join(folder, `out-${i}`);
      const { code, err } = await runCommand(context, "depth", stack, "-o", output, ...OPTIONS);
      assert.equal(code, 0, err);
      expected.push(await readFile(join(output, "depth.npy")));
    }
    let leftovers = 0;
    for (const [i, id] of ids.entries()) {
      const { bytes, runs } = await resultOf(store, id);
      assert.ok(bytes.equals(expected[i % STACKS] as Buffer), `${id} is the command's result`);
      leftovers += runs - 1;
    }
    assert.ok(leftovers <= WAVES, `runs that were killed half-way may leave files of their own: ${leftovers} of ${WAVES}`);
    for (const worker of workers) await worker.end("SIGTERM");
    const scratch = await readdir(setup.scratch);
    assert.ok(scratch.length <= WAVES, `scratch folders of killed workers: ${scratch.length}`);
    await queue.close();
    context.diagnostic(`${leftovers} unfinished runs left behind`);
  },
);
