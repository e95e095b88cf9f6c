import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { EngineError } from "../../../src/engine/errors.ts";
import { createTorchEngine } from "../../../src/engine/torch/torchEngine.ts";
import { joinProcessGroup } from "../../../src/engine/torch/group.ts";

const member = fileURLToPath(new URL("./groupMember.ts", import.meta.url));

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => {
        resolve(port);
      });
    });
  });

interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/** Runs one member of a group in a process of its own; gives back what it printed. */
function start(task: string, rank: number, port: number): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...process.execArgv, member, task, String(rank), String(port)]);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => (output += bytes.toString()));
    child.on("close", (code) => {
      resolve({ code, output });
    });
  });
}

async function pair(task: string): Promise<[Outcome, Outcome]> {
  const port = await freePort();
  return Promise.all([start(task, 0, port), start(task, 1, port)]);
}

test("two processes share weights and average gradients", async () => {
  for (const { code, output } of await pair("train")) {
    assert.equal(code, 0, output);
    assert.deepEqual(JSON.parse(output), {
      weights: [1, 2, 3, 4], // rank 0's
      gradient: [1.5, 1.5, 1.5, 1.5], // the mean of 1 and 2
      bias: [15], // the mean of 10 and 20
    });
  }
});

test("a lost peer becomes an error in the one that stays", async () => {
  const [stays] = await pair("leave");
  assert.equal(stays.code, 0, stays.output);
  assert.match(stays.output, /^EngineError: allReduce\(object, \[1\]\): /);
});

test("a group that nobody joins times out, and wrong options are refused", async () => {
  const engine = createTorchEngine({ threads: 1 });
  const options = { host: "127.0.0.1", port: await freePort(), rank: 1, size: 2, timeoutSeconds: 1 };
  const refuses = (changed: Partial<typeof options> & { backend?: "gloo" | "nccl" }, message: RegExp) => {
    assert.throws(
      () => joinProcessGroup(engine, { ...options, ...changed }),
      (error) => error instanceof EngineError && message.test(error.message),
    );
  };
  refuses({}, /joinGroup\(127\.0\.0\.1, /);
  refuses({ rank: 2 }, /rank: expected 0 to size - 1/);
  refuses({ port: 0 }, /port/);
  refuses({ timeoutSeconds: NaN }, /timeout/);
  refuses({ backend: "mpi" as "gloo" }, /backend/);
  assert.throws(() => {
    engine.native("leaveGroup", {});
  }, /leaveGroup\(object\): group: expected a process group/);
  assert.throws(() => {
    engine.native("allReduce", engine.full([1], 1));
  }, /group: expected a process group/);
});
