import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { createDirectoryStore } from "../../src/queue/directoryStore.ts";
import { jobPrefix } from "../../src/queue/job.ts";
import type { JobQueue, JobStatus } from "../../src/queue/queue.ts";
import { createRedisQueue } from "../../src/queue/redisQueue.ts";
import { startRedisWorker } from "../../src/queue/redisWorker.ts";
import { readResults } from "../../src/queue/results.ts";
import { DualFocusError } from "../../src/errors.ts";
import type { JobRunner } from "../../src/queue/runner.ts";
import { runCommand } from "../helpers/command.ts";
import { startRedis } from "./helpers/redisServer.ts";
import { storedJob, temporaryFolder, TINY, writeStack } from "./helpers/stack.ts";
import { startWorker } from "./helpers/workers.ts";

async function last(queue: JobQueue, id: string): Promise<JobStatus | undefined> {
  let status: JobStatus | undefined;
  for await (status of queue.subscribe(id, { signal: AbortSignal.timeout(60_000) }));
  return status;
}

const job = (id: string) => ({ id, frames: [{ key: `${jobPrefix(id)}/frames/0.png`, name: "0.png" }], settings: TINY });

const runnerOf = (run: JobRunner["run"], slots = 1): JobRunner => ({ slots, run, close: () => Promise.resolve() });

test("a job in Redis waits, runs, tells its progress and is done; what cannot be done becomes a dead letter with its reason", async (context) => {
  const { url } = await startRedis(context);
  const queue = createRedisQueue(url);
  const attempts: string[] = [];
  await queue.submit(job("job-good-1"));
  await queue.submit(job("job-good-1"));
  assert.deepEqual(await queue.counts(), { queued: 1, running: 0, done: 0, failed: 0, workers: 0 });
  assert.equal((await queue.get("job-good-1"))?.state, "queued");
  const runner = runnerOf(async ({ id }, { onProgress }) => {
    attempts.push(id);
    onProgress({ stage: "infer", done: 1, of: 2 });
    await setTimeout(50);
    if (id === "job-input-1") throw new DualFocusError("bad-file", "0.png: broken", { facts: { file: "0.png" } });
    if (id === "job-retry-1" && attempts.filter((each) => each === id).length < 2) throw new Error("the disk was full");
  });
  const worker = startRedisWorker({ url, runner, name: "one", lock: 2000 });
  await queue.submit(job("job-input-1"));
  await queue.submit(job("job-retry-1"));
  const good = await last(queue, "job-good-1");
  assert.deepEqual([good?.state, good?.progress, good?.attempts], ["done", { stage: "infer", done: 1, of: 2 }, 1]);
  const bad = await last(queue, "job-input-1");
  assert.deepEqual([bad?.state, bad?.error], ["failed", { code: "bad-file", message: "0.png: broken", facts: { file: "0.png" } }]);
  const retried = await last(queue, "job-retry-1");
  assert.deepEqual([retried?.state, retried?.attempts], ["done", 2]);
  assert.deepEqual(attempts, ["job-good-1", "job-input-1", "job-retry-1", "job-retry-1"]);
  assert.deepEqual(await queue.counts(), { queued: 0, running: 0, done: 2, failed: 1, workers: 1 });

  const letters = await runCommand(context, "worker", "--redis", url, "--dead-letters");
  assert.match(letters.out, /^job-input-1 {2}\S+ {2}bad-file after 1 attempts: 0\.png: broken\n$/);
  const missing = await runCommand(context, "worker", "--redis", url, "--retry", "job-good-1");
  assert.deepEqual([missing.code, missing.err.split("\n")[0]], [2, "dualfocus: job-good-1: no such dead letter"]);
  const again = await runCommand(context, "worker", "--redis", url, "--retry", "all", "--json");
  assert.deepEqual(JSON.parse(again.out), { retried: ["job-input-1"] });
  while (attempts.length < 5) await setTimeout(20);
  assert.equal((await last(queue, "job-input-1"))?.state, "failed");
  assert.equal(await queue.remove("job-input-1"), true);
  assert.equal(await queue.get("job-input-1"), undefined);
  await worker.stop(1000);
  assert.equal((await queue.counts()).workers, 0);
  await queue.close();
});

