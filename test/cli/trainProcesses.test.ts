import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { trainCommand } from "../../src/cli/train.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { checkpointTensors, readCheckpoint } from "../../src/train/checkpoint.ts";
import { overrideConfig, type TrainConfig } from "../../src/train/config.ts";
import { smoke } from "../../src/train/presets.ts";
import { openSource } from "../../src/train/source.ts";
import { createTrainer } from "../../src/train/trainer.ts";
import { assertClose } from "../helpers/close.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-processes-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

const main = join(import.meta.dirname, "../../src/cli/main.ts");
const limits = { timeout: 300_000, skip: process.platform === "win32" };

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** `dualfocus train` with a process group of its own; resolves when it and all that share its output have ended. */
function dualfocus(
  args: readonly string[],
  { env = {}, onStep }: { env?: NodeJS.ProcessEnv; onStep?: (pid: number) => void } = {},
): Promise<Ended> {
  const command = spawn(process.execPath, [...process.execArgv, main, "train", "--preset", "smoke", "--threads", "1", ...args], {
    env: { ...process.env, ...env },
    detached: true,
  });
  let [out, err, told] = ["", "", false];
  command.stdout.on("data", (text: Buffer) => (out += text.toString()));
  command.stderr.on("data", (text: Buffer) => {
    err += text.toString();
    if (told || !/step 4 /.test(err) || command.pid === undefined) return;
    told = true;
    onStep?.(command.pid);
  });
  return new Promise((resolve) =>
    command.on("close", (code) => {
      resolve({ code, out, err });
    }),
  );
}

test("the exit code is that of the process that failed", limits, async () => {
  const { code, err } = await dualfocus(["--processes", "2", "--set", "clip=-1", "-o", join(folder, "wrong")]);
  assert.equal(code, 2, err);
  assert.match(err, /clip: Too small/);
  assert.match(err, /dualfocus: process [01] of 2 ended with exit code 2\n/);
});

test("one process trains in place, none are refused, and a given RANK wins", limits, async () => {
  const one = await dualfocus(["--processes", "1", "--steps", "1", "-o", join(folder, "one")]);
  assert.equal(one.code, 0, one.err);
  assert.match(one.out, /^Done after 1 steps/);
  for (const count of ["0", "-1", "1.5"]) {
    const command = trainCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => undefined });
    await assert.rejects(
      command.parseAsync(["--processes", count, "-o", join(folder, "none")], { from: "user" }),
      /--processes.*Expected a whole number, 1 or more/,
    );
  }
  const env = { RANK: "0", WORLD_SIZE: "1" };
  const member = await dualfocus(["--processes", "2", "--steps", "1", "-o", join(folder, "member")], { env });
  assert.equal(member.code, 0, member.err);
  assert.match(member.err, /--processes 2 is ignored because RANK=0 is set/);
});

test("when the one that started them is killed, processes save and end", limits, async () => {
  const run = join(folder, "orphans");
  const { out } = await dualfocus(["--processes", "2", "--steps", "100000", "-o", run], {
    onStep: (pid) => process.kill(pid, "SIGKILL"),
  });
  assert.match(out, /^Stopped after \d+ steps/);
  assert.ok(existsSync(join(run, "checkpoint.safetensors")));
});

test("Ctrl-C, which the terminal sends to all of its programs, stops each process once, saved", limits, async () => {
  const run = join(folder, "interrupted");
  const { out, err } = await dualfocus(["--processes", "2", "--steps", "100000", "-o", run], {
    onStep: (pid) => process.kill(-pid, "SIGINT"),
  });
  assert.match(out, /^Stopped after \d+ steps/, err);
  assert.equal(err.match(/^saving a checkpoint, then stopping/gm)?.length, 2);
  assert.ok(existsSync(join(run, "checkpoint.safetensors")));
});

const STEPS = 3;

/** Running statistics and their averages after the batches that process `rank` of two takes, when weights stand still. */
async function statisticsOf(rank: number, config: TrainConfig): Promise<Map<string, Float32Array>> {
  const engine = createTorchEngine({ threads: 1 });
  const source = await openSource({ engine, config, share: { rank, of: 2 }, progress: () => undefined });
  const trainer = createTrainer({ engine, config });
  await source.prepare(0);
  for (let step = 0; step < STEPS; step++) trainer.step(await source.batches.batch(step), { step: step + 1, rate: 1e-30 });
  await source.close();
  const found = [...checkpointTensors(trainer)].filter(([name]) => /^(weights|ema)\..*running/.test(name));
  return new Map(found.map(([name, tensor]) => [name, (engine.read(tensor) as Float32Array).slice()]));
}

test("what two processes save of batch norms is the mean of what each has seen", limits, async () => {
  const settings = ["learningRate.from=1e-30", "learningRate.to=1e-30", "ema.every=1", `budget={"steps":${STEPS}}`];
  const run = join(folder, "statistics");
  const { code, err } = await dualfocus(["--processes", "2", ...settings.flatMap((setting) => ["--set", setting]), "-o", run]);
  assert.equal(code, 0, err);
  const { tensors } = await readCheckpoint(join(run, "checkpoint.safetensors"));
  const config = overrideConfig(smoke, settings);
  const [first, second] = [await statisticsOf(0, config), await statisticsOf(1, config)];
  assert.ok(first.size > 0 && first.size % 4 === 0); // mean and variance, of weights and of averages
  for (const [name, values] of first) {
    const others = second.get(name) ?? new Float32Array();
    const { bytes } = tensors.get(name) ?? { bytes: new Uint8Array() };
    const saved = new Float32Array(Uint8Array.from(bytes).buffer);
    assert.notDeepEqual(values, others, name);
    assertClose(
      saved,
      values.map((value, i) => (value + (others[i] as number)) / 2),
      1e-5,
    );
  }
});
