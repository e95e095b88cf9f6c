import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import { SAVED_NAMES } from "../../src/cli/depthOptions.ts";
import { COMMAND_NAMES } from "../../src/cli/run.ts";
import { runCommand } from "../helpers/command.ts";

const main = join(import.meta.dirname, "../../src/cli/main.ts");
const macro = join(import.meta.dirname, "../../examples/macro");

test("a reader of the progress that goes away does not stop the work", async () => {
  const command = spawn(process.execPath, [...process.execArgv, main, "check", macro, "--json"], { stdio: ["ignore", "pipe", "pipe"] });
  command.stderr.destroy();
  const [out, [code]] = await Promise.all([text(command.stdout), once(command, "close") as Promise<[number | null]>]);
  assert.equal(code, 0);
  assert.equal((JSON.parse(out) as { planes: number }).planes, 6);
});

test("a reader of the results that goes away ends the program without a stack trace", async () => {
  const command = spawn(process.execPath, [...process.execArgv, main, "models"], { stdio: ["ignore", "pipe", "pipe"] });
  command.stdout.destroy();
  const [err, [code]] = await Promise.all([text(command.stderr), once(command, "close") as Promise<[number | null]>]);
  assert.deepEqual([code, err], [0, ""]);
});

test("every command's help shows defaults as one would type them", async (context) => {
  for (const name of COMMAND_NAMES) {
    const { code, out } = await runCommand(context, name, "--help");
    assert.deepEqual([code, /default: (false|\[|\{|")/.exec(out)?.[0]], [0, undefined], name);
    assert.match(out, new RegExp(`^Usage: dualfocus ${name} \\[options\\]`));
    assert.equal((await runCommand(context, "help", name)).out, out);
  }
  const depthHelp = (await runCommand(context, "depth", "--help")).out;
  for (const name of SAVED_NAMES) assert.match(depthHelp, new RegExp(`^  ${name} +\\S+\\.\\w+: \\w`, "m"));
  const { out } = await runCommand(context, "bench", "--help");
  assert.match(out.replace(/\s+/g, " "), /\(default: 128x192,192x288,384x576\)/);
});

test("wrong usage of a command leads to that command's help", async (context) => {
  for (const args of [["depth"], ["depth", "stack", "--bogus"], ["evaluate", "--dataset", "none"]]) {
    const { code, err } = await runCommand(context, ...args);
    assert.equal(code, 2);
    assert.match(err, new RegExp(`\\(dualfocus ${args[0]} --help explains the options\\)\n$`));
  }
});

test("with --json wrong usage is a document on stdout, too", async (context) => {
  const of = async (...args: string[]): Promise<unknown> => {
    const { code, out, err } = await runCommand(context, ...args);
    assert.deepEqual([code, /^error: /.test(err)], [2, true]);
    return (JSON.parse(out) as { error: unknown }).error;
  };
  const remedy = "dualfocus depth --help explains the options";
  const message = "option '--unit <UNIT>' argument 'furlong' is invalid. Allowed choices are m, cm, mm, um, dpt, disparity, index.";
  assert.deepEqual(await of("depth", "stack", "--unit", "furlong", "--json"), { code: "bad-option", message, remedy, exitCode: 2 });
  assert.deepEqual(await of("depth", "--json"), { code: "bad-option", message: "missing required argument 'stack'", remedy, exitCode: 2 });
  assert.match(JSON.stringify(await of("deep", "--json")), /"unknown command 'deep'.*"dualfocus --help explains the options"/);
});
