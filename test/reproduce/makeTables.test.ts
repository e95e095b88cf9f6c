import assert from "node:assert/strict";
import { test } from "node:test";
import { DatasetError } from "../../src/data/dataset.ts";
import { makeTables, type Made } from "../../src/reproduce/makeTables.ts";
import type { ReproducedTable } from "../../src/reproduce/report.ts";

const table = (name: string): ReproducedTable => ({ name, number: 1, title: "", on: "", measured: "", rows: [] });
const making =
  (name: string, failures: readonly unknown[] = []) =>
  (): Promise<Made> =>
    Promise.resolve({ tables: [table(name)], failures });
const missing = new DatasetError("nyu: no such folder");

test("each table is reported as it is made, and the other steps go on when one fails", async () => {
  const reported: string[] = [];
  const late = new Error("one row");
  const steps = [
    making("grid", [late]),
    (): Promise<Made> => Promise.reject(missing),
    () => {
      assert.deepEqual(reported, ["grid"]);
      return making("fod500")();
    },
  ];
  const onTable = ({ name }: ReproducedTable): Promise<void> => (reported.push(name), Promise.resolve());
  const made = await makeTables(steps, { onTable, stop: new AbortController().signal });
  assert.deepEqual(reported, ["grid", "fod500"]);
  assert.deepEqual(made, { tables: [table("grid"), table("fod500")], failures: [late, missing] });
});

test("when all should stop nothing more is begun", async () => {
  const stop = new AbortController();
  const steps = [
    (): Promise<Made> => {
      stop.abort();
      return Promise.reject(new Error("stopped"));
    },
    (): Promise<Made> => Promise.reject(new Error("should not run")),
  ];
  await assert.rejects(makeTables(steps, { onTable: () => Promise.resolve(), stop: stop.signal }), /^Error: stopped$/);
});
