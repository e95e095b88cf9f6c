import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { after, test } from "node:test";
import { readModel } from "../../src/model/weightsFile.ts";
import { writeAtomically } from "../../src/train/atomicFile.ts";
import { readCheckpoint, type Checkpoint } from "../../src/train/checkpoint.ts";
import type { TrainConfig } from "../../src/train/config.ts";
import { readLog } from "../../src/train/log.ts";
import { smoke } from "../../src/train/presets.ts";
import { runFiles, runTraining } from "../../src/train/run.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-checkpoint-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

const config: TrainConfig = { ...smoke, budget: { steps: 9 }, logEvery: 1, evaluateEvery: 100 };
const bytesOf = ({ tensors }: Checkpoint): Map<string, string> =>
  new Map([...tensors].map(([name, { bytes }]) => [name, Buffer.from(bytes).toString("base64")]));

/** Runs in a folder of its own; `stopAt` ends it early, as SIGTERM does. */
async function run(name: string, { stopAt, checkpoint }: { stopAt?: number; checkpoint?: Checkpoint } = {}) {
  const stop = new AbortController();
  const progress = (line: string): void => {
    if (stopAt !== undefined && line.startsWith(`step ${stopAt} `)) stop.abort();
  };
  return runTraining({ config, folder: join(folder, name), device: "cpu", threads: 1, checkpoint, stop: stop.signal, progress });
}

test("a run that stops and resumes ends with the very weights, averages and moments of one that never stopped", async () => {
  const whole = await run("whole");
  const first = await run("parts", { stopAt: 5 });
  assert.deepEqual([first.step, first.stopped], [5, true]);
  const second = await run("parts", { checkpoint: await readCheckpoint(first.files.checkpoint) });
  assert.deepEqual([second.step, second.stopped], [9, false]);
  const [a, b] = [await readCheckpoint(whole.files.checkpoint), await readCheckpoint(second.files.checkpoint)];
  assert.deepEqual(bytesOf(b), bytesOf(a));
  assert.deepEqual(second.metrics, whole.metrics);
  const steps = readLog(second.files.log).map(({ step }) => step);
  assert.deepEqual([...new Set(steps)], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const shipped = readModel(readFileSync(second.files.weights), "weights");
  assert.deepEqual(shipped.config, config.model);
  assert.equal(shipped.metadata["step"], "9");
});

test("a full disk is an error that leaves the file before whole", async () => {
  const file = join(folder, "full.safetensors");
  writeFileSync(file, "old");
  symlinkSync("/dev/full", `${file}.partial`); // every byte written there fails as on a full disk
  await assert.rejects(
    writeAtomically(file, new Uint8Array(100_000)),
    /the disk is full; what was there before is intact|disk is full\).*intact/,
  );
  assert.equal(readFileSync(file, "utf8"), "old");
  assert.ok(!existsSync(`${file}.partial`));
  await writeAtomically(file, Buffer.from("new"));
  assert.equal(readFileSync(file, "utf8"), "new");
});

test("a cut-off or foreign file is refused by name", async () => {
  const { checkpoint, weights } = runFiles(join(folder, "whole"));
  await assert.rejects(readCheckpoint(weights), /weights\.safetensors: holds weights, but is no checkpoint/);
  const cut = join(folder, "cut.safetensors");
  writeFileSync(cut, readFileSync(checkpoint));
  truncateSync(cut, 100_000);
  await assert.rejects(readCheckpoint(cut), /cut\.safetensors: cut off/);
});

test("kill -9 at any moment leaves a checkpoint that loads", { timeout: 120_000 }, async () => {
  const where = join(folder, "killed");
  const program = `
    import { runTraining } from ${JSON.stringify(join(import.meta.dirname, "../../src/train/run.ts"))};
    import { smoke } from ${JSON.stringify(join(import.meta.dirname, "../../src/train/presets.ts"))};
    const config = { ...smoke, budget: { steps: 100000 }, saveEveryMinutes: 1e-6, logEvery: 1000, evaluateEvery: 100000 };
    await runTraining({ config, folder: ${JSON.stringify(where)}, device: "cpu", threads: 1, stop: new AbortController().signal, progress: () => {} });
  `;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], { stdio: "inherit" });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const { checkpoint } = runFiles(where);
  while (!existsSync(checkpoint) && child.exitCode === null) await setTimeout(50);
  await setTimeout(200 + 700 * Math.random()); // it saves after every step, so this falls into a save as often as not
  child.kill("SIGKILL");
  await ended;
  const { step, tensors } = await readCheckpoint(checkpoint);
  assert.ok(step >= 1 && tensors.size > 100);
});
