import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunCommand } from "../../src/reproduce/child.ts";
import { paperTables } from "../../src/reproduce/paperFigures.ts";
import { timeTable } from "../../src/reproduce/timeRunner.ts";

test("the networks are timed in one run at the paper's size; parameters count as the paper's do", async () => {
  const calls: (readonly string[])[] = [];
  const run: RunCommand = (args) => {
    calls.push(args);
    const rows = ["dfv", "base", "small"].map((model, i) => ({ model, median: 0.25 * (i + 1), p90: 1, ofLimit: 0.5 }));
    return Promise.resolve(JSON.stringify({ description: "a machine", rows }));
  };
  const table = await timeTable(paperTables.runtime, { device: "cpu", threads: 2, run, stop: new AbortController().signal });
  assert.deepEqual(
    calls.map((args) => args.slice(0, 7)),
    [["bench", "--model", "dfv,base,small", "--planes", "5", "--size", "384x576"]],
  );
  const ours = Object.fromEntries(table.rows.flatMap(({ label, ours }) => (ours ? [[label, ours]] : [])));
  assert.deepEqual(ours["DFV (N = 5)"], {
    "parameters M": 19.501484,
    "runtime ms": 250,
    "p90 ms": 1000,
    "of the machine's limit %": 50,
  });
  assert.equal(ours["Ours (N = 5)"]?.["parameters M"], 27.093643);
  assert.equal(ours["Ours, small (N = 5, not in the paper)"]?.["runtime ms"], 750);
  assert.equal(table.rows.filter(({ needs }) => needs !== undefined).length, 4);
});
