import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createTorchEngine } from "../../src/engine/torch.ts";
import { membershipFrom } from "../../src/train/distributed.ts";
import { assertClose } from "../helpers/close.ts";
import { trainShare } from "./peer.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-peers-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Two processes of peer.ts; their exit codes, what they said, and how long they took. */
async function pair(...args: string[]): Promise<{ codes: (number | null)[]; errors: string[]; seconds: number }> {
  const start = performance.now();
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const runs = [0, 1].map((rank) => {
    const env = { ...process.env, RANK: `${rank}`, WORLD_SIZE: "2", MASTER_ADDR: "127.0.0.1", MASTER_PORT: `${port}` };
    const child = spawn(process.execPath, ["--import", "tsx", join(import.meta.dirname, "peer.ts"), ...args], { env });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    return new Promise<[number | null, string]>((resolve) =>
      child.on("close", (code) => {
        resolve([code, said]);
      }),
    );
  });
  const ended = await Promise.all(runs);
  return { codes: ended.map(([code]) => code), errors: ended.map(([, said]) => said), seconds: (performance.now() - start) / 1000 };
}

const weightsOf = (file: string): Float32Array => {
  const { buffer, byteOffset, length } = readFileSync(file);
  return new Float32Array(buffer.slice(byteOffset, byteOffset + length));
};

test("two processes end with the weights of one that takes the doubled batch", { timeout: 120_000 }, async () => {
  const out = join(folder, "weights");
  const { codes, errors } = await pair(out, "4");
  assert.deepEqual(codes, [0, 0], errors.join("\n"));
  const [first, second] = [weightsOf(`${out}.0`), weightsOf(`${out}.1`)];
  assert.deepEqual(first, second);
  const alone = await trainShare(createTorchEngine({ threads: 1 }), { group: undefined, steps: 4 });
  assertClose(first, alone, 1e-6);
});

test("a process that vanishes ends the other within a minute, with a message that says so", { timeout: 120_000 }, async () => {
  const { codes, errors, seconds } = await pair(join(folder, "vanished"), "1000", "vanish");
  assert.notEqual(codes[0], 0);
  assert.match(errors[0] ?? "", /process 0 of 2: another process was lost or does not answer/);
  assert.ok(seconds < 75, `${seconds} s`);
});

test("the environment of torchrun is understood, and nonsense in it refused", () => {
  assert.equal(membershipFrom({}), undefined);
  assert.equal(membershipFrom({ RANK: "0", WORLD_SIZE: "1" }), undefined);
  assert.deepEqual(membershipFrom({ RANK: "1", WORLD_SIZE: "4", MASTER_ADDR: "node7", MASTER_PORT: "1234" }), {
    rank: 1,
    size: 4,
    host: "node7",
    port: 1234,
  });
  assert.throws(() => membershipFrom({ RANK: "4", WORLD_SIZE: "4" }), /RANK=4 WORLD_SIZE=4/);
});
