import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { removeAbandoned, withTemporaryFolder } from "../../src/system/temporaryFolder.ts";
import { put, temporaryFolder } from "../data/files.ts";

test("a temporary folder is this user's alone, and gone however its use ends", async () => {
  const parent = join(temporaryFolder(), "made");
  const seen = await withTemporaryFolder(parent, (folder) => {
    put(join(folder, "a"), "a");
    if (process.platform !== "win32") assert.equal(statSync(folder).mode & 0o777, 0o700);
    return Promise.resolve(folder);
  });
  assert.ok(!existsSync(seen));
  await assert.rejects(
    withTemporaryFolder(parent, (folder) => {
      put(join(folder, "a"), "a");
      return Promise.reject(new Error("no"));
    }),
    /no/,
  );
  assert.deepEqual(readdirSync(parent), []);
});

test("what killed processes have left is removed, what running ones use is not", async () => {
  const parent = temporaryFolder();
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  const hour = 3600_000;
  const make = (name: string): string => {
    put(join(parent, name, "upload_0000"), "x");
    return join(parent, name);
  };
  const [left, foreign, old, other] = [
    make(`dualfocus@${hostname()}@${dead}@1`),
    make("dualfocus@elsewhere@1@2"),
    make("dualfocus@elsewhere@1@3"),
    make("a folder of someone else's"),
  ];
  const before = make(`dualfocus@${hostname()}@${process.pid}@4`); // of a process with our number, before a container was started again
  utimesSync(old, new Date(), new Date(Date.now() - 25 * hour));
  utimesSync(before, new Date(), new Date(Date.now() - hour * 24 * 365));
  await withTemporaryFolder(parent, async (mine) => {
    await removeAbandoned(parent);
    assert.ok(existsSync(mine), "another server of the same process leaves it alone");
  });
  assert.deepEqual(
    [left, foreign, old, other, before].map((folder) => existsSync(folder)),
    [false, true, false, true, false],
  );
});
