import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { UserError } from "../../src/job/errors.ts";
import { FormatError } from "../../src/io/formatError.ts";
import { trainCommand } from "../../src/cli/train.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-train-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

const main = join(import.meta.dirname, "../../src/cli/main.ts");

function dualfocus(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", main, "train", ...args], { encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

const run = join(folder, "run");

test("the smoke preset trains from nothing to weights, and a longer budget resumes it", () => {
  const first = dualfocus("--preset", "smoke", "--threads", "1", "--steps", "3", "--set", "loss.beta=0.2", "-o", run, "--json");
  assert.equal(first.code, 0, first.err);
  const result = JSON.parse(first.out) as { step: number; metrics: Record<string, number>; files: Record<string, string> };
  assert.equal(result.step, 3);
  assert.ok(Object.values(result.metrics).every(Number.isFinite) && "rmse@3" in result.metrics);
  for (const file of Object.values(result.files)) assert.ok(existsSync(file), file);
  assert.match(first.err, /step 3 .*total .*depth .*spatial .*focal .*stacks\/s/);

  const second = dualfocus("--resume", "--threads", "1", "--steps", "5", "-o", run, "--quiet");
  assert.equal(second.code, 0, second.err);
  assert.match(second.out, /Done after 5 steps/);
  assert.equal(second.err, "");
});

test("wrong usage says what is wrong and exits with 2 or 3", async () => {
  const network = join(folder, "network.json");
  writeFileSync(network, '{"kind":"dualfocus"}');
  const taken = join(folder, "taken");
  mkdirSync(taken);
  writeFileSync(join(taken, "checkpoint.safetensors"), "");
  const cases: [args: string[], code: number, message: RegExp][] = [
    [["--preset", "smoke", "-o", taken], 2, /holds a run already[^]*--resume/],
    [["-o", join(folder, "x")], 2, /which recipe\?[^]*--preset render\|nyu/],
    [["--preset", "smoke", "--set", "loss.bta=1", "-o", join(folder, "x")], 2, /loss: Unrecognized key: "bta"/],
    [["--preset", "smoke", "--set", "clip=-1", "-o", join(folder, "x")], 2, /clip: Too small/],
    [["--preset", "smoke", "--steps", "many", "-o", join(folder, "x")], 2, /"many" is no number/],
    [["--preset", "smoke", "--model", network, "-o", join(folder, "x")], 3, /network\.json: the network description is wrong/],
    [["--preset", "nyu", "-o", join(folder, "x")], 2, /--data DIR/],
    [["--preset", "smoke", "--device", "cuda:99", "-o", join(folder, "x")], 2, /device cuda:99: /],
    [["--preset", "smoke", "--device", "tpu", "-o", join(folder, "x")], 2, /device tpu: /],
    [["--preset", "smoke", "-o", network], 2, /network\.json: is a file, not a folder[^]*another -o/],
    [["--resume", "-o", join(folder, "none")], 3, /no checkpoint to resume/],
    [["--resume", "--init", network, "-o", taken], 2, /--resume, --init and --encoder exclude one another/],
    [["--preset", "smoke", "--encoder", join(folder, "none"), "-o", join(folder, "x")], 3, /no such file[^]*none/],
    [["--preset", "smoke", "--encoder", network, "-o", join(folder, "x")], 3, /network\.json: no \.safetensors file/],
  ];
  for (const [args, code, message] of cases)
    await assert.rejects(trainCommand().parseAsync(args, { from: "user" }), (error) => {
      assert.ok(error instanceof UserError || error instanceof FormatError, `${args.join(" ")}: ${String(error)}`);
      const remedy = error instanceof UserError ? error.remedy : undefined;
      assert.match(`${error.message}\n${remedy ?? ""}`, message);
      return (error instanceof UserError ? error.exitCode : 3) === code; // the command maps wrong files to 3
    });
});
