import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { asUserError } from "../../src/cli/words.ts";
import { fillFolder, makeFolder } from "../../src/system/outputFolder.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { runCommand } from "../helpers/command.ts";

const root = temporaryFolder();
const gentle = { force: false };
const writeTwo = async (folder: string): Promise<void> => {
  await writeFile(join(folder, "result.json"), "{}");
  await writeFile(join(folder, "depth.tif"), "depth");
};

test("a folder that is not there appears when all of it is written", async () => {
  const folder = join(root, "deep", "new");
  await fillFolder(folder, gentle, async (temporary) => {
    await writeTwo(temporary);
    assert.equal(existsSync(folder), false);
  });
  assert.deepEqual(readdirSync(folder).sort(), ["depth.tif", "result.json"]);
  assert.deepEqual(readdirSync(join(root, "deep")), ["new"]);
});

test("an empty folder that is there is filled, not replaced: it may be a mount, or the one we are in", async () => {
  const folder = join(root, "empty");
  mkdirSync(folder);
  const before = process.cwd();
  process.chdir(folder);
  try {
    await fillFolder(".", gentle, writeTwo);
    assert.deepEqual(readdirSync(".").sort(), ["depth.tif", "result.json"]);
  } finally {
    process.chdir(before);
  }
});

test("what a killed run left inside is removed, and does not count as content", async () => {
  const folder = join(root, "left");
  let leftover = "";
  await fillFolder(join(root, "other"), gentle, (temporary) => {
    leftover = temporary.replace(/\d+$/, "999999999").replace("other", "left");
    return Promise.resolve();
  });
  put(join(folder, leftover.slice(root.length + 1), "half.tif"), "half");
  await fillFolder(folder, gentle, writeTwo);
  assert.deepEqual(readdirSync(folder).sort(), ["depth.tif", "result.json"]);
});

test("a disk that is full while writing leaves nothing, and the error names the folder", async () => {
  const folder = join(root, "full", "out");
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
  const failing = fillFolder(folder, gentle, async (temporary) => {
    await writeTwo(temporary);
    throw full;
  });
  await assert.rejects(failing, (error: unknown) => {
    const { exitCode, message, remedy } = asUserError(error) ?? {};
    assert.equal(exitCode, 2);
    assert.match(message ?? "", /full[\\/]out: cannot be written: the disk is full$/);
    assert.equal(remedy, "make room, or choose another -o");
    return true;
  });
  assert.equal(existsSync(join(root, "full")), false, "not even the folder above it");
});

test("where no folder can be made, the error names the one asked for", { skip: !existsSync("/proc/self") }, async () => {
  for (const folder of ["/proc/none", "/proc/none/out"]) {
    const message = `${folder}: cannot be created: there is no such file or folder`;
    await assert.rejects(fillFolder(folder, gentle, writeTwo), { code: "output-unusable", message });
  }
});

test("a file where a folder should be is named, however far above it is", async () => {
  const file = join(root, "a file");
  put(file, "");
  const refusal = { code: "output-unusable", message: `${file}: is a file, not a folder` };
  for (const folder of [file, join(file, "out"), join(file, "deep", "out")]) {
    await assert.rejects(fillFolder(folder, gentle, writeTwo), refusal);
    await assert.rejects(makeFolder(folder), refusal);
  }
});

test("a folder that is not writable is reported before the work", { skip: process.platform === "win32" }, () => {
  const folder = join(root, "locked");
  mkdirSync(folder, { mode: 0o555 });
  chmodSync(root, 0o755);
  // Root may write everywhere: a process of its own loads everything, and then becomes nobody.
  const module = JSON.stringify(join(import.meta.dirname, "../../src/system/outputFolder.ts"));
  const program = `
    const { makeFolder } = await import(${module});
    if (process.getuid() === 0) { process.setgroups([]); process.setgid(65534); process.setuid(65534); }
    await makeFolder(${JSON.stringify(folder)}).catch(({ code, message }) => console.log(JSON.stringify({ code, message })));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, "--input-type=module", "-e", program], { encoding: "utf8" });
  assert.deepEqual(JSON.parse(stdout || "{}"), { code: "output-unusable", message: `${folder}: is not writable` }, stderr);
});

const full = [
  ["before the work", "32k", /^the results need at least 308 kB, and \d+ kB are free$/], // depth.tif has 320×240×4 bytes
  ["after it", "340k", /^no room was left for depth\.tif; all results together need \d+ kB, and \d+ kB are free$/],
] as const;

for (const [when, size, lack] of full)
  test(`a full disk ends the command ${when} with its exit code, the folder, what it lacks, what to do, and nothing left`, async (context) => {
    const mount = join(root, `disk${size}`);
    mkdirSync(mount);
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "none", mount]);
    if (mounted.status !== 0) {
      context.skip("no small file system may be mounted here");
      return;
    }
    try {
      const macro = join(import.meta.dirname, "../../examples/macro");
      const { code, out, err } = await runCommand(context, "depth", macro, "-o", join(mount, "out"), "--quiet", "--size", "96");
      assert.deepEqual([code, out], [2, ""], err);
      const [message = "", remedy] = err.split("\n");
      const words = `dualfocus: ${join(mount, "out")}: cannot be written: the disk is full: `;
      assert.deepEqual([message.slice(0, words.length), remedy], [words, "  make room, or choose another -o"]);
      assert.match(message.slice(words.length), lack);
      assert.deepEqual(readdirSync(mount), []);
      put(join(mount, "still"), "room");
      assert.equal(readFileSync(join(mount, "still"), "utf8"), "room");
    } finally {
      assert.equal(spawnSync("umount", [mount]).status, 0);
    }
  });
