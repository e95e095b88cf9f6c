import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { UserError } from "../../src/system/userError.ts";
import { small } from "../../src/model/config.ts";
import type { RunCommand } from "../../src/reproduce/child.ts";
import type { ReproducedTable } from "../../src/reproduce/report.ts";
import { trainedTables } from "../../src/reproduce/trainedTables.ts";
import type { TrainSettings } from "../../src/reproduce/trainRun.ts";
import { trainTables, type TrainTablesRequest } from "../../src/reproduce/trainTables.ts";

const root = mkdtempSync(join(tmpdir(), "dualfocus-reproduce-"));
after(() => {
  rmSync(root, { recursive: true, force: true });
});
let folders = 0;

const settings: TrainSettings = {
  preset: "render",
  model: small,
  steps: 10,
  device: "cpu",
  data: undefined,
  textures: undefined,
  threads: undefined,
  settings: [],
};

/** Stands in for a training: its error at N = 5 is 0.5, and 0.1 more for each seed. */
function fakeTraining({ broken, stopAt }: { broken?: string; stopAt?: string } = {}) {
  const calls: { readonly name: string; readonly args: readonly string[] }[] = [];
  const run: RunCommand = (args, { name }) => {
    calls.push({ name, args });
    if (name === broken) return Promise.reject(new Error(`${name}: out of memory`));
    const seed = Number(/-seed(\d+)/.exec(name)?.[1] ?? 0);
    const metrics = Object.fromEntries(
      [3, 5, 10].flatMap((N) => [
        [`rmse@${N}`, 0.1 * N + 0.1 * seed],
        [`within@${N}`, 0.8],
        [`invalidTrend@${N}`, 0.01],
      ]),
    );
    return Promise.resolve(JSON.stringify({ step: 10, seconds: 1, stopped: name === stopAt, metrics }));
  };
  return { calls, run };
}

function request(run: RunCommand, change: Partial<TrainTablesRequest> = {}): TrainTablesRequest {
  const { grid, channels } = trainedTables;
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
  const { calls, run } = fakeTraining();
  const asked = request(run);
  const { tables, failures } = await trainTables(asked);
  const [grid, channels] = tables;
  assert.deepEqual(failures, []);
  assert.deepEqual(calls.map(({ name }) => name).sort(), ["both", "channels1", "channels8", "grid10", "grid20", "grid28"]);
  assert.deepEqual(grid?.rows[1]?.ours, channels?.rows[2]?.ours);
  const again = await trainTables(asked);
  assert.equal(calls.length, 6);
  assert.deepEqual(again.tables, tables);
  const written = JSON.parse(readFileSync(join(asked.folder, "grid.rows.json"), "utf8")) as ReproducedTable;
  assert.deepEqual(written, grid);
  assert.match(readFileSync(join(asked.folder, "grid.md"), "utf8"), /\| 14 × 14 \| 0\.075 \|.*\| 0\.500 \| 80\.0 \| 1\.00 \| 1\.00 \|/);
});

test("an interrupted training is resumed, one with other settings is refused", async () => {
  const { calls, run } = fakeTraining();
  const asked = request(run, { only: ["both"], seeds: [0] });
  const stopped = fakeTraining({ stopAt: "both" });
  await trainTables({ ...asked, run: stopped.run });
  writeFileSync(join(asked.folder, "variants/both/checkpoint.safetensors"), "");
  await trainTables(asked);
  assert.ok(stopped.calls[0]?.args.includes("--preset"));
  assert.deepEqual(calls[0]?.args.slice(0, 2), ["train", "--resume"]);
  assert.ok(!calls[0].args.includes("--preset"));
  const [refused] = (await trainTables({ ...asked, settings: { ...settings, steps: 20 } })).failures;
  assert.ok(refused instanceof UserError && refused.exitCode === 2);
  assert.match(refused.message, /variants\/both: was trained with other settings/);
});

test("a training that fails leaves the others going and the tables of what is done", async () => {
  const { calls, run } = fakeTraining({ broken: "grid10" });
  const asked = request(run);
  const { tables, failures } = await trainTables(asked);
  assert.deepEqual(failures.map(String), ["Error: grid10: out of memory"]);
  assert.equal(calls.length, 6);
  const table = JSON.parse(readFileSync(join(asked.folder, "grid.rows.json"), "utf8")) as ReproducedTable;
  assert.deepEqual(
    table.rows.map(({ ours, needs }) => [ours !== undefined, needs]),
    [
      [false, "its training"],
      [true, undefined],
      [true, undefined],
      [true, undefined],
    ],
  );
  assert.deepEqual(tables[0], table);
});

