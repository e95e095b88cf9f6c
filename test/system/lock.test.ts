import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { DualFocusError } from "../../src/errors.ts";
import { holdFolder, lockFile } from "../../src/system/lock.ts";

const folder = mkdtempSync(join(tmpdir(), "dualfocus-lock-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

const file = lockFile(folder);
const leave = (text: string, { minutesAgo = 0 } = {}): void => {
  writeFileSync(file, text);
  const time = new Date(Date.now() - 60_000 * minutesAgo);
  utimesSync(file, time, time);
};
const lockOf = (pid: number, host = hostname()): string => JSON.stringify({ pid, host });
const hold = (): Promise<string> => holdFolder(folder, () => Promise.resolve(readFileSync(file, "utf8")));
const refused = (message: RegExp): Promise<void> =>
  assert.rejects(
    hold(),
    (error) =>
      error instanceof DualFocusError && error.code === "output-in-use" && error.facts["lock"] === file && message.test(error.message),
  );

test("a folder is held while the work lasts, and free after it, also when it fails", async () => {
  assert.equal(await hold(), lockOf(process.pid));
  assert.ok(!existsSync(file));
  await assert.rejects(
    holdFolder(folder, () => Promise.reject(new Error("no luck"))),
    /no luck/,
  );
  assert.ok(!existsSync(file));
  await holdFolder(folder, async () => {
    await refused(new RegExp(`another run is writing there \\(process ${process.pid} on `));
    assert.ok(existsSync(file), "the one who was refused leaves the lock alone");
  });
});

test("a process that runs keeps the folder for itself; one that was killed does not", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  try {
    leave(lockOf(child.pid ?? 0), { minutesAgo: 600 });
    await refused(/another run is writing there/);
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
  assert.equal(await hold(), lockOf(process.pid));
});

test("a lock nobody can ask about counts for as long as it is kept fresh", async () => {
  for (const text of [lockOf(1, "elsewhere"), "", '{"pid":']) {
    leave(text);
    await refused(/another run is writing there/);
    leave(text, { minutesAgo: 3 });
    assert.equal(await hold(), lockOf(process.pid), text);
  }
});

test("a container that starts again with the same process number takes over its own lock", async () => {
  leave(lockOf(process.pid), { minutesAgo: 60 });
  assert.equal(await hold(), lockOf(process.pid));
});

test("a program that ends itself in the middle leaves no lock", () => {
  const program = `
    import { holdFolder } from ${JSON.stringify(join(import.meta.dirname, "../../src/system/lock.ts"))};
    await holdFolder(${JSON.stringify(folder)}, () => process.exit(7));
  `;
  const { status } = spawnSync(process.execPath, [...process.execArgv, "--input-type=module", "-e", program]);
  assert.equal(status, 7);
  assert.ok(!existsSync(file));
});
