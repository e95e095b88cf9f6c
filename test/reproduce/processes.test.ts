import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { TrainingJob } from "../../src/reproduce/jobs.ts";
import { inProcesses } from "../../src/reproduce/processes.ts";
import { DualFocusError } from "../../src/errors.ts";
import { overrideConfig } from "../../src/train/config.ts";
import { presets } from "../../src/train/presets.ts";
import { put, putNpy, putPicture } from "../data/files.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-process-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

const job = (name: string, settings: readonly string[] = []): TrainingJob => ({
  config: overrideConfig(presets.smoke, settings),
  folder: join(folder, name),
  device: "cpu",
  data: undefined,
  textures: undefined,
  threads: 1,
});
const { train, evaluate } = inProcesses();
const quiet = { stop: new AbortController().signal, progress: (): void => undefined };

test("a run is stopped, saved, and continued in another process", async () => {
  const [stop, lines] = [new AbortController(), [] as string[]];
  const long = job("stopped", ["budget.steps=100000", "logEvery=1"]);
  const progress = (line: string): void => {
    lines.push(line);
    if (line.startsWith("both: step 2 ")) stop.abort();
  };
  const stopped = await train(long, { name: "both", stop: stop.signal, progress });
  assert.ok(stopped.stopped && stopped.step >= 2 && stopped.step < 1000, `${stopped.step}`);
  assert.ok(lines.every((line) => line.startsWith("both: ")), lines.join("\n")); // prettier-ignore
  const rest = job("stopped", [`budget.steps=${stopped.step + 1}`, "logEvery=1"]);
  const ended = await train(rest, { name: "both", ...quiet });
  assert.deepEqual([ended.step, ended.stopped], [stopped.step + 1, false]);
  assert.ok(Number.isFinite(ended.metrics["rmse@3"]));
  assert.ok(existsSync(ended.files.weights));
});

test("what the user can correct comes back as such, with the name of the run", async () => {
  const wrong = { ...job("wrong"), device: "cuda:77" };
  await assert.rejects(train(wrong, { name: "grid10", ...quiet }), (error) => {
    assert.ok(error instanceof DualFocusError && error.code === "device-unavailable");
    assert.match(error.message, /^grid10: device cuda:77: /);
    return true;
  });
});

test("a process that ends without a result is an error that says how it ended", async () => {
  const worker = (name: string, source: string): URL => {
    const file = join(folder, `${name}.mjs`);
    writeFileSync(file, `process.once("message", () => { ${source} });`);
    return pathToFileURL(file);
  };
  const run = (url: URL) => inProcesses({ worker: url }).train(job("dead"), { name: "both", ...quiet });
  await assert.rejects(
    run(worker("killed", `process.kill(process.pid, "SIGKILL")`)),
    /^Error: both: its process ended without a result \(SIGKILL\)$/,
  );
  await assert.rejects(run(worker("exits", "process.exit(7)")), /^Error: both: its process ended without a result \(exit code 7\)$/);
});

test("an evaluation in a process of its own gives the figures, and a wrong folder its layout", async () => {
  const set = join(folder, "set");
  put(join(set, "a", "stack.json"), JSON.stringify({ unit: "m", focus: [1, 2, 3] }));
  for (const n of [1, 2, 3])
    await putPicture(join(set, "a", `plane_${n}.png`), { width: 16, height: 16 }, (x, y) => (37 * x * n + 11 * y) % 256);
  putNpy(join(set, "a", "depth.npy"), { width: 16, height: 16 }, (x) => 1 + x / 8);
  const request = { models: ["rdf"], device: "cpu", threads: 1 } as const;
  const lines: string[] = [];
  const context = { name: "table", stop: quiet.stop, progress: (line: string) => void lines.push(line) };
  const [found] = await evaluate({ dataset: "folder", data: set, ...request }, context);
  assert.deepEqual([found?.model, found?.images], ["rdf", 1]);
  assert.ok(Number.isFinite(found?.metrics.rmse) && Number.isNaN(found?.metrics.invalidFocusTrend));
  assert.match(lines.join("\n"), /^table: 1 of 1 \(a\), /);
  await assert.rejects(evaluate({ dataset: "fod500", data: set, ...request }, context), (error) => {
    assert.ok(error instanceof DualFocusError && error.code === "bad-dataset");
    assert.match(error.message, /^table: .*_Dpt\.exr .*is missing\. .*\n {2}DIR\/NNNNNN_xxAll\.tif/);
    return true;
  });
});
