import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createProcessRunner } from "../../src/queue/processRunner.ts";
import { startRedisWorker } from "../../src/queue/redisWorker.ts";
import type { JobView } from "../../src/serve/schemas.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { runCommand, type CommandResult } from "../helpers/command.ts";
import { freePort } from "../helpers/freePort.ts";
import { startRedis } from "../queue/helpers/redisServer.ts";
import { BOUNDARY, frame, multipart } from "./hostileFiles.ts";
import { filesIn, stackForm, stackPictures } from "./server.ts";

const main = join(import.meta.dirname, "../../src/cli/main.ts");
const pictures = stackPictures();
const token = "a-token-of-many-letters";

interface Here {
  readonly url: string;
  readonly stop: () => Promise<CommandResult>;
}

/** Runs the command inside this process until `stop`, which is what SIGTERM is to it. */
async function serveHere(context: TestContext, ...args: readonly string[]): Promise<Here> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const result = runCommand(context, "serve", "--port", String(port), ...args);
  const isUp = async (): Promise<boolean> =>
    fetch(`${url}/v1/health/live`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) await Promise.race([sleep(20), result.then(({ err }) => assert.fail(err))]);
  const stop = (): Promise<CommandResult> => {
    process.emit("SIGTERM", "SIGTERM");
    return result;
  };
  return { url, stop };
}

/** Runs it in a process of its own, which ends with the test at the latest. */
async function serveElsewhere(context: TestContext, ...args: readonly string[]): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [...process.execArgv, main, "serve", "--port", "0", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  context.after(() => child.kill("SIGKILL"));
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { url, child };
}

/** Sets variables until the test ends. */
function setEnvironment(context: TestContext, values: Readonly<Record<string, string>>): void {
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, process.env[name]]));
  Object.assign(process.env, values);
  context.after(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  });
}

test("the command serves until it is told to stop, with a token from a file, and leaves no temporary file", async (context) => {
  const folder = temporaryFolder();
  const store = join(folder, "store");
  put(join(folder, "token"), `${token}\n`);
  const server = await serveHere(context, "--store", store, "--token-file", join(folder, "token"), "--concurrency", "1");
  assert.equal((await fetch(`${server.url}/v1/jobs/no-such-job`)).status, 401);
  const headers = { Authorization: `Bearer ${token}` };
  assert.equal((await fetch(`${server.url}/v1/jobs/no-such-job`, { headers })).status, 404);
  const response = await fetch(`${server.url}/v1/depth`, { method: "POST", body: stackForm(pictures, { save: ["npy"] }), headers });
  assert.equal(response.status, 202);
  assert.ok(existsSync(join(store, ".server")), "others are kept away from its jobs");
  const { code, out, err } = await server.stop();
  assert.equal(code, 0, err);
  assert.equal(out, `${server.url}\n`);
  const events = err
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { event: string }).event);
  assert.deepEqual([events[0], events.at(-1)], ["listening", "stopped"]);
  assert.ok(events.includes("job started"));
  assert.ok(!err.includes(token) && !err.includes("holiday"));
  assert.ok(!existsSync(join(store, ".server")));
  assert.deepEqual(readdirSync(join(store, ".uploads")), []);
  for (const folder of [store, join(store, ".uploads"), join(store, "jobs")]) assert.equal(statSync(folder).mode & 0o777, 0o700, folder);
  for (const file of filesIn(store)) assert.equal(statSync(file).mode & 0o777, 0o600, file);
});

test("a second server is kept away; what a killed one was receiving is removed by the next", async (context) => {
  const store = temporaryFolder();
  const { url, child } = await serveElsewhere(context, "--store", store);
  const refused = await runCommand(context, "serve", "--port", "0", "--store", store);
  assert.deepEqual([refused.code, /another server uses it/.test(refused.err)], [2, true]);
  const body = multipart(pictures.map((bytes) => frame(bytes)));
  const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined);
  const head = [`Content-Type: multipart/form-data; boundary=${BOUNDARY}`, `Content-Length: ${body.length}`].join("\r\n");
  socket.write(`POST /v1/depth HTTP/1.1\r\nHost: localhost\r\n${head}\r\n\r\n`);
  socket.write(body.subarray(0, -100));
  const received = (): number => filesIn(join(store, ".uploads")).length;
  for (let tries = 0; tries < 400 && received() < 3; tries++) await sleep(25);
  assert.equal(received(), 3);
  child.kill("SIGKILL");
  await once(child, "exit");
  const next = await serveHere(context, "--store", store);
  assert.equal(received(), 0);
  assert.equal((await next.stop()).code, 0);
});

