import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/system/userError.ts";
import { describeFailure, makeTables, throwFailures, type Made } from "../../src/reproduce/makeTables.ts";
import type { ReproducedTable } from "../../src/reproduce/report.ts";

const table = (name: string): ReproducedTable => ({ name, number: 1, title: "", on: "", measured: "", rows: [] });
const making =
  (name: string, failures: readonly unknown[] = []) =>
  (): Promise<Made> =>
    Promise.resolve({ tables: [table(name)], failures });
const missing = new UserError("nyu: no such folder", { exitCode: 3, remedy: "get it" });

test("each table is told as it is made, and a step that fails leaves the others going", async () => {
  const told: string[] = [];
  const late = new Error("one row");
  const steps = [
    making("grid", [late]),
    (): Promise<Made> => Promise.reject(missing),
    () => {
      assert.deepEqual(told, ["grid"]);
      return making("fod500")();
    },
  ];
  const onTable = ({ name }: ReproducedTable): Promise<void> => (told.push(name), Promise.resolve());
  const made = await makeTables(steps, { onTable, stop: new AbortController().signal });
  assert.deepEqual(told, ["grid", "fod500"]);
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

test("one failure is thrown as it is, several together with their remedies; none throws nothing", () => {
  throwFailures([]);
  assert.throws(() => {
    throwFailures([missing]);
  }, missing);
  const both = /^2 runs failed\n- nyu: no such folder\n {2}get it\n- out of memory$/;
  assert.throws(
    () => {
      throwFailures([missing, new Error("out of memory")]);
    },
    (error) => error instanceof Error && !(error instanceof UserError) && both.test(error.message),
  );
  assert.throws(
    () => {
      throwFailures([missing, missing]);
    },
    (error) => error instanceof UserError && error.exitCode === 3,
  );
  assert.equal(describeFailure("odd"), "odd");
});
