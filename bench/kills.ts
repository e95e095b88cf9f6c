// Jobs through the server while its processes are killed (kill -9), bombs are uploaded and thousands of silent connections are opened: how
// many jobs are lost, how much memory the server takes, how fast it answers others.
//   nice node --import tsx bench/kills.ts [--jobs 200] [--kills 12] [--workers 2] [--silent 2100] [--seed 1]
// Needs Linux and redis-server. Takes the build in dist/ if there is one (npm run build), else the sources.
import { spawn, type ChildProcess } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { encodePng } from "../src/io/png.ts";
import { createRandom } from "../src/random.ts";
import type { JobView } from "../src/serve/schemas.ts";
import { slantedStack } from "../test/helpers/texturedStack.ts";
import { tiffBomb } from "../test/io/hostileTiff.ts";
import * as hostile from "../test/serve/hostileFiles.ts";
import { end, freePort, PROGRAM, startRedis } from "./services.ts";
import { option } from "./timing.ts";

const [jobs, kills, workers, silent, seed] = ["200", "12", "2", "2100", "1"].map((fallback, n) =>
  Number(option(["jobs", "kills", "workers", "silent", "seed"][n] ?? "", fallback)),
) as [number, number, number, number, number];

const MEMORY_LIMIT = 250 * 2 ** 20;
const SENDERS = 4;
const STACKS = 4; // different ones, so that results could be mixed up
const TENANTS = ["alice", "bob"] as const;
const tokens = Object.fromEntries(TENANTS.map((name) => [name, randomBytes(24).toString("hex")]));

type Victim = "worker" | "server" | "redis";
const VICTIMS: readonly Victim[] = ["worker", "server", "worker", "redis"];

const folder = await mkdtemp(join(tmpdir(), "dualfocus-kills-"));
const [redisPort, port] = [await freePort(), await freePort()];
const [redisUrl, url] = [`redis://127.0.0.1:${redisPort}`, `http://127.0.0.1:${port}`];
writeFileSync(join(folder, "tokens"), TENANTS.map((name) => `${name} ${tokens[name]} jobs=${jobs} metrics\n`).join(""), { mode: 0o600 });

/** The processes of the service, replaced as soon as they are killed. */
const service = ["--redis", redisUrl, "--store", join(folder, "store")];
const starters: Readonly<Record<Victim, () => ChildProcess>> = {
  redis: () => startRedis(redisPort, folder),
  server: () => start("serve", ...service, "--port", String(port), "--token-file", join(folder, "tokens"), "--rate", "0"),
  worker: () => start("worker", ...service, ...["--concurrency", "1", "--threads", "1", "--device", "cpu", "--lock", "3"]),
};
const running: Record<Victim, ChildProcess[]> = { redis: [], server: [], worker: [] };

const start = (...args: readonly string[]): ChildProcess => spawn(process.execPath, [...PROGRAM, ...args], { stdio: "ignore" });

async function kill(victim: Victim): Promise<void> {
  notePeak();
  const child = running[victim].shift();
  if (child) await end(child, "SIGKILL");
  running[victim].push(starters[victim]());
}

/** The most memory that any of the servers has held, bytes. */
let peak = 0;
function notePeak(): void {
  for (const { pid } of running.server)
    try {
      const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
      peak = Math.max(peak, kilobytes * 1024);
    } catch {
      // it has just ended
    }
}

/** Asks until there is an answer that is not “later”. */
async function ask(path: string, tenant: string, init: () => RequestInit = () => ({})): Promise<Response> {
  for (;;) {
    try {
      const response = await fetch(url + path, { ...init(), headers: { Authorization: `Bearer ${tokens[tenant]}` } });
      if (response.status < 500) return response;
      await response.body?.cancel();
    } catch {
      // the server is away
    }
    await setTimeout(200);
  }
}

interface Accepted {
  readonly id: string;
  readonly tenant: string;
  readonly stack: number;
}

const stacks = Array.from({ length: STACKS }, (_, n) =>
  slantedStack({ width: 64, height: 64, planes: 3, seed: n + 1 }).stack.images.map((image) => new Uint8Array(encodePng(image))),
);

async function submit(n: number): Promise<Accepted> {
  const [stack, tenant] = [n % STACKS, TENANTS[n % TENANTS.length] as string];
  const form = (): FormData => {
    const parts = new FormData();
    for (const bytes of stacks[stack] ?? []) parts.append("frames", new Blob([bytes]));
    parts.append("options", JSON.stringify({ distances: [1, 2, 3], align: "off", size: 64, save: ["npy"] }));
    return parts;
  };
  const response = await ask("/v1/depth", tenant, () => ({ method: "POST", body: form() }));
  if (response.status !== 202) throw new Error(`bench: ${response.status} ${await response.text()}`);
  return { id: ((await response.json()) as JobView).id, tenant, stack };
}

/** The hash of the job's result; undefined if the job has failed or is gone. */
async function resultOf({ id, tenant }: Accepted): Promise<string | undefined> {
  for (;;) {
    const response = await ask(`/v1/jobs/${id}`, tenant);
    if (response.status !== 200) return undefined;
    const { state } = (await response.json()) as JobView;
    if (state === "done") break;
    if (state !== "queued" && state !== "running") return undefined;
    await setTimeout(300);
  }
  const result = await ask(`/v1/jobs/${id}/results/npy`, tenant);
  return result.status === 200
    ? createHash("sha256")
        .update(Buffer.from(await result.arrayBuffer()))
        .digest("hex")
    : undefined;
}

