import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";
import { createDirectoryStore } from "../../src/queue/directoryStore.ts";
import { createProcessRunner } from "../../src/queue/processRunner.ts";
import { DualFocusError } from "../../src/errors.ts";
import type { JobRunner } from "../../src/queue/runner.ts";
import { loggedRunner, type Log } from "../../src/serve/log.ts";
import type { JobView } from "../../src/serve/schemas.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { runCommand } from "../helpers/command.ts";
import { cr3File, rafFile } from "../io/rawLayouts.ts";
import { filesIn, idleRunner, stackForm, stackPictures, withServer, type TestServer } from "./server.ts";

const pictures = stackPictures();
const options = { distances: [1, 2, 3], save: ["npy", "confidence"], size: 64 };

async function submit({ url }: TestServer, given: unknown = options): Promise<JobView> {
  const response = await fetch(`${url}/v1/depth`, { method: "POST", body: stackForm(pictures, given) });
  assert.equal(response.status, 202, await response.clone().text());
  const job = (await response.json()) as JobView;
  assert.equal(response.headers.get("Location"), `/v1/jobs/${job.id}`);
  return job;
}

/** The events of a job until the server ends them. */
const followed = async ({ url }: TestServer, { id }: JobView): ReturnType<typeof eventsOf> =>
  eventsOf(await fetch(`${url}/v1/jobs/${id}/events`));

async function eventsOf(response: Response): Promise<{ event: string; job: JobView }[]> {
  assert.equal(response.headers.get("Content-Type"), "text/event-stream");
  const text = await response.text();
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("event: "))
    .map((block) => {
      const [, event = "", data = ""] = /^event: (\w+)\n(?:id: .*\n)?data: (.*)$/.exec(block) ?? [];
      return { event, job: JSON.parse(data) as JobView };
    });
}

test("a job sent over HTTP gives byte for byte what the command gives, with distances as a first one and a step", async (context) => {
  const folder = temporaryFolder();
  pictures.forEach((bytes, n) => {
    put(join(folder, "stack", `${n}.png`), bytes);
  });
  const output = join(folder, "out");
  const args = ["--distances", "1,2,3", "--save", "npy,confidence", "--size", "64", "-o", output, "--threads", "1", "--quiet"];
  const { code, err } = await runCommand(context, "depth", join(folder, "stack"), ...args);
  assert.equal(code, 0, err);
  const store = join(folder, "store");
  const runner = await createProcessRunner({ store, processes: 1, threads: 1 });
  await withServer({ runner, store: createDirectoryStore(store) }, async (server) => {
    const job = await submit(server, { ...options, distances: "1m+100cm" });
    const events = await followed(server, job);
    const last = events.at(-1);
    assert.deepEqual([last?.event, last?.job.state], ["end", "done"], JSON.stringify(last));
    assert.ok(events.length >= 2 && events.slice(0, -1).every(({ event }) => event === "progress"));
    const status = (await (await fetch(server.url + job.links.self)).json()) as JobView;
    assert.deepEqual(status, last?.job, "polling tells the same as listening");
    assert.deepEqual(
      status.results?.map(({ name, file, type }) => [name, file, type]),
      [
        ["npy", "depth.npy", "application/octet-stream"],
        ["confidence", "confidence.png", "image/png"],
        ["alignment", "alignment.json", "application/json"],
        ["result", "result.json", "application/json"],
      ],
    );
    for (const { name, file, bytes, href, type } of status.results ?? []) {
      const response = await fetch(server.url + href);
      const got = Buffer.from(await response.arrayBuffer());
      assert.equal(got.length, bytes);
      assert.equal(response.headers.get("Content-Type"), type);
      assert.equal(response.headers.get("Content-Disposition"), `attachment; filename="${file}"`);
      if (name !== "result") assert.ok(got.equals(readFileSync(join(output, file))), `${name} differs from the command's`);
    }
    const text = await (await fetch(`${server.url}/v1/jobs/${job.id}/results/result`)).text();
    assert.ok(!text.includes(folder) && !text.includes("holiday"), "the result tells neither the server's folders nor the client's names");
    assert.equal((JSON.parse(text) as { unit: string }).unit, "m");
    const head = await fetch(`${server.url}/v1/jobs/${job.id}/results/npy`, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("Content-Length")], [200, String(last?.job.results?.[0]?.bytes)]);
    assert.equal((await fetch(`${server.url}/v1/jobs/${job.id}/results/glb`)).status, 404, "what was not asked for is not there");
    const again = await fetch(`${server.url}/v1/jobs/${job.id}/events`, { headers: { "Last-Event-ID": "end" } });
    assert.equal(again.status, 204, "a client that has had the end is told not to come back");
    const gone = await fetch(`${server.url}/v1/jobs/${job.id}`, { method: "DELETE" });
    assert.equal(gone.status, 204);
    assert.deepEqual(filesIn(store), [], "nothing of a deleted job is left");
    assert.equal((await fetch(`${server.url}/v1/jobs/${job.id}`)).status, 404);
  });
});

