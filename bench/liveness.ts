// How fast the server answers the liveness probe while strangers upload what takes it the most work. A second server, which does nothing, is
// asked at the same moments: what it takes is the machine's share.
//   nice node --import tsx bench/liveness.ts [--seconds 10] [--clients 8]
// Needs redis-server. Takes the build in dist/ if there is one (npm run build), else the sources.
import { fork, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once, setMaxListeners } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, get } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { tiffBomb } from "../test/io/hostileTiff.ts";
import * as hostile from "../test/serve/hostileFiles.ts";
import { end, freePort, PROGRAM, startRedis } from "./services.ts";
import { option } from "./timing.ts";

const [seconds, clients] = [Number(option("seconds", "10")), Number(option("clients", "8"))];
const LIMIT = 100; // milliseconds

const { BOUNDARY, frame, multipart, optionsPart } = hostile;
const noise = randomBytes(8 << 20);

/** Bodies of uploads, by what is laborious about them. */
const UPLOADS: Readonly<Record<string, () => Promise<Uint8Array> | Uint8Array>> = {
  "large files": () => multipart(Array.from({ length: 4 }, () => frame(noise))),
  bombs: async () =>
    multipart(
      [tiffBomb(), await hostile.pngClaiming(50_000, 50_000), hostile.tiff([{}, { compression: 5, strip: hostile.lzwZeros(20) }])].map(
        (bytes) => frame(bytes),
      ),
    ),
  "starts of boundaries": () => multipart([frame(Buffer.alloc(8 << 20, `\r\n--${BOUNDARY.slice(0, -1)}`))]),
  "a hundred small files": async () => {
    const image = await hostile.picture(64, 48);
    return multipart(Array.from({ length: 100 }, () => frame(image)));
  },
  "options of 60 kB": async () => {
    const image = await hostile.picture(64, 48);
    const options = {
      distances: Array.from({ length: 5000 }, (_, n) => `${n}`),
      ...Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`option${n}`, n])),
    };
    return multipart([frame(image), frame(image), optionsPart(options)]);
  },
};

/** Sends one request after the other, as fast as they are taken. */
async function upload(port: number, body: Uint8Array, over: AbortSignal): Promise<number> {
  const head = `POST /v1/depth HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${body.length}\r\n\r\n`;
  let sent = 0;
  while (!over.aborted) {
    const socket = connect(port, "127.0.0.1")
      .on("error", () => undefined)
      .resume();
    over.addEventListener("abort", () => socket.destroy(), { once: true });
    socket.write(head);
    socket.write(body);
    await once(socket, "close");
    sent += 1;
  }
  return sent;
}

const SILENT = "2100 silent connections";

/** Opens connections from an address of their own, says nothing on them, and opens those again that are closed. Returns how many it opened. */
async function keepSilent(port: number, over: AbortSignal): Promise<number> {
  let opened = 0;
  const hold = async (): Promise<void> => {
    while (!over.aborted) {
      const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" })
        .on("error", () => undefined)
        .resume();
      over.addEventListener("abort", () => socket.destroy(), { once: true });
      opened += 1;
      await once(socket, "close");
      await setTimeout(1000);
    }
  };
  await Promise.all(Array.from({ length: 2100 }, hold));
  return opened;
}

/** Milliseconds until the whole answer is there, on a connection of its own. */
const timeOf = (port: number, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const before = performance.now();
    get({ port, host: "127.0.0.1", path, agent: false }, (response) => response.resume().on("end", () => { resolve(performance.now() - before); })).on("error", reject); // prettier-ignore
  });

const quantile = (sorted: readonly number[], share: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN).toFixed(0);
const summary = (times: readonly number[]): string => {
  const sorted = [...times].sort((a, b) => a - b);
  return `${quantile(sorted, 0.5)} / ${quantile(sorted, 0.99)} / ${quantile(sorted, 1)}`;
};

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "dualfocus-liveness-"));
  const children: ChildProcess[] = [];
  try {
    const [redisPort, port] = [await freePort(), await freePort()];
    children.push(startRedis(redisPort, folder));
    const args = [
      "--redis",
      `redis://127.0.0.1:${redisPort}`,
      "--store",
      join(folder, "store"),
      "--port",
      String(port),
      "--rate",
      "0",
      "--max-queue",
      "100000",
    ];
    children.push(spawn(process.execPath, [...PROGRAM, "serve", ...args], { stdio: "ignore" }));
    const idle = fork(import.meta.filename, ["--idle"]);
    children.push(idle);
    const [idlePort] = (await once(idle, "message")) as [number];
    while (
      await timeOf(port, "/v1/health/live").then(
        () => false,
        () => true,
      )
    )
      await setTimeout(100);
    console.log(
      "| uploads | requests or connections | liveness, median / 99 % / most [ms] | an idle server beside it [ms] | answers within 100 ms |\n|---|---|---|---|---|",
    );
    for (const kind of ["nothing", ...Object.keys(UPLOADS), SILENT]) {
      const uploads =
        kind === "nothing" ? undefined : fork(import.meta.filename, ["--uploads", kind, String(port), "--clients", String(clients)]);
      if (uploads) await once(uploads, "message");
      const [live, beside]: [number[], number[]] = [[], []];
      for (const until = performance.now() + 1000 * seconds; performance.now() < until;) {
        const [ours, theirs] = await Promise.all([timeOf(port, "/v1/health/live"), timeOf(idlePort, "/")]);
        live.push(ours);
        beside.push(theirs);
        await setTimeout(20);
      }
      uploads?.send("over");
      const sent = uploads ? ((await once(uploads, "message")) as [number])[0] : 0;
      const within = live.filter((time) => time <= LIMIT).length / live.length;
      console.log(`| ${kind} | ${sent} | ${summary(live)} | ${summary(beside)} | ${(100 * within).toFixed(1)} % of ${live.length} |`);
    }
  } finally {
    for (const child of children) await end(child, "SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}

// Uploads come from a process of their own: what they take must not delay the probe.
if (process.argv[2] === "--uploads") {
  const [, , , kind = "", port = ""] = process.argv;
  const body = (await UPLOADS[kind]?.()) ?? new Uint8Array();
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  process.once("message", () => {
    over.abort();
  });
  process.send?.("ready");
  const send = (): Promise<number> => upload(Number(port), body, over.signal);
  const sent = kind === SILENT ? [await keepSilent(Number(port), over.signal)] : await Promise.all(Array.from({ length: clients }, send));
  process.send?.(
    sent.reduce((sum, each) => sum + each, 0),
    () => process.exit(0),
  );
} else if (process.argv[2] === "--idle") {
  const server = createServer((_, response) => response.end("{}")).listen(0, "127.0.0.1", () =>
    process.send?.((server.address() as { port: number }).port),
  );
} else await main();
