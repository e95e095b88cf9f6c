import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { EvaluationRequest } from "../../src/evaluate/evaluateModels.ts";
import type { Evaluation } from "../../src/evaluate/run.ts";
import { ConfigError } from "../../src/train/config.ts";
import { paperTables } from "../../src/reproduce/paperFigures.ts";
import type { ReproducedTable } from "../../src/reproduce/report.ts";
import type { TrainingJob } from "../../src/reproduce/jobs.ts";
import type { Runner } from "../../src/reproduce/processes.ts";
import type { TrainSettings } from "../../src/reproduce/trainingRun.ts";
import { trainTables, type TrainTablesRequest } from "../../src/reproduce/trainRunner.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { saveCheckpoint } from "../../src/train/checkpoint.ts";
import type { TrainResult } from "../../src/train/run.ts";
import { createTrainer } from "../../src/train/trainer.ts";

const root = mkdtempSync(join(tmpdir(), "dualfocus-reproduce-"));
after(() => {
  rmSync(root, { recursive: true, force: true });
});
let folders = 0;

const settings: TrainSettings = {
  preset: "render",
  model: "small",
  steps: 10,
  device: "cpu",
  data: undefined,
  textures: undefined,
  threads: undefined,
  settings: [],
};

const result = (metrics: TrainResult["metrics"], stopped = false): TrainResult => {
  const files = { checkpoint: "", weights: "", log: "", report: "" };
  return { step: 10, seconds: 1, stopped, metrics, files };
};

const noEvaluation: Runner["evaluate"] = () => Promise.reject(new Error("nothing but training runs is needed"));

/** Stands in for training: the error at N = 5 is 0.5, and 0.1 more for each seed. */
function fakeTraining({ broken, stopAt }: { broken?: string; stopAt?: string } = {}) {
  const trained: (TrainingJob & { readonly name: string })[] = [];
  const train: Runner["train"] = (job, { name }) => {
    trained.push({ ...job, name });
    if (name === broken) return Promise.reject(new Error(`${name}: out of memory`));
    const metrics = Object.fromEntries(
      [3, 5, 10].flatMap((N) => [
        [`rmse@${N}`, 0.1 * N + 0.1 * job.config.seed],
        [`within@${N}`, 0.8],
        [`invalidTrend@${N}`, 0.01],
      ]),
    );
    return Promise.resolve(result(metrics, name === stopAt));
  };
  return { trained, run: { train, evaluate: noEvaluation } };
}

function request({ run }: Pick<TrainTablesRequest, "run">, change: Partial<TrainTablesRequest> = {}): TrainTablesRequest {
  const { grid, channels } = paperTables;
  return {
    tables: [grid, channels],
    settings,
    seeds: [0],
    only: undefined,
    limit: undefined,
    folder: join(root, `${folders++}`),
    jobs: 2,
    run,
    stop: new AbortController().signal,
    progress: () => undefined,
    ...change,
  };
}

test("rows that are the same network are trained once, and a second call trains nothing", async () => {
  const fake = fakeTraining();
  const asked = request(fake);
  const { tables, failures } = await trainTables(asked);
  const [grid, channels] = tables;
  assert.deepEqual(failures, []);
  assert.deepEqual(fake.trained.map(({ name }) => name).sort(), ["both", "channels1", "channels8", "grid10", "grid20", "grid28"]);
  const { config, folder } = fake.trained.find(({ name }) => name === "grid20") ?? {};
  assert.equal(config?.model.kind === "dualfocus" && config.model.surface?.grid, 20);
  assert.deepEqual([config?.budget, config?.batch.planes, config?.seed], [{ steps: 10 }, [5, 10], 0]);
  assert.equal(
    grid?.rows[2]?.command,
    `dualfocus train --preset render --model small --variant grid20 --steps 10 --seed 0 --device cpu --set 'batch.planes=[5,10]' --output ${folder ?? ""}`,
  );
  assert.deepEqual(grid.rows[1]?.ours, channels?.rows[2]?.ours);
  const again = await trainTables(asked);
  assert.equal(fake.trained.length, 6);
  assert.deepEqual(again.tables, tables);
  const written = JSON.parse(readFileSync(join(asked.folder, "grid.rows.json"), "utf8")) as ReproducedTable;
  assert.deepEqual(written, grid);
  assert.match(readFileSync(join(asked.folder, "grid.md"), "utf8"), /\| 14 × 14 \| 0\.075 \|.*\| 0\.500 \| 80\.0 \| 1\.00 \| 1\.00 \|/);
});

