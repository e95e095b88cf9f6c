import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import { createDirectoryStore } from "../../src/queue/directoryStore.ts";
import { createProcessRunner, defaultShare } from "../../src/queue/processRunner.ts";
import { commitResults, readResults } from "../../src/queue/results.ts";
import { runJob } from "../../src/queue/runJob.ts";
import { DualFocusError } from "../../src/errors.ts";
import { isWorthRetrying } from "../../src/queue/queue.ts";
import { memoryLeft } from "../../src/system/processWatch.ts";
import { createSlot } from "../../src/queue/slot.ts";
import { computingEnvironment } from "../../src/system/childProgram.ts";
import { frameOf } from "../../src/queue/job.ts";
import { dngFile } from "../io/dngFile.ts";
import { storedJob, temporaryFolder, TINY, writeStack } from "./helpers/stack.ts";

const GB = 2 ** 30;
const quietly = { onProgress: () => undefined, signal: new AbortController().signal };

test("the cores are shared out among as many processes as the memory holds", () => {
  assert.deepEqual(defaultShare({}, { cores: 2, memory: 24 * GB }), { processes: 2, threads: 1 });
  assert.deepEqual(defaultShare({}, { cores: 16, memory: 24 * GB }), { processes: 4, threads: 4 });
  assert.deepEqual(defaultShare({ memory: GB }, { cores: 16, memory: 24 * GB }), { processes: 16, threads: 1 });
  assert.deepEqual(defaultShare({}, { cores: 4, memory: 2 * GB }), { processes: 1, threads: 4 });
  assert.deepEqual(defaultShare({ processes: 3 }, { cores: 8, memory: 2 * GB }), { processes: 3, threads: 2 });
  assert.deepEqual(defaultShare({ processes: 3, threads: 8 }, { cores: 8, memory: 2 * GB }), { processes: 3, threads: 8 });
});

test("a job that takes too long, too much memory, or has lost its files fails with that reason and leaves nothing", async (context) => {
  const folder = await temporaryFolder(context);
  const [store, scratch] = [createDirectoryStore(join(folder, "store")), join(folder, "scratch")];
  const stack = await writeStack(join(folder, "stack"));
  const job = await storedJob(store, stack, { id: "job-limits" });
  const failure = async (limits: { timeLimit?: number; memory?: number }): Promise<DualFocusError> => {
    const runner = await createProcessRunner({ store: store.name, scratch, processes: 1, threads: 1, ...limits });
    try {
      await runner.run(job, quietly);
    } catch (cause) {
      assert.ok(cause instanceof DualFocusError, String(cause));
      return cause;
    } finally {
      await runner.close();
    }
    assert.fail("it should have failed");
  };
  const slow = await failure({ timeLimit: 20 });
  assert.deepEqual([slow.code, isWorthRetrying(slow), slow.message], ["time-limit", false, "it took longer than 0.02 s"]);
  const fat = await failure({ memory: 40 * 2 ** 20 });
  assert.deepEqual([fat.code, isWorthRetrying(fat)], ["memory-limit", true]);
  await store.remove("jobs/job-limits/frames");
  const gone = await failure({});
  assert.deepEqual([gone.code, isWorthRetrying(gone)], ["job-files-missing", false]);
  assert.match(gone.message, /^jobs\/job-limits\/frames\/frame_0000\.png: is not in /);
  assert.equal(await readResults(store, "job-limits"), undefined);
  assert.deepEqual([await readdir(scratch), await store.list("jobs/job-limits")], [[], []]);
});

test("what a slot starts may take what the slot has left of its memory", () => {
  const environment = computingEnvironment({ threads: 1, memory: 3 * GB });
  assert.deepEqual([memoryLeft(environment, GB), memoryLeft(environment, 4 * GB), memoryLeft({}, GB)], [2 * GB, 0, Infinity]);
});