test("with --redis the server queues and a worker computes", async (context) => {
  const { url: redis } = await startRedis(context);
  const store = temporaryFolder();
  const server = await serveHere(context, "--store", store, "--redis", redis);
  const options = { distances: [1, 2, 3], size: 64, save: ["npy"] };
  const response = await fetch(`${server.url}/v1/depth`, { method: "POST", body: stackForm(pictures, options) });
  const job = (await response.json()) as JobView;
  assert.deepEqual([response.status, job.state], [202, "queued"]);
  const events = (await fetch(server.url + job.links.events)).body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(events);
  let heard = (await events.read()).value ?? ""; // before a worker is there to take the job
  const runner = await createProcessRunner({ store, processes: 1, threads: 1 });
  const worker = startRedisWorker({ url: redis, runner, name: "test", lock: 30_000, log: () => undefined });
  for (let next = await events.read(); !next.done; next = await events.read()) heard += next.value;
  assert.match(heard, /"state":"queued"[^]*event: end\nid: end\ndata: .*"state":"done"/);
  const result = await fetch(`${server.url}/v1/jobs/${job.id}/results/npy`);
  assert.deepEqual([result.status, (await result.arrayBuffer()).byteLength > 64 * 48 * 4], [200, true]);
  assert.match(await (await fetch(`${server.url}/metrics`)).text(), /^dualfocus_jobs\{state="done"\} 1$/m);
  assert.equal((await fetch(server.url + job.links.self, { method: "DELETE" })).status, 204);
  assert.deepEqual(filesIn(store), []);
  await worker.stop(5000);
  await runner.close();
  const { code, err } = await server.stop();
  assert.equal(code, 0, err);
});

test("a token from the environment is not handed on to the processes that compute; what others can reach needs one", async (context) => {
  setEnvironment(context, { DUALFOCUS_TOKENS: `alice ${token}; bob ${token}-of-bob` });
  const store = temporaryFolder();
  const server = await serveHere(context, "--store", store, "--host", "0.0.0.0", "--allow-host", "depth.example");
  assert.equal(process.env["DUALFOCUS_TOKENS"], undefined);
  const status = (headers: Record<string, string>): Promise<number> =>
    fetch(`${server.url}/v1/quota`, { headers }).then((response) => response.status);
  assert.deepEqual([await status({}), await status({ Authorization: `Bearer ${token}-of-bob` })], [401, 200]);
  const { code, err } = await server.stop();
  assert.deepEqual([code, err.includes(token), err.includes('"tenant":"bob"')], [0, false, true], err);
  const open = await serveHere(context, "--store", store, "--host", "0.0.0.0", "--no-token");
  assert.equal(await fetch(`${open.url}/v1/quota`).then((response) => response.status), 200, "if that is what is wanted");
  await open.stop();
});

test("with a bucket, what is being received lies in a folder that nobody can foresee or read", async (context) => {
  const { url: redis } = await startRedis(context);
  const keys = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "key", AWS_ENDPOINT_URL_S3: "http://127.0.0.1:1" };
  const temporary = temporaryFolder();
  setEnvironment(context, { ...keys, TMPDIR: temporary });
  mkdirSync(join(temporary, ".uploads"), { mode: 0o777 }); // laid out by someone else
  const folders = (): string[] => readdirSync(temporary).filter((name) => name.startsWith("dualfocus@"));
  const server = await serveHere(context, "--store", "s3://bucket/prefix", "--redis", redis);
  const [first = "", ...others] = folders();
  assert.deepEqual(others, []);
  assert.match(first, /@[0-9a-f]{8}-[0-9a-f-]{27}$/);
  assert.equal(statSync(join(temporary, first)).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(join(temporary, ".uploads")), []);
  await server.stop();
  assert.deepEqual(folders(), [], "it goes with the server");
});

test("what cannot be served is reported with what to do about it", async (context) => {
  const folder = temporaryFolder();
  put(join(folder, "short"), "secret");
  put(join(folder, "placeholder"), "change-me-to-something-long");
  setEnvironment(context, { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "key", AWS_ENDPOINT_URL_S3: "http://minio.example" });
  put(join(folder, "file"), "");
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const store = ["--store", join(folder, "store")];
  const wrong: readonly (readonly [RegExp, ...string[]])[] = [
    [/Expected a whole number, 0 to 65535/, "--port", "99999"],
    [/Expected an origin such as https:\/\/example.org/, "--cors", "https://example.org/page"],
    [/Expected a number above 0/, "--keep", "0"],
    [/Expected a whole number, 1 or more/, "--max-frames", "0"],
    [/Expected a whole number/, "--rate", "1.5"],
    [/short, line 1: a token has 16 or more letters/, "--token-file", join(folder, "short")],
    [/placeholder, line 1: this is a placeholder, not a random token/, "--token-file", join(folder, "placeholder")],
    [/without a token, everyone who can reach 0\.0\.0\.0 could use the server/, ...store, "--host", "0.0.0.0"],
    [/Expected a name or address such as depth\.example\.org, without a port/, "--allow-host", "depth.example.org:8080"],
    [/http:\/\/minio\.example: images and results would be sent to this store in the clear/, "--store", "s3://bucket"],
    [/missing: there is no such file/, "--token-file", join(folder, "missing")],
    [/file: is a file, not a folder/, "--store", join(folder, "file")],
    [/redis:\/\/127\.0\.0\.1:1: no Redis answers there/, ...store, "--redis", "redis://127.0.0.1:1"],
    [/127\.0\.0\.1, port \d+: another program listens there/, ...store, "--port", String(port)],
    [/192\.0\.2\.1, port 0: this machine has no such address/, ...store, "--host", "192.0.2.1", "--port", "0", "--no-token"],
  ];
  for (const [message, ...args] of wrong) {
    const { code, err } = await runCommand(context, "serve", ...args);
    assert.match(err, message);
    assert.ok(code === 2 || code === 3, `${args.join(" ")}: ${code}`);
  }
  taken.close();
  assert.ok(!existsSync(join(folder, "store", ".server")), "the folder is free again");
});