test("a removed job that runs is stopped, and one that waits never starts", async (context) => {
  const { url } = await startRedis(context);
  const queue = createRedisQueue(url);
  const started: string[] = [];
  const runner = runnerOf(async ({ id }, { signal }) => {
    started.push(id);
    await setTimeout(60_000, undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  });
  const worker = startRedisWorker({ url, runner, name: "one", lock: 2000 });
  await queue.submit(job("job-running"));
  await queue.submit(job("job-waiting"));
  while (started.length === 0) await setTimeout(20);
  const heard = last(queue, "job-running");
  assert.equal(await queue.remove("job-waiting"), true);
  assert.equal(await queue.remove("job-running"), true);
  assert.equal((await heard)?.state, "cancelled");
  assert.equal(await queue.get("job-running"), undefined);
  while ((await queue.counts()).running > 0) await setTimeout(50);
  assert.deepEqual([await queue.counts(), started], [{ queued: 0, running: 0, done: 0, failed: 0, workers: 1 }, ["job-running"]]);
  await worker.stop(100);
  await queue.close();
});

test("a worker told to stop hands back what it cannot finish, and another worker does it", async (context) => {
  const { url } = await startRedis(context);
  const queue = createRedisQueue(url);
  const slow = startRedisWorker({
    url,
    name: "slow",
    runner: runnerOf((_, { signal }) =>
      setTimeout(60_000, undefined, { signal }).catch(() => {
        throw signal.reason;
      }),
    ),
  });
  await queue.submit(job("job-handed-back"));
  while ((await queue.get("job-handed-back"))?.state !== "running") await setTimeout(20);
  await slow.stop(50);
  assert.equal((await queue.get("job-handed-back"))?.state, "queued");
  const quick = startRedisWorker({ url, name: "quick", runner: runnerOf(() => Promise.resolve()) });
  const status = await last(queue, "job-handed-back");
  assert.deepEqual([status?.state, status?.attempts], ["done", 2]);
  await quick.stop(1000);
  await queue.close();
});

test("a worker's result is the command's, byte for byte, and a bad stack fails at once with the command's words", async (context) => {
  const [{ url }, folder] = [await startRedis(context), await temporaryFolder(context)];
  const stack = await writeStack(join(folder, "stack"));
  const store = createDirectoryStore(join(folder, "store"));
  const queue = createRedisQueue(url);
  const setup = { url, store: join(folder, "store"), scratch: join(folder, "scratch") };
  const worker = startWorker(context, setup);
  await queue.submit(await storedJob(store, stack, { id: "job-whole-1" }));
  const broken = await storedJob(store, stack, { id: "job-broken-1" });
  await writeFile(join(folder, "broken.png"), (await readFile(join(stack, "plane_1.png"))).subarray(0, 300));
  await store.put(broken.frames[1]?.key ?? "", join(folder, "broken.png"));
  await queue.submit(broken);
  assert.equal((await last(queue, "job-whole-1"))?.state, "done");
  const results = await readResults(store, "job-whole-1");
  await store.fetch(results?.files["npy"]?.key ?? "", join(folder, "depth.npy"));
  const options = ["--align", "off", "--size", "64", "--save", "npy", "--device", "cpu", "--threads", "1", "--quiet"];
  const command = await runCommand(context, "depth", stack, "-o", join(folder, "out"), ...options);
  assert.equal(command.code, 0, command.err);
  assert.deepEqual(await readFile(join(folder, "depth.npy")), await readFile(join(folder, "out", "depth.npy")));
  assert.deepEqual(
    results?.document.distances.map(({ file }) => file),
    ["frame_0000.png", "frame_0001.png", "frame_0002.png"],
  );
  assert.ok(!JSON.stringify(results).includes(folder), "nothing tells where it was computed");

  const failed = await last(queue, "job-broken-1");
  assert.deepEqual([failed?.state, failed?.error?.code, failed?.attempts], ["failed", "bad-file", 1]);
  assert.match(failed?.error?.message ?? "", /^frame_0001\.png: /);
  await worker.end("SIGTERM");
  assert.equal(worker.process.exitCode, 0);
  await queue.close();
});

test("a worker refuses to start without a store or a Redis, and says what to do", async (context) => {
  const folder = await temporaryFolder(context);
  const none = await runCommand(context, "worker", "--redis", "redis://127.0.0.1:1");
  assert.deepEqual([none.code, none.err.split("\n")[0]], [2, "dualfocus: --store is missing"]);
  const away = await runCommand(context, "worker", "--redis", "redis://:secret@127.0.0.1:1", "--store", folder);
  assert.deepEqual([away.code, away.err], [2, "dualfocus: redis://127.0.0.1:1: no Redis answers there\n  start it, or correct --redis\n"]);
  const wrong = await runCommand(context, "worker", "--redis", "localhost", "--store", folder);
  assert.deepEqual([wrong.code, wrong.err.split("\n")[0]], [2, "dualfocus: what was given is not the address of a Redis"]);
  const malformed = await runCommand(context, "worker", "--redis", "redis:/:secret@host", "--store", folder);
  assert.deepEqual([malformed.code, malformed.err.includes("secret")], [2, false], "also a malformed address keeps its password to itself");
});