test("a raw file counts towards the memory of its slot, which is replaced where that is not enough", async (context) => {
  const folder = await temporaryFolder(context);
  const store = createDirectoryStore(join(folder, "store"));
  const [width, height] = [3000, 2000]; // takes 330 MB to develop; the slot itself has about 170 MB by then
  const dng = dngFile({ width, height, channels: 3, data: new Float32Array(3 * width * height).fill(0.5) });
  const frames = [0, 1, 2].map((n) => frameOf("job-of-raw-files", n, "dng"));
  for (const { key } of frames) {
    await writeFile(join(folder, "frame.dng"), dng);
    await store.put(key, join(folder, "frame.dng"));
  }
  const memory = 350 * 2 ** 20;
  const slot = createSlot({ store: store.name, scratch: folder, device: "cpu", threads: 1, memory, together: 1, timeLimit: 60_000 });
  context.after(() => slot.close());
  await assert.rejects(slot.run({ id: "job-of-raw-files", frames, settings: TINY }, quietly), (cause) => {
    assert.ok(cause instanceof DualFocusError);
    assert.match(
      cause.message,
      /^frame_0000\.dng: developing 3000×2000 pixels takes about 0\.3 GB, more than the 0\.\d GB of memory left$/,
    );
    assert.deepEqual([cause.code, isWorthRetrying(cause)], ["memory-limit", true]);
    return true;
  });
  assert.equal(slot.isOpen, false);
});

test("pictures that need more memory than there is are refused before they are read", async (context) => {
  const folder = await temporaryFolder(context);
  const store = createDirectoryStore(join(folder, "store"));
  const job = await storedJob(store, await writeStack(join(folder, "stack")), { id: "job-large" });
  const network = (): Promise<never> => Promise.reject(new Error("the network was asked for"));
  const place = { store, scratch: join(folder, "scratch"), network };
  const needed = 64 * 64 * 80; // bytes
  await assert.rejects(runJob(job, quietly, { ...place, memory: needed - 1 }), (cause) => {
    assert.ok(cause instanceof DualFocusError);
    assert.deepEqual([cause.code, isWorthRetrying(cause)], ["image-too-large", false]);
    assert.match(cause.message, /^stack: 64×64 pixels need about/);
    return true;
  });
  await assert.rejects(runJob(job, quietly, { ...place, memory: needed }), /the network was asked for/);
});

test("a process that dies takes only its job with it, a stopped job ends with the reason, and what is done is not done again", async (context) => {
  const folder = await temporaryFolder(context);
  const [store, scratch] = [createDirectoryStore(join(folder, "store")), join(folder, "scratch")];
  const job = await storedJob(store, await writeStack(join(folder, "stack")), { id: "job-killed" });
  const options = { store: store.name, scratch, device: "cpu", threads: 1, memory: 4 * GB, together: 1, timeLimit: 60_000 } as const;
  const slot = createSlot(options);
  const run = slot.run(job, quietly);
  process.kill(slot.pid ?? 0, "SIGKILL");
  await assert.rejects(
    run,
    (cause) => cause instanceof DualFocusError && isWorthRetrying(cause) && /ended \(SIGKILL\)/.test(cause.message),
  );
  assert.deepEqual([slot.isOpen, slot.running], [false, 0]);

  const other = createSlot(options);
  const stop = new AbortController();
  const stopped = other.run(job, {
    signal: stop.signal,
    onProgress: () => {
      stop.abort(new Error("no more of it"));
    },
  });
  await assert.rejects(stopped, /no more of it/);
  const document = { files: {} } as Parameters<typeof commitResults>[2]["document"];
  assert.equal(await commitResults(store, "job-killed", { document, files: {} }), true);
  assert.equal(await commitResults(store, "job-killed", { document, files: {} }), false);
  const stages: string[] = [];
  await other.run(job, { ...quietly, onProgress: ({ stage }) => stages.push(stage) });
  assert.deepEqual(stages, [], "nothing was computed: the results were there");
  await other.close();
  while ((await readdir(scratch)).length > 0) await setTimeout(50);
});
