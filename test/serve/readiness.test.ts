import assert from "node:assert/strict";
import { Redis } from "ioredis";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createEmbeddedQueue } from "../../src/queue/embeddedQueue.ts";
import { createRedisQueue } from "../../src/queue/redisQueue.ts";
import { startRedisWorker } from "../../src/queue/redisWorker.ts";
import { createReadiness } from "../../src/serve/readiness.ts";
import { temporaryFolder } from "../data/files.ts";
import { startRedis } from "../queue/helpers/redisServer.ts";
import { idleRunner, withServer } from "./server.ts";

interface Health {
  readonly live: boolean;
  readonly ready: boolean;
  readonly reason?: string;
}

const healthOf = async (url: string): Promise<Health> => (await fetch(`${url}/v1/health`)).json() as Promise<Health>;

/** Asks until the answer is this one; an answer holds for a second. */
async function untilReason(url: string, reason: string | undefined): Promise<void> {
  let health = await healthOf(url);
  for (let tries = 0; tries < 600 && health.reason !== reason; tries++) {
    await setTimeout(50);
    health = await healthOf(url);
  }
  assert.deepEqual([health.live, health.ready, health.reason], [true, reason === undefined, reason]);
  const status = (path: string): Promise<number> => fetch(url + path).then((response) => response.status);
  assert.deepEqual([await status("/v1/health"), await status("/v1/health/live")], [reason === undefined ? 200 : 503, 200]);
  assert.match(await (await fetch(`${url}/metrics`)).text(), reason === undefined ? /^dualfocus_ready 1$/m : /^dualfocus_ready 0$/m);
}

test("a server is ready only if Redis takes writes and a worker takes jobs; it lives whatever happens", async (context) => {
  const redis = await startRedis(context);
  const admin = new Redis(redis.url);
  const queue = createRedisQueue(redis.url);
  await withServer({ queue, minWorkers: 1 }, async ({ url }) => {
    await untilReason(url, "no worker takes jobs");
    const worker = startRedisWorker({ url: redis.url, runner: idleRunner, name: "one" });
    await untilReason(url, undefined);
    await admin.config("SET", "maxmemory", "1");
    await untilReason(url, "the queue accepts no jobs");
    await admin.config("SET", "maxmemory", "0");
    await untilReason(url, undefined);
    await worker.stop(1000);
    await untilReason(url, "no worker takes jobs");
    assert.match(await (await fetch(`${url}/metrics`)).text(), /^dualfocus_workers 0$/m);
  });
  admin.disconnect();
});

test("workers that are started when jobs wait need not be there", async (context) => {
  const redis = await startRedis(context);
  await withServer({ queue: createRedisQueue(redis.url), minWorkers: 0 }, ({ url }) => untilReason(url, undefined));
});

test("a disk without room, or one that takes no files, is a reason; stopping is one", async () => {
  const uploads = temporaryFolder();
  const queue = createEmbeddedQueue({ runner: idleRunner });
  const stop = new AbortController();
  const reason = (freeBytes: number): Promise<string | undefined> =>
    createReadiness({ queue, uploads, minWorkers: 1, limits: { freeBytes }, stopping: stop.signal })();
  assert.equal(await reason(1), undefined);
  assert.equal(await reason(2 ** 60), "the disk is full");
  rmSync(uploads, { recursive: true });
  assert.equal(await reason(1), "the disk takes no files");
  stop.abort();
  assert.equal(await reason(1), "the server is stopping");
  await queue.close();
});

test("asking a thousand times costs what asking once costs", async () => {
  const queue = createEmbeddedQueue({ runner: idleRunner });
  let asked = 0;
  const counting = { ...queue, ping: () => ((asked += 1), queue.ping()) };
  const ready = createReadiness({
    ...{ queue: counting, uploads: temporaryFolder(), minWorkers: 0, limits: { freeBytes: 0 } },
    ...{ stopping: new AbortController().signal, maxAge: 3600_000 },
  });
  await Promise.all(Array.from({ length: 1000 }, () => ready()));
  assert.equal(asked, 1);
  await queue.close();
});

test("a server whose disk is full says so and stays alive", async () => {
  await withServer({ limits: { freeBytes: 2 ** 60 } }, ({ url }) => untilReason(url, "the disk is full"));
});
