import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createDirectoryStore } from "../../src/queue/directoryStore.ts";
import { createEmbeddedQueue } from "../../src/queue/embeddedQueue.ts";
import { jobPrefix } from "../../src/queue/job.ts";
import { DualFocusError } from "../../src/errors.ts";
import { claimFolder } from "../../src/serve/claim.ts";
import { createLog } from "../../src/serve/log.ts";
import { sweep } from "../../src/serve/sweeper.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { idleRunner, withServer } from "./server.ts";

/** The number of a process that has ended. */
const dead = spawnSync(process.execPath, ["-e", ""]).pid;
const hour = 3600_000;

test("two servers with queues of their own do not share a folder, but a killed one's is taken over", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, ".server"), JSON.stringify({ host: hostname(), pid: process.ppid }));
  await assert.rejects(claimFolder(folder), /another server uses it/);
  writeFileSync(join(folder, ".server"), JSON.stringify({ host: "elsewhere", pid: dead }));
  await assert.rejects(claimFolder(folder), /another server uses it/);
  const silent = new Date(Date.now() - 61_000);
  for (const left of [JSON.stringify({ host: hostname(), pid: dead }), JSON.stringify({ host: "elsewhere", pid: 1 }), ""]) {
    writeFileSync(join(folder, ".server"), left);
    utimesSync(join(folder, ".server"), silent, silent);
    const release = await claimFolder(folder);
    assert.ok(existsSync(join(folder, ".server")));
    release();
  }
  assert.ok(!existsSync(join(folder, ".server")));
});

test("ended jobs are forgotten after their time, files without a job after ten minutes, others never", async () => {
  const folder = temporaryFolder();
  const store = createDirectoryStore(folder);
  const [ended, failed, running, orphan] = ["ended-job", "failed-job", "running-job", "orphan-job"];
  const queue = createEmbeddedQueue({
    runner: {
      ...idleRunner,
      slots: 3,
      run: (job, options) =>
        job.id === ended
          ? Promise.resolve()
          : job.id === failed
            ? Promise.reject(new DualFocusError("bad-file", "no"))
            : idleRunner.run(job, options),
    },
  });
  const settings = { model: "small", align: "auto", size: 64, save: ["npy"] } as const;
  for (const id of [ended, failed, running, orphan]) {
    const key = `${jobPrefix(id)}/frames/frame_0000.png`;
    put(join(folder, key), "x");
    if (id !== orphan)
      await queue.submit({ id, frames: [{ key, name: "frame_0000.png" }], settings: { ...settings, reverse: false, save: ["npy"] } });
  }
  mkdirSync(join(folder, ".uploads"));
  const stateOf = async (id: string): Promise<string | undefined> => (await queue.get(id))?.state;
  while ((await stateOf(ended)) !== "done" || (await stateOf(failed)) !== "failed") await setTimeout(5);
  const sweepAt = async (later: number): Promise<number> =>
    (await sweep({ queue, store, keep: hour, log: () => undefined, now: () => Date.now() + later })).removed;
  const present = (): string[] => [ended, failed, running, orphan].filter((id) => existsSync(join(folder, jobPrefix(id))));
  assert.equal(await sweepAt(0), 0);
  assert.equal(await sweepAt(11 * 60_000), 1);
  assert.deepEqual(present(), [ended, failed, running]);
  assert.equal(await sweepAt(1.1 * hour), 2);
  assert.deepEqual(present(), [running]);
  assert.equal(await queue.get(ended), undefined);
  await queue.close();
});

test("a folder among the jobs that is none of ours, or a job that cannot be removed, does not keep the others", async () => {
  const folder = temporaryFolder();
  const store = createDirectoryStore(folder);
  const queue = createEmbeddedQueue({ runner: idleRunner });
  const ours = ["orphan-one", "orphan-two", "orphan-three"];
  const foreign = ["notes", "lost and found", "12345678", ".git", "ümläut-folder"];
  for (const name of [...ours, ...foreign]) put(join(folder, "jobs", name, "file.txt"), "x");
  put(join(folder, "jobs", "a file.txt"), "x");
  const stuck = {
    ...store,
    remove: (prefix: string) => (prefix.endsWith("two") ? Promise.reject(new Error("EBUSY")) : store.remove(prefix)),
  };
  const log: string[] = [];
  const found = await sweep({
    ...{ queue, store: stuck, keep: hour, now: () => Date.now() + hour },
    log: (_, event, fields) => log.push(`${event} ${String(fields?.["job"])}`),
  });
  assert.deepEqual(found, { removed: 2, foreign: foreign.length + 1, failed: 1 });
  assert.deepEqual(
    readdirSync(join(folder, "jobs")).sort(),
    [...foreign, "a file.txt", "orphan-two"].sort(),
    "what is not ours is left alone",
  );
  assert.ok(log.includes("sweep failed orphan-two"));
  await queue.close();
});

test("what a sweep has met is in the metrics", async () => {
  const folder = temporaryFolder();
  put(join(folder, "jobs", "not a job", "file"), "x");
  await withServer({ store: createDirectoryStore(folder), keep: 10 }, async ({ url }) => {
    const metrics = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
    while (!/^dualfocus_foreign_folders 1$/m.test(await metrics())) await setTimeout(20);
    assert.match(await metrics(), /^dualfocus_sweep_failures_total 0$/m);
  });
});

test("the log is a JSON document a line", () => {
  let text = "";
  const log = createLog({ write: (line) => (text += line) }, { now: () => new Date(0) });
  log("info", "listening", { url: "http://127.0.0.1:1" });
  log("error", "failure", { cause: "two\nlines", nothing: undefined });
  assert.deepEqual(
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
    [
      { time: "1970-01-01T00:00:00.000Z", level: "info", event: "listening", url: "http://127.0.0.1:1" },
      { time: "1970-01-01T00:00:00.000Z", level: "error", event: "failure", cause: "two\nlines" },
    ],
  );
});
