import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Tensor } from "../../src/engine/engine.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { joinProcessGroup } from "../../src/engine/torch/group.ts";
import { agree, joinGroup, membershipFrom, type Group } from "../../src/train/distributed.ts";
import { createClock, type Clock } from "../../src/train/loop.ts";
import { assertClose } from "../helpers/close.ts";
import { freePort } from "../helpers/freePort.ts";
import { trainShare } from "./peer.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-peers-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Pair {
  readonly codes: readonly (number | null)[];
  readonly errors: readonly string[];
  readonly seconds: number;
}

const engine = createTorchEngine({ threads: 1 });

/** Two processes of peer.ts; their exit codes, what they said, and how long they took. When the first fails the second is killed. */
async function pair(args: readonly string[], { port, ...environment }: { port?: number; [name: string]: unknown } = {}): Promise<Pair> {
  const start = performance.now();
  const place = port ?? (await freePort());
  const children = [0, 1].map((rank) => {
    const group = { RANK: `${rank}`, WORLD_SIZE: "2", MASTER_ADDR: "127.0.0.1", MASTER_PORT: `${place}` };
    const env = { ...process.env, ...group, ...(environment as NodeJS.ProcessEnv) };
    return spawn(process.execPath, [...process.execArgv, join(import.meta.dirname, "peer.ts"), ...args], { env });
  });
  children[0]?.on("close", (code) => code !== 0 && children[1]?.kill("SIGKILL"));
  const ended = await Promise.all(
    children.map((child) => {
      let said = "";
      child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
      return new Promise<[number | null, string]>((resolve) =>
        child.on("close", (code) => {
          resolve([code, said]);
        }),
      );
    }),
  );
  return { codes: ended.map(([code]) => code), errors: ended.map(([, said]) => said), seconds: (performance.now() - start) / 1000 };
}

const weightsOf = (file: string): Float32Array => {
  const { buffer, byteOffset, length } = readFileSync(file);
  return new Float32Array(buffer.slice(byteOffset, byteOffset + length));
};

test("two processes end with the weights of one that takes the doubled batch", { timeout: 300_000 }, async () => {
  const out = join(folder, "weights");
  const { codes, errors } = await pair([out, "4"]);
  assert.deepEqual(codes, [0, 0], errors.join("\n"));
  const [first, second] = [weightsOf(`${out}.0`), weightsOf(`${out}.1`)];
  assert.deepEqual(first, second);
  const alone = await trainShare(engine, { group: undefined, steps: 4 });
  assertClose(first, alone, 1e-6);
});

test("a process that vanishes ends the other at once, with a message that says so", { timeout: 300_000 }, async () => {
  const { codes, errors } = await pair([join(folder, "vanished"), "1000", "vanish"]); // which may stay silent for an hour
  assert.notEqual(codes[0], 0);
  assert.match(errors[0] ?? "", /process 0 of 2: another process was lost or does not respond/);
});

test("a process that hangs ends the other after the timeout, with the same message", { timeout: 300_000 }, async () => {
  const { codes, errors, seconds } = await pair([join(folder, "hung"), "1000", "hang"]);
  assert.notEqual(codes[0], 0);
  assert.match(errors[0] ?? "", /process 0 of 2: another process was lost or does not respond/);
  assert.ok(seconds > 3, `${seconds} s`);
});

test("processes meet at a store that torchrun's agent keeps, and again when it starts them anew", { timeout: 300_000 }, async () => {
  const port = await freePort();
  const agent = joinProcessGroup(engine, { host: "127.0.0.1", port, rank: 0, size: 1 });
  for (const TORCHELASTIC_RESTART_COUNT of ["0", "1"]) {
    const out = join(folder, `agent${TORCHELASTIC_RESTART_COUNT}`);
    const { codes, errors } = await pair([out, "1"], { port, TORCHELASTIC_USE_AGENT_STORE: "True", TORCHELASTIC_RESTART_COUNT });
    assert.deepEqual(codes, [0, 0], errors.join("\n"));
    assert.deepEqual(weightsOf(`${out}.0`), weightsOf(`${out}.1`));
  }
  agent.leave();
});

