import assert from "node:assert/strict";
import { createReadStream, readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { DEFAULT_LIMITS } from "../../src/serve/limits.ts";
import { createTurns } from "../../src/serve/turns.ts";
import { piecesOf, receiveUpload } from "../../src/serve/upload.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { BOUNDARY, frame, multipart } from "./hostileFiles.ts";

/** A process whose clock goes forward by what tasks take, and whose loop goes round when it is told to. */
function handLoop(): { now: () => number; later: (body: () => void) => void; work: (milliseconds: number) => void; round: () => boolean } {
  let [clock, next] = [0, [] as (() => void)[]];
  return {
    now: () => clock,
    later: (body) => next.push(body),
    work: (milliseconds) => (clock += milliseconds),
    round: () => {
      const bodies = next;
      next = [];
      for (const body of bodies) body();
      return bodies.length > 0;
    },
  };
}

test("work is done in the order it came, and others are looked after every 10 ms", async () => {
  const loop = handLoop();
  const turns = createTurns(loop);
  const done: number[] = [];
  const results = [4, 4, 4, 30, 1, 1].map((milliseconds, n) =>
    turns(() => {
      loop.work(milliseconds);
      done.push(n);
      return n;
    }),
  );
  assert.deepEqual(done, [], "nothing at once");
  const rounds: number[][] = [];
  while (loop.round()) rounds.push(done.splice(0));
  assert.deepEqual(rounds, [[0, 1, 2], [3], [4, 5]]);
  assert.deepEqual(await Promise.all(results), [0, 1, 2, 3, 4, 5]);
});

test("a task that fails is its own affair, and work goes on after a pause", async () => {
  const loop = handLoop();
  const turns = createTurns(loop);
  const failed = turns(() => {
    throw new Error("mine");
  });
  const good = turns(() => "good");
  assert.ok(loop.round());
  await assert.rejects(failed, /mine/);
  assert.equal(await good, "good");
  assert.ok(!loop.round(), "it rests");
  const later = turns(() => "later");
  loop.round();
  assert.equal(await later, "later");
});

test("a chunk is cut where every eighth part may begin", () => {
  const parts = Array.from({ length: 20 }, (_, n) => `\r\n--b part ${n}`);
  const chunk = Buffer.from(`start${parts.join("")}`);
  const pieces = piecesOf(chunk).map(String);
  assert.deepEqual(pieces, [`start${parts.slice(0, 7).join("")}`, parts.slice(7, 15).join(""), parts.slice(15).join("")]);
  const data = Buffer.alloc(1 << 16, "\r\n-");
  assert.deepEqual(piecesOf(data), [data]);
});

test("an upload is parsed a piece at a time, each in its turn, and comes out whole", async () => {
  const folder = temporaryFolder();
  const images = Array.from({ length: 90 }, (_, n) => Buffer.alloc(n === 5 ? 300_000 : 50 + n, n));
  const body = multipart(images.map((bytes) => frame(bytes)));
  put(join(folder, "body"), body);
  const headers = { "content-type": `multipart/form-data; boundary=${BOUNDARY}` };
  const request = Object.assign(createReadStream(join(folder, "body")), { headers, complete: true }) as unknown as IncomingMessage;
  let tasks = 0;
  const turns = createTurns();
  const { files } = await receiveUpload(request, {
    folder,
    limits: DEFAULT_LIMITS,
    turns: (task) => {
      tasks += 1;
      return turns(task);
    },
  });
  assert.equal(files.length, 90);
  assert.ok(tasks >= 90 / 8, `${tasks} turns for 90 parts`);
  for (const [n, bytes] of images.entries()) assert.ok(readFileSync(files[n] as string).equals(bytes), `file ${n}`);
});