test("raw files of other layouts than TIFF are taken, as the command takes them", async () => {
  const folder = temporaryFolder();
  const runner = await createProcessRunner({ store: folder, processes: 1, threads: 1 });
  const previews = await Promise.all(pictures.map(async (bytes) => new Uint8Array(await sharp(bytes).jpeg().toBuffer())));
  const sensor = { width: 64, height: 48 };
  await withServer({ runner, store: createDirectoryStore(folder) }, async (server) => {
    const depthOf = async (images: readonly Uint8Array<ArrayBuffer>[]): Promise<Buffer> => {
      const response = await fetch(`${server.url}/v1/depth`, { method: "POST", body: stackForm(images, options) });
      assert.equal(response.status, 202, await response.clone().text());
      const job = (await response.json()) as JobView;
      const last = (await followed(server, job)).at(-1)?.job;
      assert.equal(last?.state, "done", JSON.stringify(last));
      return Buffer.from(await (await fetch(`${server.url}/v1/jobs/${job.id}/results/npy`)).arrayBuffer());
    };
    const expected = await depthOf(previews);
    assert.ok((await depthOf(previews.map((jpeg) => rafFile(sensor, jpeg)))).equals(expected), "RAF");
    assert.ok((await depthOf(previews.map((jpeg) => cr3File(sensor, jpeg)))).equals(expected), "CR3");
  });
});

test("a picture that only the decoder finds broken fails the job with a message that names it, and no folder of the server", async () => {
  const folder = temporaryFolder();
  const runner = await createProcessRunner({ store: folder, processes: 1, threads: 1 });
  const broken = pictures.map((bytes, n) => (n === 1 ? bytes.slice(0, bytes.length / 2) : bytes));
  await withServer({ runner, store: createDirectoryStore(folder) }, async (server) => {
    const response = await fetch(`${server.url}/v1/depth`, { method: "POST", body: stackForm(broken, options) });
    const job = (await response.json()) as JobView;
    const last = (await followed(server, job)).at(-1)?.job;
    assert.deepEqual([last?.state, last?.error?.code, last?.attempts], ["failed", "bad-file", 1]);
    assert.match(last?.error?.message ?? "", /^frame_0001\.png: /);
    assert.ok(last?.error?.remedy);
    const result = await fetch(`${server.url}/v1/jobs/${job.id}/results/npy`);
    assert.deepEqual([result.status, ((await result.json()) as { detail: string }).detail], [409, "the job is failed"]);
  });
});

test("what goes wrong inside is told to the log, not to the client", async () => {
  const secret = "ENOENT /srv/secret/place";
  const runner: JobRunner = {
    ...idleRunner,
    run: () => Promise.reject(new DualFocusError("internal", secret)),
  };
  const logged: string[] = [];
  const log: Log = (...line) => logged.push(JSON.stringify(line));
  await withServer({ runner: loggedRunner(runner, log) }, async (server) => {
    const job = await submit(server);
    const last = (await followed(server, job)).at(-1)?.job;
    assert.equal(last?.error?.code, "internal");
    assert.ok(logged.some((line) => line.includes(secret) && line.includes(job.id)));
    assert.ok(!JSON.stringify(last).includes("secret"));
  });
});

test("a job that runs can be deleted: it is stopped, those who listen hear it, its files are gone", async () => {
  let stopped = false;
  const runner: JobRunner = {
    ...idleRunner,
    run: (job, run) => {
      run.onProgress({ stage: "infer", done: 1, of: 3 });
      return idleRunner.run(job, run).finally(() => (stopped = true));
    },
  };
  await withServer({ runner }, async (server) => {
    const job = await submit(server);
    const early = await fetch(`${server.url}/v1/jobs/${job.id}/results/npy`);
    assert.deepEqual([early.status, ((await early.json()) as { detail: string }).detail], [409, "the job is running"]);
    const events = await fetch(`${server.url}/v1/jobs/${job.id}/events`); // its headers are there: the server listens with it
    const listening = eventsOf(events);
    assert.equal(filesIn(join(server.folder, "jobs")).length, 3);
    assert.equal((await fetch(`${server.url}/v1/jobs/${job.id}`, { method: "DELETE" })).status, 204);
    const heard = await listening;
    assert.deepEqual(heard[0]?.job.progress, { stage: "infer", done: 1, of: 3 });
    assert.equal(heard.at(-1)?.job.state, "cancelled");
    assert.ok(stopped);
    assert.deepEqual(filesIn(server.folder), []);
    assert.equal((await fetch(`${server.url}/v1/jobs/${job.id}`, { method: "DELETE" })).status, 404);
  });
});

test("those who listen get signs of life, may leave and come back, and are let go when the server stops", async () => {
  const { text } = await withServer({ limits: { heartbeatSeconds: 0.05, listeners: 1 } }, async (server) => {
    const job = await submit(server);
    const leave = new AbortController();
    const head = await fetch(`${server.url}/v1/jobs/${job.id}/events`, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("Content-Type")], [200, "text/event-stream"]);
    const first = await fetch(`${server.url}/v1/jobs/${job.id}/events`, { signal: leave.signal });
    assert.equal(first.status, 200, "whoever asked for headers alone does not listen");
    const busy = await fetch(`${server.url}/v1/jobs/${job.id}/events`);
    assert.deepEqual([busy.status, busy.headers.get("Retry-After")], [503, "30"]);
    const reader = (first.body as ReadableStream<Uint8Array>).getReader();
    let heard = "";
    while (!heard.includes(": still here")) heard += Buffer.from((await reader.read()).value ?? new Uint8Array()).toString();
    assert.match(heard, /^event: progress\ndata: \{.*"state":"running"/);
    leave.abort();
    const ask = (): Promise<Response> => fetch(`${server.url}/v1/jobs/${job.id}/events`);
    let again = await ask();
    while (again.status === 503) again = await ask(); // until the server has noticed
    assert.equal(again.status, 200, "whoever has left makes room");
    return { text: again.text() }; // read while the server stops
  });
  assert.match(await text, /event: progress/);
});
