// What the queue costs for a job that takes no time, and what a second worker brings.
//   nice node --import tsx bench/serve.ts [--jobs 40] [--noops 300] [--size 256] [--repeats 2] [--skip throughput]
// Needs redis-server. The workers are processes of `dualfocus worker` with one thread each; both are warm before the clock starts.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { encodePng } from "../src/io/png.ts";
import { depthSettings } from "../src/job/depthSettings.ts";
import { createDirectoryStore } from "../src/queue/directoryStore.ts";
import { frameOf, type Job } from "../src/queue/job.ts";
import type { JobQueue } from "../src/queue/queue.ts";
import { createRedisQueue } from "../src/queue/redisQueue.ts";
import { startRedisWorker } from "../src/queue/redisWorker.ts";
import { createRandom } from "../src/random.ts";
import { option } from "./timing.ts";

const [jobs, noops, size, repeats] = ["jobs", "noops", "size", "repeats"].map((name, i) =>
  Number(option(name, ["40", "300", "256", "2"][i] as string)),
) as [number, number, number, number];
const PLANES = 5;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

async function whenDone(queue: JobQueue, count: number): Promise<void> {
  for (;;) {
    const { done, failed } = await queue.counts();
    if (failed > 0) throw new Error(`bench: ${failed} jobs failed`);
    if (done >= count) return;
    await setTimeout(20);
  }
}

/** Milliseconds a job that takes no time spends in the queue: one at a time, and many waiting. */
async function overhead(url: string): Promise<{ alone: number; inLine: number }> {
  const queue = createRedisQueue(url);
  const worker = startRedisWorker({
    url,
    name: "bench",
    runner: { slots: 1, run: () => Promise.resolve(), close: () => Promise.resolve() },
  });
  const noop = (id: string): Job => ({ id, frames: [frameOf(id, 0, "png")], settings: depthSettings.parse({}) });
  const alone: number[] = [];
  for (let i = 0; i < 50; i++) {
    const start = performance.now();
    await queue.submit(noop(`alone-${i}-${start}`.replace(".", "-")));
    for await (const { state } of queue.subscribe(`alone-${i}-${start}`.replace(".", "-"), { signal: AbortSignal.timeout(10_000) }))
      if (state === "done") break;
    alone.push(performance.now() - start);
  }
  const before = (await queue.counts()).done;
  const start = performance.now();
  await Promise.all(Array.from({ length: noops }, (_, i) => queue.submit(noop(`line-${i}-${Math.round(start)}`))));
  await whenDone(queue, before + noops);
  const inLine = (performance.now() - start) / noops;
  await worker.stop(1000);
  await queue.close();
  return { alone: alone.sort((a, b) => a - b)[25] as number, inLine };
}

/** Jobs a second of so many workers. */
async function throughput(url: string, { folder, workers }: { folder: string; workers: number }): Promise<number> {
  const store = createDirectoryStore(join(folder, "store"));
  const queue = createRedisQueue(url);
  const args = ["--import", "tsx", join(import.meta.dirname, "..", "src", "cli", "main.ts"), "worker", "--redis", url];
  const more = ["--store", store.name, "--concurrency", "1", "--threads", "1", "--device", "cpu", "--scratch", join(folder, "scratch")];
  const processes = Array.from({ length: workers }, () =>
    spawn(process.execPath, [...args, ...more], { stdio: ["ignore", "ignore", "pipe"] }),
  );
  const warm = processes.map(async (child) => {
    for await (const text of child.stderr) if (String(text).includes("job-done")) return;
  });
  const submit = async (id: string): Promise<void> => {
    const frames = Array.from({ length: PLANES }, (_, n) => frameOf(id, n, "png"));
    for (const [n, { key }] of frames.entries()) await store.put(key, join(folder, `plane_${n}.png`));
    const distances = frames.map((_, n) => 1 + n / 4);
    await queue.submit({ id, frames, settings: depthSettings.parse({ distances, align: "off" }) });
  };
  try {
    const heard = new Set<number>();
    for (const [n, each] of warm.entries()) void each.then(() => heard.add(n));
    const series = `${workers}-${Date.now()}`;
    for (let i = 0; heard.size < workers; i++) {
      await submit(`warm-up-${series}-${i}`);
      await setTimeout(1000);
    }
    while ((await queue.counts()).queued + (await queue.counts()).running > 0) await setTimeout(50);
    for (const child of processes) child.stderr.resume();
    const before = (await queue.counts()).done;
    const start = performance.now();
    await Promise.all(Array.from({ length: jobs }, (_, i) => submit(`measured-${series}-${i}`)));
    await whenDone(queue, before + jobs);
    return jobs / ((performance.now() - start) / 1000);
  } finally {
    await Promise.all(processes.map(end));
    await queue.close();
  }
}

const folder = await mkdtemp(join(tmpdir(), "dualfocus-bench-"));
const port = await freePort();
const redis = spawn(
  "redis-server",
  ["--port", String(port), "--dir", folder, "--save", "", "--appendonly", "yes", "--appendfsync", "always"],
  {
    stdio: "ignore",
  },
);
try {
  const url = `redis://127.0.0.1:${port}`;
  const random = createRandom(1);
  for (let n = 0; n < PLANES; n++) {
    const data = Float32Array.from({ length: size * size * 3 }, () => random.uniform());
    await writeFile(join(folder, `plane_${n}.png`), encodePng({ width: size, height: size, channels: 3, data }));
  }
  const costs: Awaited<ReturnType<typeof overhead>>[] = [];
  for (let i = 0; i < repeats; i++) costs.push(await overhead(url));
  console.log(`queue, a job of no work: ${Math.min(...costs.map(({ alone }) => alone)).toFixed(1)} ms from submit to done when alone,`);
  console.log(`  ${Math.min(...costs.map(({ inLine }) => inLine)).toFixed(1)} ms for each of ${noops} that wait in line`);
  if (option("skip", "") !== "throughput") {
    const rates = { 1: 0, 2: 0 };
    for (let i = 0; i < repeats; i++)
      for (const workers of [1, 2] as const) rates[workers] = Math.max(rates[workers], await throughput(url, { folder, workers }));
    console.log(`${PLANES} planes of ${size}×${size}, small, one thread a worker, best of ${repeats} runs of ${jobs} jobs:`);
    for (const workers of [1, 2] as const)
      console.log(`  ${workers} worker${workers > 1 ? "s" : ""}: ${(3600 * rates[workers]).toFixed(0)} stacks an hour`);
    console.log(`  ratio ${(rates[2] / rates[1]).toFixed(2)}`);
  }
} finally {
  await end(redis);
  await rm(folder, { recursive: true, force: true });
}
