import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { asUserError } from "../../src/cli/words.ts";
import { checkRoom, createFileWriter } from "../../src/system/diskRoom.ts";
import { NoRoom, reasonOf } from "../../src/system/errno.ts";
import { fillFolder } from "../../src/system/outputFolder.ts";
import { temporaryFolder } from "../data/files.ts";

const root = temporaryFolder();
const gentle = { force: false };
const linux = { skip: !existsSync("/dev/full") };

test("once the disk is full the files that follow are only measured, and the error says what all of them need", linux, async () => {
  const folder = join(root, "full");
  const writing = fillFolder(folder, gentle, async (temporary) => {
    symlinkSync("/dev/full", join(temporary, "color.png")); // a disk without room
    const { write, end } = createFileWriter(temporary);
    await write("depth.tif", new Uint8Array(30_000));
    await write("color.png", new Uint8Array(500_000));
    await write("result.json", "ü".repeat(5000)); // two bytes each
    assert.deepEqual(readdirSync(temporary), ["depth.tif"], "no half of a file, and nothing after it");
    await end();
  });
  await assert.rejects(writing, (error: unknown) => {
    const { exitCode, message = "", remedy } = asUserError(error) ?? {};
    assert.deepEqual([exitCode, remedy], [2, "make room, or choose another -o"]);
    const [before, free] = message.split(", and ");
    const words = "cannot be written: the disk is full: no room was left for color.png; all results together need 540 kB";
    assert.equal(before, `${folder}: ${words}`);
    assert.match(free ?? "", /^\d+ [kMG]B are free$/);
    return true;
  });
  assert.equal(existsSync(folder), false);
});

test("what is free counts without what is removed again, and is rounded down, what is needed up", () => {
  const cause = Object.assign(new Error("full"), { code: "ENOSPC", syscall: "write" });
  const reason = (room: ConstructorParameters<typeof NoRoom>[0]): string => reasonOf(new NoRoom(room));
  assert.equal(reason({ needed: 12_300_001, free: 12_299_999 }), "the disk is full: the results need at least 13 MB, and 12 MB are free");
  assert.match(reason({ needed: 0, free: 25e9, file: "a", cause }), /for a; all results together need 0 kB, and 25 GB are free$/);
  const quota = Object.assign(new Error("quota"), { code: "EDQUOT", syscall: "write" });
  assert.equal(
    reason({ needed: 2000, file: "a.tif", cause: quota }),
    "the disk quota is used up: no room was left for a.tif; all results together need 2 kB",
  );
});

test("other failures name the file", async () => {
  const folder = join(root, "taken");
  const writing = fillFolder(folder, gentle, async (temporary) => {
    mkdirSync(join(temporary, "depth.tif"));
    await createFileWriter(temporary).write("depth.tif", "depth");
  });
  await assert.rejects(writing, {
    code: "write-failed",
    message: `${join(folder, "depth.tif")}: cannot be written: is a folder, not a file`,
  });
});

test("room is checked before the work as far as it is known", async () => {
  await checkRoom(root, 1);
  await assert.rejects(checkRoom(root, 1e18), {
    code: "ENOSPC",
    message: /^the disk is full: the results need at least 1000000000 GB, and /,
  });
});
