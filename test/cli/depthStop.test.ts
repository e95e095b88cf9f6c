import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createProgress } from "../../src/depth/progress.ts";
import { temporaryFolder } from "../data/files.ts";

const root = temporaryFolder();

test(
  "Ctrl-C ends with a message and exit code 130 and leaves nothing, not even the folders on the way",
  { skip: process.platform === "win32" },
  async () => {
    const main = join(import.meta.dirname, "../../src/cli/main.ts");
    const macro = join(import.meta.dirname, "../../examples/macro");
    const command = spawn(process.execPath, [...process.execArgv, main, "depth", macro, "-o", join(root, "some", "where")]);
    let told = "";
    let stopped = false;
    command.stderr.on("data", (text: Buffer) => {
      told += text.toString();
      if (!stopped && told.includes("read: done")) stopped = command.kill("SIGINT");
    });
    const code = await new Promise((resolve) => command.once("close", resolve));
    assert.equal(code, 130, told);
    assert.match(told, /dualfocus: stopped; nothing half-written is left/);
    assert.deepEqual(readdirSync(root), []);
  },
);

/** A screen that remembers, and a clock that goes on by hand. */
function watched(isTTY: boolean): { told: string[]; at: (seconds: number) => void; progress: ReturnType<typeof createProgress> } {
  const told: string[] = [];
  let time = 0;
  const progress = createProgress({ isTTY, write: (text) => told.push(text) }, { now: () => time });
  return { told, progress, at: (seconds) => (time = seconds) };
}

test("on a terminal one line tells the stage and the time left, which is that of the steps before", () => {
  const { told, at, progress } = watched(true);
  at(4);
  progress("read", 1, 4);
  at(16);
  progress("read", 4, 4);
  at(20);
  progress("enlarge", 1, 30);
  assert.deepEqual(told, ["\rread: 1 of 4, 12 s left\u001b[K", "\rread: 16 s\u001b[K\n", "\renlarge: 1 of 30, 1 min 56 s left\u001b[K"]);
});

test("a stage that has begun is named, without a time left before there is a step to go by", () => {
  const { told, progress } = watched(true);
  progress("infer", 0, 100);
  progress("fill", 0, 1);
  assert.deepEqual(told, ["\rinfer: 0 %\u001b[K", "\rfill: 0 of 1\u001b[K"]);
});

test("elsewhere a stage is one line, and a long one a line every ten seconds", () => {
  const { told, at, progress } = watched(false);
  for (const second of [3, 6, 9, 12, 15]) {
    at(second);
    progress("enlarge", second / 3, 5);
  }
  assert.deepEqual(told, ["enlarge: 4 of 5, 3.0 s left\n", "enlarge: done in 15 s\n"]);
});