test("an interrupted run is trained further, one with other settings is refused, and the settings are named", async () => {
  const stopped = fakeTraining({ stopAt: "both" });
  const asked = request(stopped, { only: ["both"], seeds: [0] });
  const [table] = (await trainTables(asked)).tables;
  assert.equal(table?.rows[1]?.needs, "its training run");
  const fake = fakeTraining();
  await trainTables({ ...asked, ...fake });
  assert.deepEqual(fake.trained, stopped.trained);
  const [refused] = (await trainTables({ ...asked, settings: { ...settings, steps: 20, settings: ["clip=2"] } })).failures;
  assert.ok(refused instanceof ConfigError);
  assert.match(refused.message, /variants\/both: was trained with other settings: clip, budget\.steps; repeat those/);
});

test("a run of an older version, which kept no configuration, is taken by that of its checkpoint", async () => {
  const fake = fakeTraining();
  const asked = request(fake, {
    only: ["both"],
    settings: { ...settings, preset: "smoke", model: undefined, settings: ["data.planes=10"] },
  });
  await trainTables(asked);
  const [job] = fake.trained;
  assert.ok(job);
  const engine = createTorchEngine({ threads: 1 });
  const trainer = createTrainer({ engine, config: job.config });
  await saveCheckpoint(join(job.folder, "checkpoint.safetensors"), { engine, trainer, step: 10, seconds: 1, config: job.config });
  const record = JSON.parse(readFileSync(join(job.folder, "run.json"), "utf8")) as Record<string, unknown>;
  writeFileSync(join(job.folder, "run.json"), JSON.stringify({ arguments: ["--preset"], outcome: record["outcome"] }));
  assert.deepEqual((await trainTables(asked)).failures, []);
  assert.equal(fake.trained.length, 1);
  const [refused] = (await trainTables({ ...asked, settings: { ...asked.settings, steps: 20 } })).failures;
  assert.match(String(refused), /other settings: budget\.steps/);
});

test("the other runs go on when one fails, and the tables hold what is done", async () => {
  const fake = fakeTraining({ broken: "grid10" });
  const asked = request(fake);
  const { tables, failures } = await trainTables(asked);
  assert.deepEqual(failures.map(String), ["Error: grid10: out of memory"]);
  assert.equal(fake.trained.length, 6);
  const table = JSON.parse(readFileSync(join(asked.folder, "grid.rows.json"), "utf8")) as ReproducedTable;
  assert.deepEqual(
    table.rows.map(({ ours, needs }) => [ours !== undefined, needs]),
    [
      [false, "its training run"],
      [true, undefined],
      [true, undefined],
      [true, undefined],
    ],
  );
  assert.deepEqual(tables[0], table);
});

test("several seeds are averaged, and their spread is given", async () => {
  const { tables } = await trainTables(request(fakeTraining(), { seeds: [0, 2], only: ["both"] }));
  const figures = tables[0]?.rows[1]?.ours ?? {};
  assert.ok(Math.abs((figures["RMSE planes, N=5"] ?? NaN) - 0.6) < 1e-12); // 0.5 and 0.7
  assert.ok(Math.abs((figures["RMSE spread over seeds"] ?? NaN) - 0.2) < 1e-12);
});

test("errors with different numbers of planes are given as shares of the range too", async () => {
  const [table] = (await trainTables(request(fakeTraining(), { tables: [paperTables.planes] }))).tables;
  const shares = table?.rows.flatMap(({ ours }) => ours?.["RMSE % of range"] ?? []) ?? [];
  const expected = [3, 3, 5, 5, 10, 10].map((N) => (100 * 0.1 * N) / (N - 1)); // DFV and ours, N = 3, 5, 10
  assert.deepEqual(
    shares.map((share) => share.toFixed(9)),
    expected.map((share) => share.toFixed(9)),
  );
  assert.deepEqual(
    table?.rows.filter(({ needs }) => needs !== undefined).map(({ label }) => label),
    ["Depth Anything, N = 1", "HybridDepth, N = 3", "HybridDepth, N = 5", "HybridDepth, N = 10"],
  );
});

/** Stands in for training on files, which measures itself otherwise (9), and for evaluation: RMSE 0.5, and 0.1 more for each seed. */
function fakePublished({ broken }: { broken?: string } = {}) {
  const trained: TrainingJob[] = [];
  const evaluated: EvaluationRequest[] = [];
  const train: Runner["train"] = (job) => {
    trained.push(job);
    return Promise.resolve(result({ rmse: 9 }));
  };
  const evaluate: Runner["evaluate"] = (asked, { name }) => {
    evaluated.push(asked);
    if (name === broken) return Promise.reject(new Error(`${name}: no such set`));
    const rmse = 0.5 + 0.1 * Number(/-seed(\d+)/.exec(name)?.[1] ?? 0);
    const metrics = { rmse, logRmse: 0.25, absRel: 0.125, sqRel: NaN, invalidFocusTrend: 0.5, bump: 3 };
    return Promise.resolve([{ model: "weights.safetensors", split: "test", images: 7, metrics }] as unknown as Evaluation[]);
  };
  return { trained, evaluated, run: { train, evaluate } };
}

