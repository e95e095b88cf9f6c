import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { UserError } from "../../src/system/userError.ts";
import { trainCommand } from "../../src/cli/train.ts";
import { lockFile } from "../../src/system/lock.ts";
import { readCheckpoint } from "../../src/train/checkpoint.ts";
import { runFiles } from "../../src/train/run.ts";
import { reported } from "../helpers/command.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-train-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

const main = join(import.meta.dirname, "../../src/cli/main.ts");

function dualfocus(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, main, "train", ...args], { encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

const run = join(folder, "run");

test("the smoke preset trains from nothing to weights, and a longer budget resumes it", async () => {
  const first = dualfocus("--preset", "smoke", "--threads", "1", "--steps", "3", "--batch-size", "2", "--set", "loss.beta=0.2", "-o", run, "--json"); // prettier-ignore
  assert.equal(first.code, 0, first.err);
  const { config } = await readCheckpoint(join(run, "checkpoint.safetensors"));
  assert.deepEqual([config.batch.size, config.loss.beta], [2, 0.2]);
  const result = JSON.parse(first.out) as { step: number; metrics: Record<string, number>; files: Record<string, string> };
  assert.equal(result.step, 3);
  assert.ok(Object.values(result.metrics).every(Number.isFinite) && "rmse@3" in result.metrics);
  for (const file of Object.values(result.files)) assert.ok(existsSync(file), file);
  assert.match(first.err, /step 3 .*total .*depth .*spatial .*focal .*stacks\/s/);

  const second = dualfocus("--resume", "--threads", "1", "--steps", "5", "-o", run, "--quiet");
  assert.equal(second.code, 0, second.err);
  assert.match(second.out, /Done after 5 steps/);
  assert.equal(second.err, "");
});

test("wrong usage says what is wrong and exits with 2 or 3", async () => {
  const network = join(folder, "network.json");
  writeFileSync(network, '{"kind":"dualfocus"}');
  const taken = join(folder, "taken");
  mkdirSync(taken);
  writeFileSync(join(taken, "checkpoint.safetensors"), "");
  const cases: [args: string[], code: number, message: RegExp][] = [
    [["--preset", "smoke", "-o", taken], 2, /already holds a run[^]*--resume/],
    [["-o", join(folder, "x")], 2, /missing --preset[^]*one of render, renderPhone, nyu/],
    [["--preset", "smoke", "--set", "loss.bta=1", "-o", join(folder, "x")], 2, /loss: Unrecognized key: "bta"/],
    [["--preset", "smoke", "--set", "clip=-1", "-o", join(folder, "x")], 2, /clip: Too small/],
    [["--preset", "smoke", "--model", network, "-o", join(folder, "x")], 3, /network\.json: the network description is wrong/],
    [["--preset", "nyu", "-o", join(folder, "x")], 2, /--data DIR/],
    [["--preset", "smoke", "--device", "cuda:99", "-o", join(folder, "x")], 2, /device cuda:99: /],
    [["--preset", "smoke", "--device", "tpu", "-o", join(folder, "x")], 2, /device tpu: /],
    [["--preset", "smoke", "-o", network], 2, /network\.json: is a file, not a folder[^]*another folder/],
    [["--resume", "-o", join(folder, "none")], 3, /no checkpoint to resume/],
    [["--resume", "--preset", "nyu", "-o", taken], 2, /--preset cannot change in a resumed run/],
    [["--resume", "--model", "small", "-o", taken], 2, /--model cannot change in a resumed run[^]*--init/],
    [["--resume", "--threads", "1", "--set", "model.head.width=16", "-o", run], 2, /model\.head\.width: cannot change in a resumed run/],
    [["--preset", "nyu", "--data", join(folder, "none"), "-o", join(folder, "x")], 3, /none: there is no such file or folder/],
    [["--preset", "smoke", "--textures", join(folder, "none"), "-o", join(folder, "x")], 3, /none: there is no such file or folder/],
    [["--preset", "smoke", "--set", "__proto__.x=1", "-o", join(folder, "x")], 2, /"__proto__" is not a setting/],
    [
      ["--preset", "smoke", "--model", "small", "--init", runFiles(run).weights, "-o", join(folder, "x")],
      3,
      /weights\.safetensors: holds weights of a different network than the one to train: .*; and \d+ more$/m,
    ],
    [["--resume", "--init", network, "-o", taken], 2, /--resume, --init and --encoder cannot be combined/],
    [["--preset", "smoke", "--encoder", join(folder, "none"), "-o", join(folder, "x")], 3, /none: there is no such file or folder/],
    [["--preset", "smoke", "--encoder", network, "-o", join(folder, "x")], 3, /network\.json: not a \.safetensors file/],
  ];
  for (const [args, code, message] of cases)
    await assert.rejects(trainCommand().parseAsync(args, { from: "user" }).catch(reported), (error) => {
      assert.ok(error instanceof UserError, `${args.join(" ")}: ${String(error)}`);
      assert.match(`${error.message}\n${error.remedy ?? ""}`, message);
      return error.exitCode === code;
    });
});

test("a number of threads below one, and a number of steps that is none, are refused", async () => {
  const refused = (...args: string[]) =>
    trainCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => undefined })
      .parseAsync([...args, "-o", join(folder, "x")], { from: "user" });
  await assert.rejects(refused("--threads", "0"), /--threads.*whole number, 1 or more/);
  await assert.rejects(refused("--steps", "many"), /--steps.*Expected a number/);
});

