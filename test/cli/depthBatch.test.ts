import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { BatchEntry } from "../../src/cli/depthResults.ts";
import { encodeNpy } from "../../src/io/npy.ts";
import { encodePng } from "../../src/io/png.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { runCommand } from "../helpers/command.ts";
import { slantedStack } from "../helpers/texturedStack.ts";

const root = temporaryFolder();
const stacks = join(root, "stacks");
const { stack, trueDepth } = slantedStack({ width: 96, height: 64, planes: 4 });

for (const name of ["stack 2", "stack 10"]) {
  stack.images.forEach((image, n) => {
    put(join(stacks, name, `plane_${n}.png`), encodePng(image));
  });
  put(join(stacks, name, "stack.json"), JSON.stringify({ unit: "m", focus: stack.focusDistances }));
  put(join(stacks, name, "depth.npy"), encodeNpy({ shape: [64, 96], data: trueDepth.values }));
}
put(join(stacks, "stack 3", "plane_0.png"), "no picture");
put(join(stacks, "notes.txt"), "no folder");
put(join(stacks, ".hidden", "plane_0.png"), "not looked at");

const output = join(root, "out");
const args = ["depth", stacks, "--batch", "-o", output, "--save", "npy", "--truth", "depth.npy"];

interface Report {
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly stacks: readonly BatchEntry[];
}

test("every sub-folder is a stack; one that fails does not stop the others, and ends with exit code 3", async (context) => {
  const { code, out, err } = await runCommand(context, ...args);
  assert.equal(code, 3, err);
  assert.match(err, /stack 3: .*plane_0\.png/);
  assert.match(err, /1 of 3 stacks failed\n {2}fix them and run the same command again/);
  const lines = out.split("\n");
  assert.match(lines[0] ?? "", /^stack +status +planes +size +depth +absRel +seconds$/);
  assert.match(lines[1] ?? "", /^stack 2 +done +4 +96×64 +\d\.\d+ to \d\.\d+ m +0\.\d+ +\d+\.\d$/);
  assert.match(lines[2] ?? "", /^stack 3 +failed +.*plane_0\.png: not a readable image/);
  assert.match(lines[3] ?? "", /^stack 10 +done/);
  assert.deepEqual(readdirSync(output).sort(), ["stack 10", "stack 2"], "nothing of the failed one, nothing hidden");
});

test("a second run keeps what is finished and does what is not", async (context) => {
  const kept = statSync(join(output, "stack 2", "depth.npy")).mtimeMs;
  rmSync(join(output, "stack 10"), { recursive: true });
  const { code, out } = await runCommand(context, ...args, "--json");
  assert.equal(code, 3);
  const report = JSON.parse(out) as Report;
  assert.deepEqual([report.done, report.skipped, report.failed], [1, 1, 1]);
  assert.deepEqual(report.stacks.map(({ name, status }) => [name, status]), [["stack 2", "skipped"], ["stack 3", "failed"], ["stack 10", "done"]]); // prettier-ignore
  assert.ok((report.stacks[2]?.result?.errors?.absRel ?? 1) < 0.15); // blurred evenly in metres, which no lens does
  assert.match(report.stacks[1]?.error?.message ?? "", /not a readable image/);
  for (const { status, result } of report.stacks.filter(({ name }) => name !== "stack 3"))
    assert.ok(existsSync(result?.files["npy"] ?? ""), `the path of a stack that was ${status} leads to its file`);
  assert.equal(statSync(join(output, "stack 2", "depth.npy")).mtimeMs, kept);
});

test("once all is well the exit code is 0, and --force does everything again", async (context) => {
  rmSync(join(stacks, "stack 3"), { recursive: true });
  const before = readFileSync(join(output, "stack 2", "result.json"), "utf8");
  writeFileSync(join(output, "stack 2", "depth.npy"), "spoilt");
  const { code, out, err } = await runCommand(context, ...args, "--json", "--force");
  assert.equal(code, 0, err);
  assert.deepEqual((JSON.parse(out) as Report).done, 2);
  assert.notEqual(readFileSync(join(output, "stack 2", "depth.npy"), "utf8"), "spoilt");
  assert.ok(before.length > 0 && existsSync(join(output, "stack 10", "result.json")));
});
