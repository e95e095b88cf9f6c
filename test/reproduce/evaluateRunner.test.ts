import assert from "node:assert/strict";
import { test } from "node:test";
import type { EvaluationRequest } from "../../src/evaluate/evaluateModels.ts";
import type { Evaluation } from "../../src/evaluate/run.ts";
import type { Runner } from "../../src/reproduce/processes.ts";
import { evaluateTable, type EvaluateTableRequest } from "../../src/reproduce/evaluateRunner.ts";
import { paperTables } from "../../src/reproduce/paperFigures.ts";
import type { PaperTable } from "../../src/reproduce/paperTable.ts";
import { formatTable } from "../../src/reproduce/report.ts";

const { nyu, fod500, ddff12 } = paperTables;

type Evaluate = Runner["evaluate"];

function request(evaluate: Evaluate, change: Partial<EvaluateTableRequest> = {}): EvaluateTableRequest {
  const isShipped = (name: string): boolean => name === "small" || name === "fine";
  const rest = {
    weights: {},
    isShipped,
    limit: undefined,
    threads: undefined,
    folder: undefined,
    run: { evaluate },
    progress: () => undefined,
  };
  return { data: undefined, stop: new AbortController().signal, ...rest, ...change };
}

const never: Evaluate = () => Promise.reject(new Error("nothing can run"));

test("the tables are the paper's eleven but for the hyperparameters, each once", () => {
  const tables: readonly PaperTable[] = Object.values(paperTables);
  assert.deepEqual(
    tables.map(({ number }) => number).sort((a, b) => a - b),
    [1, 2, 3, 4, 5, 7, 8, 9, 10, 11],
  );
  assert.deepEqual(
    tables.map(({ name }) => name),
    Object.keys(paperTables),
  );
});

test("the paper's improvements follow from the figures of its tables", () => {
  const figure = (rows: PaperTable["rows"], label: string, name: string): number =>
    rows.find((row) => row.label === label)?.paper[name] ?? NaN;
  const cut = (from: number, to: number): string => ((100 * (from - to)) / from).toFixed(1);
  // §4.2: RMSE 20.2 % and AbsRel 35.0 % below DFV on NYU, Bump 8.4 % on FoD500
  assert.equal(cut(figure(nyu.rows, "DFV (DFF)", "RMSE"), figure(nyu.rows, "Ours (DFF)", "RMSE")), "20.2");
  assert.equal(cut(figure(nyu.rows, "DFV (DFF)", "AbsRel"), figure(nyu.rows, "Ours (DFF)", "AbsRel")), "35.0");
  assert.equal(cut(figure(fod500.rows, "DFV", "Bump"), figure(fod500.rows, "Ours", "Bump")), "8.4");
  // a mean of roots is not above the root of the mean
  for (const { paper } of ddff12.rows) if (paper["MSE"] !== undefined) assert.ok((paper["RMSE"] ?? NaN) <= Math.sqrt(paper["MSE"]) + 1e-4);
});

test("without the set every row says what it needs, and nothing runs", async () => {
  const table = await evaluateTable("nyu", request(never));
  assert.ok(table.rows.every(({ ours, needs }) => ours === undefined && needs !== undefined));
  assert.match(table.rows[8]?.needs ?? "", /^NYU Depth v2, test split: --data DIR/);
  assert.match(table.rows[8]?.command ?? "", /^dualfocus evaluate --dataset nyu --data DIR --model base --planes 5 --device cpu$/);
  assert.match(formatTable(table), /\| Ours \(DFF\) \| 0\.075 \| 0\.013 \| 0\.999 \| 1 \| 1 \| NYU Depth v2, test split/);
});

test("with the set all that can be measured is, in one pass, and missing weights are named", async () => {
  const requests: EvaluationRequest[] = [];
  const evaluate: Evaluate = (asked) => {
    requests.push(asked);
    const result = (model: string, i: number) => ({
      ...{ model, split: "val", images: 3, metrics: { mse: 0.01 * i, rmse: 0.1 * i, absRel: NaN, delta1: 0.9, coverage: 1 } },
    });
    return Promise.resolve(asked.models.map(result) as unknown as Evaluation[]);
  };
  const given = { data: "set", limit: 3, folder: "kept", weights: { base: "mine.safetensors" } };
  const table = await evaluateTable("ddff12", request(evaluate, given));
  assert.deepEqual(requests, [
    {
      ...{ dataset: "ddff12", data: "set", models: ["rdf", "mine.safetensors", "fine", "small", "laplacian"], planes: [5], limit: 3 },
      ...{ device: "cpu", threads: 0, resumeDir: "kept" },
    },
  ]);
  const ours = Object.fromEntries(table.rows.map((row) => [row.label, row.ours]));
  assert.deepEqual(ours["Ours"], { MSE: 0.01, RMSE: 0.1, δ1: 0.9 });
  assert.deepEqual(ours["RDF"], { MSE: 0, RMSE: 0, δ1: 0.9 });
  assert.match(table.rows[3]?.needs ?? "", /--preset ddff12 --model dfv .* --weights dfv=/);
  assert.match(table.measured, /^split "val", 3 images, 5 planes unless .*base from mine\.safetensors/);
});

test("a row with another number of planes is measured with that many, beside the paper's figure for it", async () => {
  const counts: unknown[] = [];
  const evaluate: Evaluate = ({ models, planes = [] }) => {
    counts.push(planes);
    const result = (model: string) => ({ model, split: "val", images: 100, metrics: { rmse: 1 / (planes[0] ?? NaN) } });
    return Promise.resolve(models.map(result) as unknown as Evaluation[]);
  };
  const { rows } = await evaluateTable("nyu", request(evaluate, { data: "set", weights: { base: "mine.safetensors" } }));
  assert.deepEqual(counts, [[5], [10]]);
  const row = (label: string) => rows.find((each) => each.label === label);
  assert.deepEqual([row("Ours (DFF)")?.paper["RMSE"], row("Ours (DFF)")?.ours], [0.075, { RMSE: 0.2 }]);
  assert.deepEqual([row("Ours, ten planes (Table 10)")?.paper["RMSE"], row("Ours, ten planes (Table 10)")?.ours], [0.052, { RMSE: 0.1 }]);
  assert.match(row("Ours, ten planes (Table 10)")?.command ?? "", /--model mine\.safetensors --planes 10 /);
});
