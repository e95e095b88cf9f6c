import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { writeAtomically } from "../../src/system/atomicFile.ts";
import { put, temporaryFolder } from "../data/files.ts";

const root = temporaryFolder();

/** From here to the end of the test, opening a folder fails as on Windows. */
function withoutFolderSync(context: TestContext): void {
  const open = files.open.bind(files);
  context.mock.method(files, "open", (path: string, flags: string) =>
    flags === "r"
      ? Promise.reject(Object.assign(new Error("EPERM: operation not permitted, fsync"), { code: "EPERM", syscall: "fsync" }))
      : open(path, flags),
  );
  syncBuiltinESMExports();
  context.after(() => {
    context.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

test("where folders cannot be synced, a file is written all the same", async (context) => {
  withoutFolderSync(context);
  const file = join(root, "weights");
  put(file, "before");
  await writeAtomically(file, Buffer.from("after"));
  assert.deepEqual([readFileSync(file, "utf8"), readdirSync(root)], ["after", ["weights"]]);
});

test("a file that cannot be written leaves what was there, and no draft", async () => {
  const file = join(root, "none", "weights");
  await assert.rejects(writeAtomically(file, Buffer.from("x")), {
    code: "write-failed",
    message: `${file}: cannot be written: there is no such file or folder`,
  });
  assert.deepEqual(readdirSync(root), ["weights"]);
});
