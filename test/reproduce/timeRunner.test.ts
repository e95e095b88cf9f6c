import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bench } from "../../src/bench/run.ts";
import type { TimingJob } from "../../src/reproduce/jobs.ts";
import { paperTables } from "../../src/reproduce/paperFigures.ts";
import type { Runner } from "../../src/reproduce/processes.ts";
import { timeTable } from "../../src/reproduce/timeRunner.ts";

test("the networks are timed in one run at the paper's size; parameters count as the paper's do", async () => {
  const jobs: TimingJob[] = [];
  const time: Runner["time"] = (job) => {
    jobs.push(job);
    const rows = job.cases.map(({ model }, i) => ({ model, median: 0.25 * (i + 1), p90: 1, ofLimit: 0.5 }));
    return Promise.resolve({ description: "a machine", rows } as unknown as Bench);
  };
  const context = { stop: new AbortController().signal, progress: () => undefined };
  const table = await timeTable(paperTables.runtime, { device: "cpu", threads: 2, run: { time }, ...context });
  const size = { batch: 1, planes: 5, height: 384, width: 576 };
  assert.deepEqual(jobs, [{ cases: ["dfv", "base", "fine", "small"].map((model) => ({ model, ...size })), device: "cpu", threads: 2 }]);
  assert.equal(
    table.rows.find(({ label }) => label === "DFV (N = 5)")?.command,
    "dualfocus bench --model dfv --planes 5 --size 384x576 --grid 14 --device cpu --threads 2",
  );
  const ours = Object.fromEntries(table.rows.flatMap(({ label, ours }) => (ours ? [[label, ours]] : [])));
  assert.deepEqual(ours["DFV (N = 5)"], {
    "parameters M": 19.501484,
    "runtime ms": 250,
    "p90 ms": 1000,
    "of the machine's limit %": 50,
  });
  assert.equal(ours["Ours (N = 5)"]?.["parameters M"], 27.093643);
  assert.equal(ours["Ours, small (N = 5, not in the paper)"]?.["runtime ms"], 1000);
  assert.equal(table.rows.filter(({ needs }) => needs !== undefined).length, 4);
});
