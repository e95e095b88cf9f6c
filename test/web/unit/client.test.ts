import assert from "node:assert/strict";
import { test } from "node:test";

import { Cancelled, createClient, WorkerProblem } from "../../../web/src/client.ts";
import type { Reply, Request } from "../../../web/src/worker/protocol.ts";

/** A worker that keeps what it is asked and answers when told to. */
function fakeWorker(): { port: Parameters<typeof createClient>[0]; asked: Request[]; reply: (reply: Reply) => void } {
  const asked: Request[] = [];
  let listener: (event: { data: Reply }) => void = () => undefined;
  const port = {
    postMessage: (request: Request) => void asked.push(request),
    addEventListener: (kind: string, added: (event: { data: Reply }) => void) => {
      if (kind === "message") listener = added;
    },
  } as unknown as Parameters<typeof createClient>[0];
  return {
    port,
    asked,
    reply: (reply) => {
      listener({ data: reply });
    },
  };
}

test("answers find the call that asked, whatever their order; events come before them", async () => {
  const { port, reply } = fakeWorker();
  const client = createClient(port);
  const seen: string[] = [];
  const check = client.call("check", { align: true }, { onEvent: ({ kind }) => seen.push(kind) });
  const focus = client.call("focus", { unit: "index" });
  reply({ id: 1, event: { kind: "stage", stage: "read", done: 1, of: 2 } });
  reply({ id: 2, answer: { name: "two" } as never });
  reply({ id: 1, answer: { findings: [] } as never });
  assert.deepEqual(await check, { findings: [] });
  assert.equal((await focus).name, "two");
  assert.deepEqual(seen, ["stage"]);
});

test("an error of the worker comes with a remedy in the page's words", async () => {
  const { port, reply } = fakeWorker();
  const call = createClient(port).call("check", { align: true });
  reply({ id: 1, problem: { code: "too-few-aligned", message: "only 1 of 5 frames could be aligned", facts: {} } });
  await assert.rejects(call, (error: unknown) => {
    assert.ok(error instanceof WorkerProblem);
    assert.deepEqual(
      [error.message, error.problem.remedy],
      ["Only 1 of 5 frames could be aligned.", "If the images are aligned already, untick “Align the images”."],
    );
    return true;
  });
});

test("a thumbnail reaches the page even if its call was stopped: it is made only once", async () => {
  const { port, reply } = fakeWorker();
  const stop = new AbortController();
  const frames: number[] = [];
  const call = createClient(port, ({ frame }) => frames.push(frame)).call("check", { align: true }, { signal: stop.signal });
  reply({ id: 1, event: { kind: "thumbnail", stack: 1, frame: 0, picture: new Blob() } });
  stop.abort();
  await assert.rejects(call, Cancelled);
  reply({ id: 1, event: { kind: "thumbnail", stack: 1, frame: 1, picture: new Blob() } });
  assert.deepEqual(frames, [0, 1]);
});

test("a stopped call ends at once, the worker is told, and a late answer is not heard", async () => {
  const { port, asked, reply } = fakeWorker();
  const stop = new AbortController();
  const call = createClient(port).call("run", { align: true }, { signal: stop.signal });
  stop.abort();
  await assert.rejects(call, Cancelled);
  assert.deepEqual(asked.at(-1), { cancel: 1 });
  reply({ id: 1, answer: {} as never });
});
