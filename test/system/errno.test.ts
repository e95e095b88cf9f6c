import assert from "node:assert/strict";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { cannotRead, cannotWrite, errnoOf, isMissing, reasonOf } from "../../src/system/errno.ts";

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => assert.fail("expected it to fail"),
    (cause: unknown) => cause,
  );

test("what the system refuses is said in plain words, with the name the user knows", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "dualfocus-errno-"));
  context.after(() => rm(folder, { recursive: true }));
  const missing = await failure(readFile(join(folder, "none.png")));
  const isFolder = await failure(readFile(folder));
  await writeFile(join(folder, "plain"), "");
  const below = await failure(open(join(folder, "plain", "x"), "w"));
  assert.deepEqual([isMissing(missing), isMissing(isFolder), isMissing(below)], [true, false, true]);
  const { code, message, facts, kind } = cannotRead("a.png", missing);
  assert.deepEqual([code, message, facts, kind], ["file-not-found", "a.png: there is no such file or folder", { file: "a.png" }, "input"]);
  assert.deepEqual([cannotRead("a", isFolder).code, cannotRead("a", isFolder).message], ["file-unreadable", "a: is a folder, not a file"]);
  assert.equal(cannotWrite("out", below).message, "out: cannot be written: there is no such file or folder");
});

test("other errors keep their own message", () => {
  const error = Object.assign(new Error("went wrong"), { code: "ENOENT" }); // without a system call it is not the system's
  assert.deepEqual([errnoOf(error), reasonOf(error), reasonOf("text")], [undefined, "went wrong", "text"]);
});
