import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { PaperTable } from "../../src/reproduce/paperTable.ts";
import type { ReproducedTable } from "../../src/reproduce/report.ts";
import { runCommand } from "../helpers/command.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-reproduce-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

const main = join(import.meta.dirname, "../../src/cli/main.ts");

function dualfocus(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", main, ...args], { encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

test("a table is trained in small, with a grid that does not divide the crop; again, and nothing is trained", () => {
  const output = join(folder, "small");
  const args = [
    "reproduce",
    "channels",
    "grid",
    "--preset",
    "smoke",
    "--only",
    "both",
    "--steps",
    "1",
    "--threads",
    "1",
    "-o",
    output,
    "--json",
  ];
  const first = dualfocus(...args);
  assert.equal(first.code, 0, first.err);
  const { tables } = JSON.parse(first.out) as { tables: ReproducedTable[] };
  assert.deepEqual(
    tables.map(({ name, number, rows }) => [name, number, rows.map(({ ours }) => ours !== undefined)]),
    [
      ["channels", 8, [false, false, true]],
      ["grid", 7, [false, true, false, false]],
    ],
  );
  assert.ok(Object.values(tables[0]?.rows[2]?.ours ?? {}).every(Number.isFinite));
  assert.match(first.err, /^both: .*step 1 /m);
  assert.match(first.err, /^both is done: 1 of 1$/m);
  for (const file of ["channels.md", "grid.rows.json", "variants/both/run.json"]) assert.ok(existsSync(join(output, file)), file);

  const second = dualfocus(...args);
  assert.deepEqual([second.code, second.out], [0, first.out]);
  assert.doesNotMatch(second.err, /step 1/);
});

test("a training that fails is told with its reason", () => {
  const args = ["reproduce", "focal", "--preset", "smoke", "--only", "both", "--steps", "1", "-o", join(folder, "broken")];
  const { code, err } = dualfocus(...args, "--set", "clip=-1", "--quiet");
  assert.equal(code, 2);
  assert.match(err, /both: ended with exit code 2: .*clip: Too small/);
});

test("without a table the tables are listed with what each needs", async (context) => {
  const { code, out } = await runCommand(context, "reproduce");
  assert.equal(code, 0);
  assert.equal(out.match(/^\w+ +Table \d+ /gm)?.length, 10);
  assert.match(out, /^nyu +Table 1 .*\n +needs: NYU Depth v2 \(--data DIR\)/m);
  assert.match(out, /^ablation +Table 5 .*\n +trains here on rendered scenes/m);
  assert.match(out, /^runtime +Table 11 .*\n +runs here/m);
  const { tables } = JSON.parse((await runCommand(context, "reproduce", "--json")).out) as { tables: PaperTable[] };
  assert.equal(tables.find(({ name }) => name === "ablation")?.rows.at(-1)?.paper["RMSE"], 0.075);
});

test("a table whose set is missing is printed with what it needs", async (context) => {
  const { code, out } = await runCommand(context, "reproduce", "fod500");
  assert.equal(code, 0);
  assert.match(out, /\| Ours \| 0\.015 \| 0\.112 \|.*FoD500, scenes 400 to 499: --data DIR/);
});

test("wrong usage is refused with what is right", async (context) => {
  const cases: [args: string[], message: RegExp][] = [
    [["tables"], /nyu, fod500/],
    [["ablation"], /where should the trainings go\?[^]*-o DIR/],
    [["ablation", "-o", folder, "--only", "nothing"], /--only nothing: there is no such variant[^]*noSpatial-noFocal/],
    [["ablation", "-o", join(folder, "none"), "--preset", "nyu"], /--preset nyu trains on files[^]*--data DIR/],
    [["ablation", "--seeds", "x"], /0,1,2/],
    [["nyu", "--weights", "huge=x"], /NAME=FILE, with NAME one of base, small, dfv/],
  ];
  for (const [args, message] of cases) {
    const { code, err } = await runCommand(context, "reproduce", ...args);
    assert.equal(code, 2, err);
    assert.match(err, message);
  }
  assert.ok(!existsSync(join(folder, "none")), "nothing was begun");
});
