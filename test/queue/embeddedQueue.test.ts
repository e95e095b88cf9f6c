import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { DualFocusError } from "../../src/errors.ts";
import { createEmbeddedQueue } from "../../src/queue/embeddedQueue.ts";
import { frameOf, jobSchema, type Job } from "../../src/queue/job.ts";
import type { JobQueue, JobStatus } from "../../src/queue/queue.ts";
import { retryDelay } from "../../src/queue/queue.ts";
import type { JobRunner, RunOptions } from "../../src/queue/runner.ts";
import { TINY } from "./helpers/stack.ts";

const job = (id: string): Job => ({ id, frames: [frameOf(id, 0, "png")], settings: TINY });

/** A runner that does what the test says, and says what it was asked. */
function fakeRunner(slots: number, body: (id: string, options: RunOptions) => Promise<void>) {
  const started: string[] = [];
  let [running, most] = [0, 0];
  const runner: JobRunner = {
    slots,
    async run({ id }, options) {
      started.push(id);
      most = Math.max(most, (running += 1));
      await body(id, options).finally(() => (running -= 1));
    },
    close: () => Promise.resolve(),
  };
  return { runner, started, most: () => most };
}

/** A promise that the test keeps when it wants to. */
function gateOf(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((keep) => (resolve = keep));
  return { promise, resolve };
}

async function statuses(queue: JobQueue, id: string): Promise<JobStatus[]> {
  const all: JobStatus[] = [];
  for await (const status of queue.subscribe(id, { signal: AbortSignal.timeout(60_000) })) all.push(status);
  return all;
}

test("jobs run in the order they came, as many at a time as there are slots", async () => {
  const { promise: gate, resolve: openGate } = gateOf();
  const { runner, started, most } = fakeRunner(2, () => gate);
  const queue = createEmbeddedQueue({ runner });
  const ids = Array.from({ length: 7 }, (_, i) => `job-number-${i}`);
  for (const id of ids) await queue.submit(job(id));
  assert.deepEqual(await queue.counts(), { queued: 5, running: 2, done: 0, failed: 0, workers: 1 });
  openGate();
  for (const id of ids) assert.equal((await statuses(queue, id)).at(-1)?.state, "done");
  assert.deepEqual([started, most()], [ids, 2]);
  assert.equal((await queue.counts()).done, 7);
  await queue.close();
});

test("a subscriber hears progress and the end; the last word is never left out", async () => {
  const { runner } = fakeRunner(1, async (_, { onProgress }) => {
    onProgress({ stage: "read", done: 1, of: 2 });
    await setTimeout(5);
    for (let done = 1; done <= 100; done++) onProgress({ stage: "infer", done, of: 100 });
  });
  const queue = createEmbeddedQueue({ runner });
  await queue.submit(job("job-with-progress"));
  const heard = await statuses(queue, "job-with-progress");
  assert.deepEqual(heard[0]?.progress, { stage: "read", done: 1, of: 2 });
  assert.ok(heard.length < 10, "steps faster than they are read are left out");
  const last = heard.at(-1);
  assert.deepEqual([last?.state, last?.progress, last?.attempts], ["done", { stage: "infer", done: 100, of: 100 }, 1]);
  assert.ok(last !== undefined && (last.endedAt ?? 0) >= (last.startedAt ?? Infinity));
  await queue.submit(job("job-with-progress"));
  assert.equal((await queue.get("job-with-progress"))?.state, "done", "the same id again changes nothing");
  assert.deepEqual(await statuses(queue, "job-that-is-not"), []);
  await queue.close();
});

test("a failure that may pass is tried three times, one that cannot once", async () => {
  const failure = (retry: boolean): Error => (retry ? new Error("no") : new DualFocusError("bad-file", "no", { facts: { file: "a.png" } }));
  const { runner, started } = fakeRunner(1, (id) => Promise.reject(failure(id === "job-retried")));
  const queue = createEmbeddedQueue({ runner, delay: () => 1 });
  await queue.submit(job("job-retried"));
  await queue.submit(job("job-hopeless"));
  const [retried, hopeless] = [(await statuses(queue, "job-retried")).at(-1), (await statuses(queue, "job-hopeless")).at(-1)];
  assert.deepEqual([retried?.state, retried?.attempts, retried?.error?.code], ["failed", 3, "internal"]);
  assert.deepEqual(
    [hopeless?.state, hopeless?.attempts, hopeless?.error],
    ["failed", 1, { code: "bad-file", message: "no", facts: { file: "a.png" } }],
  );
  assert.equal(started.length, 4);
  await queue.close();
});

test("a removed job is stopped or never started, and its subscribers hear cancelled", async () => {
  const { runner, started } = fakeRunner(1, (_, { signal }) => setTimeout(60_000, undefined, { signal }));
  const queue = createEmbeddedQueue({ runner });
  for (const id of ["job-running", "job-waiting", "job-last"]) await queue.submit(job(id));
  const heard = Promise.all(["job-running", "job-waiting"].map((id) => statuses(queue, id)));
  while (started.length < 1) await setTimeout(5);
  assert.deepEqual(
    [await queue.remove("job-waiting"), await queue.remove("job-running"), await queue.remove("job-running")],
    [true, true, false],
  );
  for (const all of await heard) assert.equal(all.at(-1)?.state, "cancelled");
  assert.equal(await queue.get("job-running"), undefined);
  while (started.length < 2) await setTimeout(5);
  assert.deepEqual(started, ["job-running", "job-last"], "the slot is free for the next");
  await queue.close();
  await assert.rejects(queue.submit(job("job-too-late")), /closed/);
  await assert.rejects(queue.ping(), /closed/);
});

test("waiting times double, and chance makes them shorter, never longer", () => {
  assert.deepEqual([retryDelay(1, 0), retryDelay(2, 0), retryDelay(3, 0), retryDelay(2, 1)], [2000, 4000, 8000, 2000]);
});

test("a job's ids, keys and names cannot lead anywhere else", () => {
  const good = job("0b9d6d3e-93d8-4d8c-a2e7-3f0c5a2f8b11");
  assert.deepEqual(jobSchema.parse(good), good);
  const bad: readonly [string, unknown][] = [
    ["an id with a slash", { ...good, id: "../../etc/x" }],
    ["an id of digits, which Redis counts with", { ...good, id: "1234567890" }],
    ["a key that climbs", { ...good, frames: [{ key: "jobs/../../x", name: "a.png" }] }],
    ["a name with a folder", { ...good, frames: [{ key: "jobs/x", name: "a/b.png" }] }],
    ["a hidden name", { ...good, frames: [{ key: "jobs/x", name: ".png" }] }],
    ["a name with a line break", { ...good, frames: [{ key: "jobs/x", name: "a\nb.png" }] }],
    ["one name twice", { ...good, frames: ["a.png", "A.png"].map((name) => ({ key: "jobs/x", name })) }],
    ["no frames", { ...good, frames: [] }],
    ["a model file", { ...good, settings: { ...TINY, model: "/tmp/x.safetensors" } }],
    ["a distance that is not a number", { ...good, settings: { ...TINY, distances: [1, "two"] } }],
    ["an infinite distance", { ...good, settings: { ...TINY, distances: [1, Infinity] } }],
    ["an option there is not", { ...good, settings: { ...TINY, output: "/tmp" } }],
  ];
  for (const [what, value] of bad) assert.equal(jobSchema.safeParse(value).success, false, what);
  assert.throws(() => frameOf("job-number-1", 0, "../x"));
});
