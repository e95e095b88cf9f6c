import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { depthSettings } from "../../src/depth/settings.ts";
import type { DepthDocument } from "../../src/depth/node/stackRun.ts";
import { createDirectoryStore } from "../../src/queue/directoryStore.ts";
import { DEFAULT_TENANT, frameOf, jobPrefix } from "../../src/queue/job.ts";
import { commitResults } from "../../src/queue/results.ts";
import type { JobRunner } from "../../src/queue/runner.ts";
import type { FileStore } from "../../src/queue/store.ts";
import { temporaryFolder } from "../data/files.ts";
import { BOUNDARY, frame, multipart } from "./hostileFiles.ts";
import { filesIn, idleRunner, sendRaw, stackPictures, withServer, type TestServer } from "./server.ts";

const pictures = stackPictures();
const type = `Content-Type: multipart/form-data; boundary=${BOUNDARY}`;
const head = (length: number): string =>
  `POST /v1/depth HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n${type}\r\nContent-Length: ${length}\r\n\r\n`;

/** The value of a gauge or counter. */
async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1]);
}

async function until(condition: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 2400; tries++) {
    if (await condition()) return;
    await sleep(50);
  }
  assert.fail(`${what} took longer than two minutes`);
}

/** A connection that counts what it hears. */
async function open(port: number): Promise<{ socket: Socket; heard: () => string; closed: Promise<unknown> }> {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (data) => (text += data.toString("latin1"))).on("error", () => undefined);
  await once(socket, "connect");
  return { socket, heard: () => text, closed: once(socket, "close") };
}

