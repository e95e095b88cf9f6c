import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const main = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");

/** Weights that are in the repository's history alone, unless somebody has restored them. */
const isRestored = (name: string): boolean => existsSync(join(import.meta.dirname, "..", "..", "models", `${name}.safetensors`));

function models(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, main, "models", ...args], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout;
}

interface Row {
  readonly name: string;
  readonly parameters: number;
  readonly parametersWithClassifier: number;
  readonly multiplyAccumulates: number;
  readonly facts?: { readonly training: readonly { readonly steps: number }[] };
}

test("parameters and multiply-accumulates of every network are printed, and are the published ones", () => {
  const { stack, models: rows } = JSON.parse(models("--json")) as { stack: object; models: Row[] };
  assert.deepEqual(stack, { planes: 5, height: 384, width: 576 });
  const [small, fine, base, dfv] = rows as [Row, Row, Row, Row];
  assert.deepEqual([small.name, fine.name, base.name, dfv.name], ["small", "fine", "base", "dfv"]);
  assert.deepEqual([base.parameters, base.parametersWithClassifier], [26_580_643, 27_093_643]);
  assert.deepEqual([dfv.parameters, dfv.parametersWithClassifier], [18_988_484, 19_501_484]);
  assert.ok(small.parameters <= 4e6 && small.multiplyAccumulates <= 28e9);
  assert.ok(Math.abs(dfv.multiplyAccumulates - 90.1e9) < 0.2e9, `DFV's own code takes 90.1 G, counted ${dfv.multiplyAccumulates}`);
  assert.ok(Math.abs(base.multiplyAccumulates - 258e9) < 3e9);
  const more = fine.multiplyAccumulates / base.multiplyAccumulates;
  assert.ok(more > 1.02 && more < 1.03, `fine's parts cost 2.6 % of base's work, counted ${more}`);
  assert.deepEqual(small.facts?.training.map(({ steps }) => steps), [18_506, 14_947, 4_040, 8_350, 13_287, 37_361, 41_059, 39_706, 35_238]); // prettier-ignore
  for (const { name, facts } of [base, dfv]) assert.equal(facts !== undefined, isRestored(name), name);
});

test("without --json a table is printed, one line a network", () => {
  const [header = "", ...lines] = models().trimEnd().split("\n");
  assert.match(header, /model +parameters +with classifier +MAC at 5×384×576 +weights +planes +average +trained +licence/);
  assert.deepEqual(
    lines.map((line) => line.split(/ +/)[0]),
    ["small", "fine", "base", "dfv"],
  );
  assert.match(lines[0] ?? "", /3,137,587 +3,330,587 +25\.\d G +6\.3 MB +3–10 +dioptres +107\.8 min +Apache-2\.0$/);
  assert.match(lines[1] ?? "", /26,999,115 +27,512,115 +265\.\d G +28\.\d MB +3–10 +dioptres +[\d.]+ min +Apache-2\.0$/);
  assert.match(lines[2] ?? "", isRestored("base") ? /26,580,643 .* MB / : /26,580,643 +27,093,643 +258\.\d G +none shipped$/);
});
