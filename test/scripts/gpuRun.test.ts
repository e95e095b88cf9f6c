import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { readModel } from "../../src/network/weightsFile.ts";
import { lockFile } from "../../src/system/lock.ts";
import { temporaryFolder } from "../data/files.ts";

const root = join(import.meta.dirname, "..", "..");

interface Background {
  readonly steps: number;
  /** For which `run.sh finish` waits. */
  readonly seconds: number;
  /** How far the run is when it is called. */
  readonly until: "started" | "training";
}

/** What `run.sh finish` collects of a run in the background. */
async function finishedRun({ steps, seconds, until }: Background): Promise<{ printed: string; trained: number }> {
  const folder = temporaryFolder();
  const [run, out] = [join(folder, "small"), join(folder, "out")];
  mkdirSync(out);
  const args = ["--preset", "smoke", "--threads", "1", "--steps", `${steps}`, "--set", "logEvery=1", "-o", run];
  const training = spawn(process.execPath, [...process.execArgv, join(root, "src", "cli", "main.ts"), "train", ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(training, "exit");
  let said = "";
  training.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  while (until !== "started" && !said.includes("step 1 ") && training.exitCode === null) await sleep(20);
  assert.equal(existsSync(lockFile(run)), until !== "started", said);
  const script = join(root, "scripts", "gpu", "run.sh");
  // Synchronous, so that the run stays a zombie when it has ended: where nothing reaps those, they must not be waited for.
  const printed = execFileSync("bash", [script, "finish", run, `${seconds}`], { encoding: "utf8", env: { ...process.env, OUT: out } });
  assert.ok(!existsSync(lockFile(run)), "the run goes on");
  assert.deepEqual(await ended, [0, null], said);
  const { training: runs = [] } = readModel(readFileSync(join(out, "small.weights.safetensors.00")), "collected").facts;
  const last = readFileSync(join(out, "small.log.jsonl"), "utf8").trim().split("\n").at(-1) ?? "";
  assert.match(last, /"step":/);
  return { printed, trained: runs.at(-1)?.steps ?? 0 };
}

test("a training run that has just been started in the background is waited for and collected", { timeout: 300_000 }, async () => {
  const { printed, trained } = await finishedRun({ steps: 8, seconds: 250, until: "started" });
  assert.equal(trained, 8);
  assert.doesNotMatch(printed, /stopped/);
});

test("one that takes too long is told to save and stop, and what it has learnt is collected", { timeout: 300_000 }, async () => {
  const { printed, trained } = await finishedRun({ steps: 1_000_000, seconds: 0, until: "training" });
  assert.match(printed, /small: stopped after 0 s/);
  assert.ok(trained >= 1 && trained < 1_000_000, `${trained} steps`);
});