test("a run that diverges says what can be resumed, which is nothing in a new folder", async () => {
  const wild = ["--set", "learningRate.from=1e37", "--set", "learningRate.to=1e37", "--set", "learningRate.warmUpSteps=0"];
  const train = (...args: string[]) =>
    trainCommand()
      .parseAsync([...args, ...wild, "--threads", "1", "--quiet"], { from: "user" })
      .catch(reported);
  const remedy = (pattern: RegExp) => (error: unknown) =>
    error instanceof UserError && error.exitCode === 3 && pattern.test(error.remedy ?? "");
  const fresh = join(folder, "fresh");
  await assert.rejects(train("--preset", "smoke", "--steps", "1", "-o", fresh), remedy(/^no checkpoint was saved: start again/));
  assert.ok(!existsSync(runFiles(fresh).checkpoint) && !existsSync(lockFile(fresh)));
  const { step } = await readCheckpoint(runFiles(run).checkpoint);
  await assert.rejects(train("--resume", "--steps", `${step + 1}`, "-o", run), remedy(/^the last checkpoint is intact: add --resume/));
  assert.equal((await readCheckpoint(runFiles(run).checkpoint)).step, step);
});

test("SIGTERM ends a long evaluation at once, saved; until then nobody else may use the folder", { timeout: 300_000 }, async () => {
  const where = join(folder, "long");
  const args = ["--preset", "smoke", "--threads", "1", "--steps", "100000", "--set", "evaluateEvery=1", "--set", "logEvery=1"];
  const size = ["--set", "data.validation.count=4000", "--set", "data.validation.samples=256"]; // many minutes of rendering
  const child = spawn(process.execPath, [...process.execArgv, main, "train", ...args, ...size, "-o", where], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  await new Promise<void>((resolve) => {
    child.stderr.on("data", (chunk: Buffer) => {
      err += chunk.toString();
      if (err.includes("step 1 ")) resolve();
    });
    child.on("close", resolve);
  });
  assert.ok(existsSync(lockFile(where)), err);
  await assert.rejects(
    trainCommand().parseAsync(["--preset", "smoke", "--quiet", "-o", where], { from: "user" }).catch(reported),
    /another run is writing there/,
  );
  child.kill("SIGTERM");
  assert.equal(await ended, 0, err);
  assert.match(err, /saving a checkpoint, then stopping/);
  assert.match(out, /Stopped after 1 steps/);
  assert.ok(existsSync(runFiles(where).weights) && !existsSync(lockFile(where)));
  assert.equal((await readCheckpoint(runFiles(where).checkpoint)).step, 1);
});
