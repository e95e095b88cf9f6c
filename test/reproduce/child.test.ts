import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { UserError } from "../../src/system/userError.ts";
import { runInChild } from "../../src/reproduce/child.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-child-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A program that says these lines, prints its arguments and ends with this exit code. */
function program(lines: readonly string[], code: number): string {
  const file = join(folder, `${code}-${lines.length}.mjs`);
  const said = JSON.stringify(lines.map((line) => `${line}\n`).join(""));
  writeFileSync(file, `process.stderr.write(${said}); process.stdout.write(process.argv.slice(2).join(" ")); process.exitCode = ${code};`);
  return file;
}

function run(lines: readonly string[], code: number, progress: (line: string) => void = () => undefined): Promise<string> {
  const { signal } = new AbortController();
  return runInChild({ program: [program(lines, code)], progress })(["a", "b"], { name: "nyu", stop: signal });
}

test("a run that ends well gives what it printed, and its lines of progress with its name", async () => {
  const lines: string[] = [];
  assert.equal(await run(["1 of 2", "2 of 2"], 0, (line) => lines.push(line)), "a b");
  assert.deepEqual(lines, ["nyu: 1 of 2", "nyu: 2 of 2"]);
});

test("a run that fails is told with all of its last words and its exit code", async () => {
  const layout = ["evaluate: 1 of 2", "dualfocus: nyu: found no pictures; expected", "  DIR/a.mat", "", "  get it from its authors"];
  await assert.rejects(run(layout, 3), (error) => {
    assert.ok(error instanceof UserError && error.exitCode === 3);
    const words = "nyu: found no pictures; expected\n  DIR/a.mat\n\n  get it from its authors";
    assert.equal(error.message, `nyu: ended with exit code 3: ${words}`);
    return true;
  });
});

test("a run that fails without last words is told by the first line it said", async () => {
  await assert.rejects(run(["error: unknown option", "at line 3"], 1), (error) => {
    assert.ok(error instanceof Error && !(error instanceof UserError));
    assert.equal(error.message, "nyu: ended with exit code 1: error: unknown option");
    return true;
  });
});
