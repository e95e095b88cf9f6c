import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { PaperTable } from "../../src/reproduce/paperTable.ts";
import type { ReproducedTable } from "../../src/reproduce/report.ts";
import { describeFailure, throwFailures } from "../../src/cli/reproduce.ts";
import { DatasetError } from "../../src/data/dataset.ts";
import { UserError } from "../../src/system/userError.ts";
import { encodeExr } from "../../src/io/exr.ts";
import { put, putPicture } from "../data/files.ts";
import { assertClose } from "../helpers/close.ts";
import { runCommand } from "../helpers/command.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-reproduce-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

const main = join(import.meta.dirname, "../../src/cli/main.ts");

function dualfocus(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, main, ...args], { encoding: "utf8" });
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

test("a training run that fails is reported with its reason", () => {
  const args = ["reproduce", "focal", "--preset", "smoke", "--only", "both", "--steps", "1", "-o", join(folder, "broken")];
  const { code, err } = dualfocus(...args, "--device", "cuda:77", "--quiet");
  assert.equal(code, 2);
  assert.match(err, /^dualfocus: both: device cuda:77: /m);
});

test("a table trained on a published set has the figures that evaluate finds for its weights, in metres", async (context) => {
  const [set, output, size] = [join(folder, "fod500"), join(folder, "published"), { width: 32, height: 32 }];
  for (const scene of ["000000", "000400", "000401"]) {
    for (const n of [1, 2, 3, 4, 5]) await putPicture(join(set, `${scene}_0${n}All.tif`), size, (x, y) => (7 * n * x + 3 * y) % 256);
    const depth = Float32Array.from({ length: 32 * 32 }, (_, i) => 0.2 + i / 1024);
    put(join(set, `${scene}_Dpt.exr`), await encodeExr({ ...size, channels: { R: depth } }, { precision: "f16" }));
  }
  const training = ["--preset", "fod500", "--only", "both", "--model", "small", "--steps", "1", "--batch-size", "1", "--crop", "32"];
  const { code, out, err } = dualfocus("reproduce", "channels", ...training, "--data", set, "--threads", "1", "-o", output, "--json");
  assert.equal(code, 0, err);
  const { tables } = JSON.parse(out) as { tables: ReproducedTable[] };
  const weights = join(output, "variants/both/weights.safetensors");
  const found = await runCommand(context, "evaluate", "--dataset", "fod500", "--data", set, "--model", weights, "--json", "--quiet");
  const { metrics } = JSON.parse(found.out) as { metrics: Record<string, number> };
  const { rmse: RMSE, logRmse: logRMSE, absRel: AbsRel, sqRel: SqRel } = metrics;
  const asPrinted = { RMSE, logRMSE, AbsRel, SqRel };
  const ours = tables[0]?.rows[2]?.ours ?? {};
  assert.deepEqual(Object.keys(ours).sort(), Object.keys(tables[0]?.rows[2]?.paper ?? {}).sort());
  for (const [name, value] of Object.entries(ours)) assertClose([value], [asPrinted[name as keyof typeof asPrinted] ?? NaN], 1e-6);
  assert.match(tables[0]?.measured ?? "", /^fod500, 1 steps each, split "test", 2 images/);
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

test("tables are printed and written as they are made; one whose set is wrong is told at the end, with the layout it wants", () => {
  const [output, empty] = [join(folder, "several"), join(folder, "empty")];
  mkdirSync(empty, { recursive: true });
  const { code, out, err } = dualfocus("reproduce", "fod500", "ddff12", "--data", `fod500=${empty}`, "-o", output);
  assert.equal(code, 3, err);
  assert.match(out, /^Table 3\. [^]*\| Ours \| .*DDFF 12-Scene, validation split: --data DIR/);
  assert.match(err, /^dualfocus: fod500: .*000400_Dpt\.exr .* is missing\. .*\n {2}DIR\/NNNNNN_xxAll\.tif/m);
  assert.deepEqual(readdirSync(output).filter((name) => /^(fod500|ddff12)\.(md|rows\.json)$/.test(name)), ["ddff12.md", "ddff12.rows.json"]); // prettier-ignore
});

test("a folder given by name serves its set alone", async (context) => {
  const { code, out } = await runCommand(context, "reproduce", "arkit", "--data", "nyu=some", "--json");
  assert.equal(code, 0);
  const { tables, failures } = JSON.parse(out) as { tables: ReproducedTable[]; failures: string[] };
  assert.match(tables[0]?.rows.at(-1)?.needs ?? "", /^ARKitScenes upsampling/);
  assert.deepEqual(failures, []);
});

test("wrong usage is refused with what is right", async (context) => {
  const cases: [args: string[], message: RegExp][] = [
    [["tables"], /nyu, fod500/],
    [["ablation"], /missing -o DIR, the folder of the training runs/],
    [["ablation", "-o", join(folder, "none"), "--set", "clip=-1"], /clip: Too small/],
    [["ablation", "-o", folder, "--only", "nothing"], /there is no variant "nothing"; there are [^]*noSpatial-noFocal/],
    [["ablation", "-o", join(folder, "none"), "--preset", "nyu"], /--preset nyu trains on files[^]*--data DIR/],
    [["ablation", "-o", join(folder, "none"), "--preset", "nyu", "--data", "ddff12=some"], /--preset nyu trains on files/],
    [["nyu", "--data", "nuy=some"], /DIR or NAME=DIR, with NAME one of nyu, fod500, ddff12, arkit/],
    [["nyu", "--data", "nyu="], /DIR or NAME=DIR/],
    [["nyu", "--data", "one", "--data", "two"], /One folder for each dataset: name them as nyu=DIR/],
    [["ablation", "--seeds", "x"], /whole number, 0 or more/],
    [["nyu", "--weights", "huge=x"], /NAME=FILE, with NAME one of small, fine, base, dfv/],
  ];
  for (const [args, message] of cases) {
    const { code, err } = await runCommand(context, "reproduce", ...args);
    assert.equal(code, 2, err);
    assert.match(err, message);
  }
  assert.ok(!existsSync(join(folder, "none")), "nothing was begun");
});

const missing = new DatasetError("nyu: no such folder");

test("one failure is thrown as it is, several together with their remedies; none throws nothing", () => {
  throwFailures([]);
  assert.throws(() => {
    throwFailures([missing]);
  }, missing);
  const both = /^2 runs failed\n- nyu: no such folder\n {2}docs\/datasets\.md shows the layout of each dataset\n- out of memory$/;
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