/** Files whose images are far larger than the files. */
const BOMBS = [
  tiffBomb(),
  await hostile.pngClaiming(50_000, 50_000),
  await hostile.jpegClaiming(65_000, 65_000),
  hostile.tiff([{}, { compression: 8, strip: hostile.deflatedZeros(40e6) }]),
  hostile.tiff([{}, { compression: 5, strip: hostile.lzwZeros(20) }]),
  hostile.tiff([{}, { claimed: 4_000_000_000 }]),
  hostile.tiff([{}, {}], { last: 8 }),
];

/** Uploads one bomb after the other until `over`; returns how many, and how many were accepted. */
async function throwBombs(over: AbortSignal): Promise<{ thrown: number; accepted: number }> {
  let [thrown, accepted] = [0, 0];
  for (; !over.aborted; thrown++) {
    const form = (): FormData => {
      const parts = new FormData();
      for (let n = 0; n < 2; n++) parts.append("frames", new Blob([new Uint8Array(BOMBS[thrown % BOMBS.length] ?? [])]));
      return parts;
    };
    const response = await ask("/v1/depth", TENANTS[0], () => ({ method: "POST", body: form() }));
    if (response.status === 202) accepted += 1;
    await response.body?.cancel();
    await setTimeout(300);
  }
  return { thrown, accepted };
}

const HELD = 8000; // milliseconds; the time for headers is longer

/** From an address of their own, so that the server sees another client. Returns how many it has refused after a while. */
async function holdSilent(count: number): Promise<number> {
  const refusals = async (): Promise<number> =>
    Number(/^dualfocus_refused_connections_total (\d+)/m.exec(await (await ask("/metrics", TENANTS[0])).text())?.[1]);
  const before = await refusals();
  const sockets = Array.from({ length: count }, () =>
    connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" })
      .on("error", () => undefined)
      .resume(),
  );
  await setTimeout(HELD);
  const after = await refusals();
  for (const socket of sockets) socket.destroy();
  return after - before;
}

/** Milliseconds of each answer of the liveness probe until `over`; not while the server is away. */
async function probe(over: AbortSignal): Promise<number[]> {
  const times: number[] = [];
  while (!over.aborted) {
    const before = performance.now();
    const isUp = await fetch(`${url}/v1/health/live`).then(
      async (response) => response.ok && (await response.text()) !== "",
      () => false,
    );
    if (isUp) times.push(performance.now() - before);
    notePeak();
    await setTimeout(100);
  }
  return times.sort((a, b) => a - b);
}

const summary = (times: readonly number[]): string =>
  `${times.length} answers, median ${times[times.length >> 1]?.toFixed(0)} ms, 99 % within ${times[Math.floor(times.length * 0.99)]?.toFixed(0)} ms`;

async function main(): Promise<boolean> {
  const random = createRandom(seed);
  running.redis.push(starters.redis());
  await setTimeout(500);
  running.server.push(starters.server());
  for (let n = 0; n < workers; n++) running.worker.push(starters.worker());
  await ask("/v1/quota", TENANTS[0]);
  const over = new AbortController();
  const [probing, bombing] = [probe(over.signal), throwBombs(over.signal)];
  const began = performance.now();

  const accepted: Accepted[] = [];
  const ended: (string | undefined)[] = [];
  let next = 0;
  const send = async (): Promise<void> => {
    while (next < jobs) {
      const job = await submit(next++);
      accepted.push(job);
      void resultOf(job).then((result) => ended.push(result === undefined ? undefined : `${job.stack} ${result}`));
    }
  };
  const sending = Promise.all(Array.from({ length: SENDERS }, send));
  const killed: Record<Victim, number> = { worker: 0, server: 0, redis: 0 };
  const pause = { isOn: false }; // a server that is killed would let the silent connections go
  const killing = (async () => {
    for (let n = 0; n < kills; n++) {
      const after = ((n + random.uniform()) * jobs) / (kills + 1);
      while (ended.length < after || pause.isOn) await setTimeout(50);
      const victim = VICTIMS[n % VICTIMS.length] as Victim;
      await kill(victim);
      killed[victim] += 1;
    }
  })();
  while (ended.length < jobs / 3) await setTimeout(100);
  pause.isOn = true;
  await ask("/v1/quota", TENANTS[0]);
  const held = new AbortController();
  const probingHeld = probe(held.signal);
  const refused = await holdSilent(silent);
  held.abort();
  pause.isOn = false;
  await Promise.all([sending, killing]);
  while (ended.length < jobs) await setTimeout(100);
  over.abort();
  const [times, bombs] = [await probing, await bombing];
  notePeak();

  const seconds = (performance.now() - began) / 1000;
  const lost = ended.filter((result) => result === undefined).length;
  const kinds = new Set(ended.filter((result) => result !== undefined)).size;
  const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`;
  console.log(`${accepted.length} jobs of two tenants accepted, ${jobs - lost} done, ${lost} lost, in ${seconds.toFixed(0)} s`);
  console.log(`different results of ${STACKS} stacks: ${kinds}`);
  console.log(`killed: ${Object.entries(killed).map(([name, count]) => `${name} ${count} times`).join(", ")}`); // prettier-ignore
  console.log(`silent connections of one address: ${silent}, of which ${refused} were refused`);
  console.log(`bombs uploaded meanwhile: ${bombs.thrown}, of which ${bombs.accepted} were accepted`);
  console.log(`liveness: ${summary(times)}; beside the silent connections: ${summary(await probingHeld)}`);
  console.log(`most memory of a server: ${megabytes(peak)} (limit ${megabytes(MEMORY_LIMIT)})`);
  return lost === 0 && kinds === STACKS && bombs.accepted === 0 && peak < MEMORY_LIMIT;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} finally {
  for (const children of Object.values(running)) for (const child of children) await end(child, "SIGKILL");
  await rm(folder, { recursive: true, force: true });
}