const published = (preset: "nyu" | "nyuTuned" | "ddff12"): TrainSettings => ({
  ...settings,
  preset,
  data: "set",
  steps: undefined,
  threads: 1,
});

test("on a published set a variant is measured by the set's protocol, in the paper's columns", async () => {
  const fake = fakePublished();
  const asked = request(fake, {
    tables: [paperTables.ablation],
    settings: published("nyu"),
    only: ["both"],
    seeds: [0, 2],
    limit: 7,
    jobs: 1,
  });
  const [table] = (await trainTables(asked)).tables;
  const folder = join(asked.folder, "variants", "both");
  const weights = join(folder, "weights.safetensors");
  assert.deepEqual(
    fake.trained.map(({ config, data, threads }) => [config.seed, config.batch.planes, data, threads]),
    [0, 2].map((seed) => [seed, [5], "set", 1]), // trained with as many planes as it is measured with
  );
  assert.equal(fake.evaluated.length, 2);
  assert.deepEqual(fake.evaluated[0], {
    ...{ dataset: "nyu", data: "set", models: [weights], planes: [5], limit: 7, device: "cpu", threads: 1, resumeDir: folder },
  });
  const { "RMSE spread over seeds": spread, RMSE, ...others } = table?.rows.at(-1)?.ours ?? {};
  assert.ok(Math.abs((RMSE ?? NaN) - 0.6) < 1e-12 && Math.abs((spread ?? NaN) - 0.2) < 1e-12, `${RMSE} ${spread}`); // 0.5 and 0.7
  assert.deepEqual(others, { logRMSE: 0.25, AbsRel: 0.125 });
  assert.equal(
    table?.rows.at(-1)?.command?.split("\n")[1],
    `dualfocus evaluate --dataset nyu --data set --model ${weights} --planes 5 --limit 7 --device cpu --threads 1 --resume-dir ${folder}`,
  );
  assert.match(table.measured, /^nyu, trained as the recipe says, split "test", 7 images; seed 0, 2$/);
  assert.equal(table.rows[0]?.needs, "its training run and evaluation");
});

test("on a published set the rows of another stay empty", async () => {
  const fake = fakePublished();
  const asked = { tables: [paperTables.focal], settings: published("ddff12") };
  const [table] = (await trainTables(request(fake, asked))).tables;
  assert.deepEqual([fake.trained.length, fake.evaluated.length], [3, 3]); // without L_fv, with it, with the loss on the trend
  const needs = "its own training run: --preset nyu --data DIR";
  assert.deepEqual(
    table?.rows.map((row) => [row.ours?.["invalid trend %"], row.ours?.["RMSE"], row.needs]),
    [
      [undefined, undefined, needs],
      [undefined, undefined, needs],
      [50, 0.5, undefined],
      [50, 0.5, undefined],
      [50, 0.5, undefined],
    ],
  );
});

test("another recipe for the same set fills the set's rows", async () => {
  const fake = fakePublished();
  const [table] = (await trainTables(request(fake, { tables: [paperTables.focal], settings: published("nyuTuned") }))).tables;
  assert.deepEqual(
    table?.rows.map((row) => row.ours?.["RMSE"]),
    [0.5, 0.5, undefined, undefined, 0.5],
  );
});

test("a run whose measurement fails leaves its row empty, and is measured by the next call without training", async () => {
  const asked = request(fakePublished({ broken: "both" }), { settings: published("ddff12"), only: ["both"] });
  const { tables, failures } = await trainTables(asked);
  assert.deepEqual(failures.map(String), ["Error: both: no such set"]);
  assert.equal(tables[1]?.rows[2]?.needs, "its training run and evaluation");
  const fake = fakePublished();
  const again = await trainTables({ ...asked, ...fake });
  assert.deepEqual([fake.trained.length, fake.evaluated.length], [0, 1]);
  assert.equal(again.tables[1]?.rows[2]?.ours?.["RMSE"], 0.5);
});

test("an unknown variant is refused with the names of those there are", async () => {
  await assert.rejects(trainTables(request(fakeTraining(), { only: ["grid11"] })), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(error.message, /no variant "grid11"; there are grid10, both, grid20/);
    return true;
  });
});
