import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test(
  "a process that is busy forever ends with the one that started it",
  { skip: process.platform === "win32", timeout: 120_000 },
  async () => {
    const parent = fork(join(import.meta.dirname, "watchedFamily.ts"));
    const [pid] = (await once(parent, "message")) as [number];
    await setTimeout(200);
    assert.ok(isAlive(pid), "not before");
    parent.kill("SIGKILL");
    while (isAlive(pid)) await setTimeout(50);
  },
);
