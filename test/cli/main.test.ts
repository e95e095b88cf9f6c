import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";

const main = join(import.meta.dirname, "../../src/cli/main.ts");
const macro = join(import.meta.dirname, "../../examples/macro");

test("a reader of the progress that goes away does not stop the work", async () => {
  const command = spawn(process.execPath, ["--import", "tsx", main, "check", macro, "--json"], { stdio: ["ignore", "pipe", "pipe"] });
  command.stderr.destroy();
  const [out, [code]] = await Promise.all([text(command.stdout), once(command, "close")]);
  assert.equal(code, 0);
  assert.equal((JSON.parse(out) as { planes: number }).planes, 6);
});

test("a reader of the results that goes away ends the program without a stack trace", async () => {
  const command = spawn(process.execPath, ["--import", "tsx", main, "models"], { stdio: ["ignore", "pipe", "pipe"] });
  command.stdout.destroy();
  const [err, [code]] = await Promise.all([text(command.stderr), once(command, "close")]);
  assert.deepEqual([code, err], [0, ""]);
});