test("several seeds are averaged, and their spread is told", async () => {
  const { run } = fakeTraining();
  const { tables } = await trainTables(request(run, { seeds: [0, 2], only: ["both"] }));
  const figures = tables[0]?.rows[1]?.ours ?? {};
  assert.ok(Math.abs((figures["RMSE planes, N=5"] ?? NaN) - 0.6) < 1e-12); // 0.5 and 0.7
  assert.ok(Math.abs((figures["RMSE spread over seeds"] ?? NaN) - 0.2) < 1e-12);
});

test("errors with different numbers of planes are told as shares of the range too", async () => {
  const { run } = fakeTraining();
  const [table] = (await trainTables(request(run, { tables: [trainedTables.planes] }))).tables;
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

/** Stands in for trainings on files, which measure themselves otherwise (9), and for `evaluate`: RMSE 0.5, and 0.1 more for each seed. */
function fakePublished({ broken }: { broken?: string } = {}) {
  const calls: (readonly string[])[] = [];
  const run: RunCommand = (args, { name }) => {
    calls.push(args);
    if (args[0] === "train") return Promise.resolve(JSON.stringify({ step: 10, seconds: 1, stopped: false, metrics: { rmse: 9 } }));
    if (name === broken) return Promise.reject(new Error(`${name}: no such set`));
    const rmse = 0.5 + 0.1 * Number(/-seed(\d+)/.exec(name)?.[1] ?? 0);
    const metrics = { rmse, logRmse: 0.25, absRel: 0.125, sqRel: null, invalidFocusTrend: 0.5, bump: 3 };
    return Promise.resolve(JSON.stringify({ model: "weights.safetensors", split: "test", images: 7, metrics }));
  };
  return { calls, run };
}

const published = (preset: "nyu" | "ddff12"): TrainSettings => ({ ...settings, preset, data: "set", steps: undefined, threads: 1 });

test("on a published set a variant is measured by the set's protocol, in the paper's columns", async () => {
  const { calls, run } = fakePublished();
  const asked = request(run, {
    tables: [trainedTables.ablation],
    settings: published("nyu"),
    only: ["both"],
    seeds: [0, 2],
    limit: 7,
    jobs: 1,
  });
  const [table] = (await trainTables(asked)).tables;
  const folder = join(asked.folder, "variants", "both");
  const measuring = [
    ...["evaluate", "--dataset", "nyu", "--data", "set", "--model", join(folder, "weights.safetensors"), "--planes", "5"],
    ...["--device", "cpu", "--threads", "1", "--limit", "7", "--resume-dir", folder, "--json"],
  ];
  assert.deepEqual(calls.map(([command]) => command), ["train", "evaluate", "train", "evaluate"]); // prettier-ignore
  assert.ok(calls[0]?.includes("batch.planes=[5]"), "trained with what it is measured with");
  assert.deepEqual(calls[1], measuring);
  const { "RMSE spread over seeds": spread, RMSE, ...others } = table?.rows.at(-1)?.ours ?? {};
  assert.ok(Math.abs((RMSE ?? NaN) - 0.6) < 1e-12 && Math.abs((spread ?? NaN) - 0.2) < 1e-12, `${RMSE} ${spread}`); // 0.5 and 0.7
  assert.deepEqual(others, { logRMSE: 0.25, AbsRel: 0.125 });
  assert.equal(table?.rows.at(-1)?.command?.split("\n")[1], `dualfocus ${measuring.join(" ")}`);
  assert.match(table.measured, /^nyu, trained as in the paper, split "test", 7 images; seed 0, 2$/);
  assert.equal(table.rows[0]?.needs, "its training and evaluation");
});

test("on a published set the rows of another stay empty", async () => {
  const { calls, run } = fakePublished();
  const asked = { tables: [trainedTables.focal], settings: published("ddff12") };
  const [table] = (await trainTables(request(run, asked))).tables;
  assert.equal(calls.length, 2 * 3); // without L_fv, with it, with the loss on the trend
  const needs = "its own training: --preset nyu --data DIR";
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

test("a training whose measurement fails leaves its row empty, and is measured by the next call without training", async () => {
  const asked = request(fakePublished({ broken: "both" }).run, { settings: published("ddff12"), only: ["both"] });
  const { tables, failures } = await trainTables(asked);
  assert.deepEqual(failures.map(String), ["Error: both: no such set"]);
  assert.equal(tables[1]?.rows[2]?.needs, "its training and evaluation");
  const { calls, run } = fakePublished();
  const again = await trainTables({ ...asked, run });
  assert.deepEqual(calls.map(([command]) => command), ["evaluate"]); // prettier-ignore
  assert.equal(again.tables[1]?.rows[2]?.ours?.["RMSE"], 0.5);
});

test("a name that is no variant is refused with those there are", async () => {
  await assert.rejects(trainTables(request(fakeTraining().run, { only: ["grid11"] })), (error) => {
    assert.ok(error instanceof UserError && error.exitCode === 2);
    assert.match(`${error.message} ${error.remedy ?? ""}`, /grid11.*grid10, both, grid20/);
    return true;
  });
});