test("a hundred uploads of 6 MB are held at the same time in less than a third of their size", async (context) => {
  const child = fork(join(import.meta.dirname, "loadServer.ts"), {
    execArgv: process.execArgv,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  try {
    const [{ url, folder }] = (await once(child, "message")) as [{ url: string; folder: string }];
    const peak = async (): Promise<number> => {
      child.send("peak");
      const [{ peak: bytes }] = (await once(child, "message")) as [{ peak: number }];
      return bytes;
    };
    const padded = pictures.map((bytes) => Buffer.concat([bytes, Buffer.alloc(2 << 20, 7)])); // what follows a PNG's end is ignored
    const body = multipart(padded.map((bytes) => frame(bytes)));
    const port = Number(new URL(url).port);
    assert.match(await sendRaw(port, [head(body.length), body]), /^HTTP\/1\.1 202/); // everything is loaded once
    const before = await peak();
    const clients = await Promise.all(Array.from({ length: 100 }, () => open(port)));
    const half = body.length >> 1;
    for (const { socket } of clients) {
      socket.write(head(body.length));
      socket.write(body.subarray(0, half));
    }
    await until(async () => (await metric(url, "dualfocus_uploads")) === 100, "a hundred uploads at once");
    assert.equal((await fetch(`${url}/v1/health`)).status, 200, "the server answers others meanwhile");
    for (const { socket } of clients) socket.write(body.subarray(half));
    await Promise.all(clients.map(({ closed }) => closed));
    for (const { heard } of clients) assert.match(heard(), /^HTTP\/1\.1 202/);
    const grown = (await peak()) - before;
    context.diagnostic(`${Math.round(before / 2 ** 20)} MB before, ${Math.round(grown / 2 ** 20)} MB more at most`);
    assert.ok(
      grown < (100 * body.length) / 3,
      `${Math.round(grown / 2 ** 20)} MB more for ${Math.round((100 * body.length) / 2 ** 20)} MB`,
    );
    assert.equal(filesIn(join(folder, "jobs")).length, 303);
    assert.equal(filesIn(join(folder, ".uploads")).length, 0);
  } finally {
    child.disconnect();
    await once(child, "exit");
  }
});

const impatient = { headerSeconds: 0.6, idleSeconds: 0.4, requestSeconds: 1.5, heartbeatSeconds: 0.3 };

/** Nothing is left of a client that gave up or was given up. */
async function isClean({ url, folder }: TestServer): Promise<void> {
  await until(async () => (await metric(url, "dualfocus_uploads")) === 0, "the end of the uploads");
  assert.deepEqual(filesIn(folder), []);
  assert.equal((await fetch(`${url}/v1/health`)).status, 200);
}

test("a client that sends its headers byte by byte is given up", async () => {
  await withServer({ limits: impatient }, async (server) => {
    const { socket, heard, closed } = await open(server.port);
    const timer = setInterval(() => socket.write("X"), 50);
    socket.write("GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
    await closed;
    clearInterval(timer);
    assert.match(heard(), /^HTTP\/1\.1 408[^]*"code":"timeout"/);
    await isClean(server);
  });
});

test("a client that stops in the middle of a picture is given up after the idle time", async () => {
  await withServer({ limits: impatient }, async (server) => {
    const body = multipart(pictures.map((bytes) => frame(bytes)));
    const start = performance.now();
    const answer = await sendRaw(server.port, [head(body.length), body.subarray(0, 3000)]);
    assert.match(answer, /^HTTP\/1\.1 408[^]*nothing was sent for 0\.4 seconds/);
    assert.ok(performance.now() - start >= 400);
    await isClean(server);
  });
});

test("a client that sends a byte now and then is given up after the time for a request", { timeout: 300_000 }, async () => {
  await withServer({ limits: { ...impatient, idleSeconds: 20 } }, async (server) => {
    const body = multipart(pictures.map((bytes) => frame(bytes)));
    const { socket, heard, closed } = await open(server.port);
    socket.write(head(body.length));
    let at = 0;
    const timer = setInterval(() => socket.write(body.subarray(at, (at += 1))), 50);
    await closed;
    clearInterval(timer);
    assert.match(heard(), /^HTTP\/1\.1 408[^]*the request took too long to arrive/);
    await isClean(server);
  });
});

test("a client that hangs up in the middle of a picture leaves nothing behind", async () => {
  await withServer({}, async (server) => {
    const body = multipart(pictures.map((bytes) => frame(bytes)));
    for (const cut of [10, 300, 3000, body.length - 10]) {
      const { socket } = await open(server.port);
      socket.write(head(body.length));
      socket.write(body.subarray(0, cut));
      await until(async () => (await metric(server.url, "dualfocus_uploads")) === 1, "the upload's begin");
      socket.resetAndDestroy();
      await isClean(server);
    }
  });
});

/** Leaves a result of 40 MB. */
const generous = (store: FileStore, folder: string): JobRunner => ({
  ...idleRunner,
  async run({ id }) {
    const [file, key, size] = [join(folder, "large"), `${jobPrefix(id)}/depth.npy`, 40e6];
    await writeFile(file, new Uint8Array(size));
    await store.move(key, file);
    await commitResults(store, id, { document: {} as DepthDocument, files: { npy: { key, file: "depth.npy", size } } });
  },
});

test("a client that does not read its answer is let go", async () => {
  const folder = temporaryFolder();
  const store = createDirectoryStore(folder);
  await withServer({ limits: impatient, store, runner: generous(store, folder) }, async (server) => {
    const id = randomUUID();
    await server.queue.submit({ id, frames: [frameOf(id, 0, "png")], settings: depthSettings.parse({}), tenant: DEFAULT_TENANT });
    await until(async () => (await server.queue.get(id))?.state === "done", "the job");
    const { socket, heard, closed } = await open(server.port);
    socket.pause();
    socket.write(`GET /v1/jobs/${id}/results/npy HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    await sleep(4000); // the server waits four times 0.4 s for something to move
    socket.resume();
    await closed;
    assert.match(heard(), /^HTTP\/1\.1 200/);
    assert.ok(heard().length < 40e6, "the rest was not sent");
    assert.equal((await fetch(`${server.url}/v1/health`)).status, 200);
  });
});

test("a server that stops takes nothing new, lets an upload end, and cuts off who takes too long", { timeout: 300_000 }, async () => {
  const body = multipart(pictures.map((bytes) => frame(bytes)));
  const begin = async (server: TestServer): ReturnType<typeof open> => {
    const client = await open(server.port);
    client.socket.write(head(body.length));
    client.socket.write(body.subarray(0, 3000));
    await until(async () => (await metric(server.url, "dualfocus_uploads")) === 1, "the upload's begin");
    return client;
  };
  await withServer({}, async (server) => {
    const { socket, heard, closed } = await begin(server);
    const stopped = server.stop(20_000);
    await assert.rejects(fetch(`${server.url}/v1/health`), "nobody listens any more");
    socket.write(body.subarray(3000));
    await closed;
    assert.match(heard(), /^HTTP\/1\.1 202/);
    await stopped;
  });
  await withServer({}, async (server) => {
    const { heard, closed } = await begin(server);
    await server.stop(50);
    await closed;
    assert.equal(heard(), "");
    await until(() => filesIn(server.folder).length === 0, "removing the upload");
  });
});

test("only so many stacks are received at once, and only so many jobs may wait", async () => {
  const body = multipart(pictures.map((bytes) => frame(bytes)));
  await withServer({ limits: { uploads: 1, queued: 1 } }, async (server) => {
    const { socket } = await open(server.port);
    socket.write(head(body.length));
    await until(async () => (await metric(server.url, "dualfocus_uploads")) === 1, "the upload's begin");
    assert.match(await sendRaw(server.port, [head(body.length), body]), /^HTTP\/1\.1 503[^]*retry-after: 5\b[^]*being received/i);
    socket.destroy();
    await isClean(server);
    for (let n = 0; n < 2; n++) assert.match(await sendRaw(server.port, [head(body.length), body]), /^HTTP\/1\.1 202/); // one runs, one waits
    assert.match(await sendRaw(server.port, [head(body.length), body]), /^HTTP\/1\.1 503[^]*retry-after: 30\b[^]*1 jobs are waiting/i);
  });
});