test("a group that does not come about names the place, and is not taken for a lost process", async () => {
  const busy = createServer().listen(0);
  await once(busy, "listening");
  const { port } = busy.address() as AddressInfo;
  const member = { size: 2, host: "127.0.0.1", port, attempt: 0 };
  const refused = (rank: number, message: RegExp): void => {
    assert.throws(() => joinGroup(engine, { ...member, rank, servesStore: rank === 0 }, { timeoutSeconds: 1 }), message);
  };
  refused(0, new RegExp(`^PeerError: process 0 of 2 did not find the others at 127.0.0.1:${port} \\(.*: the port must be free`));
  busy.close();
  await once(busy, "close");
  refused(
    1,
    new RegExp(
      `^PeerError: process 1 of 2 did not find the others at 127.0.0.1:${port} \\(.*: rank 0 or torchrun's agent must run a store there$`,
    ),
  );
});

/** A group of one whose average adds what another process would have wished; it notes what it was asked to average. */
function loneGroup({ wish = (): number => 0 } = {}): { group: Group; asked: string[] } {
  const asked: string[] = [];
  const average = (tensors: readonly Tensor[]): void => {
    for (const tensor of tensors) {
      asked.push(tensor.dtype);
      if (tensor.dtype === "f64") engine.call("aten::add_.Tensor", tensor, engine.constant([0, wish()], { shape: [2], dtype: "f64" }));
    }
  };
  return { asked, group: { rank: 0, size: 2, average, broadcast: () => undefined, leave: () => undefined } };
}

/** The step at which a loop under this agreement ends. */
function lastStep({ clock, stop }: { clock: Clock; stop: AbortSignal }): number {
  let step = 0;
  while (clock.progress(step) < 1 && !stop.aborted) step += 1;
  return step;
}

test("a budget of steps is kept to the step, however seldom processes agree", () => {
  const clock = createClock({ steps: 10 }, { now: () => 0, before: 0 });
  const { group, asked } = loneGroup();
  const statistics = [engine.full([3], 1)];
  const agreement = { engine, group, clock, timed: false, stop: new AbortController().signal, every: 4, statistics };
  assert.equal(lastStep(agree(agreement)), 10);
  assert.deepEqual(asked, Array.from({ length: 4 }, () => ["f64", "f32"]).flat()); // at 0, 4, 8 and the last
});

test("time, and another's wish to stop, count when processes agree", () => {
  let now = 0;
  const clock = createClock({ minutes: 1 }, { now: () => now++, before: 0 });
  const still = new AbortController().signal;
  const timed = { engine, clock, timed: true, stop: still, every: 4, statistics: [] };
  const steps = lastStep(agree({ ...timed, group: loneGroup().group }));
  assert.equal(steps % 4, 0);
  assert.ok(steps >= 56, `${steps}`); // a second an agreement

  const budget = { ...timed, clock: createClock({ steps: 100 }, { now: () => 0, before: 0 }), timed: false };
  let agreements = 0;
  const { group } = loneGroup({ wish: () => (++agreements === 3 ? 0.5 : 0) });
  assert.equal(lastStep(agree({ ...budget, group })), 8);
});

test("the environment of torchrun is understood, and nonsense in it refused", () => {
  assert.equal(membershipFrom({}), undefined);
  assert.equal(membershipFrom({ RANK: "0", WORLD_SIZE: "1" }), undefined);
  const first = { RANK: "0", WORLD_SIZE: "4", MASTER_ADDR: "node7", MASTER_PORT: "1234" };
  const membership = { rank: 0, size: 4, host: "node7", port: 1234, servesStore: true, attempt: 0 };
  assert.deepEqual(membershipFrom(first), membership);
  assert.deepEqual(membershipFrom({ ...first, RANK: "1" }), { ...membership, rank: 1, servesStore: false });
  const agent = { TORCHELASTIC_USE_AGENT_STORE: "True", TORCHELASTIC_RESTART_COUNT: "2" };
  assert.deepEqual(membershipFrom({ ...first, ...agent }), { ...membership, servesStore: false, attempt: 2 });
  assert.equal(membershipFrom({ ...first, TORCHELASTIC_USE_AGENT_STORE: "False" })?.servesStore, true);
  assert.throws(() => membershipFrom({ RANK: "4", WORLD_SIZE: "4" }), /RANK=4 WORLD_SIZE=4/);
  assert.throws(() => membershipFrom({ RANK: "", WORLD_SIZE: "4" }), /RANK= WORLD_SIZE=4/);
  assert.throws(() => membershipFrom({ ...first, MASTER_PORT: "65536" }), /MASTER_PORT=65536/);
});
