// Started by processWatch.test.ts: a parent whose child is watched and does not end by itself.
import { fork } from "node:child_process";
import { watchProcess } from "../../src/system/processWatch.ts";

if (process.argv[2] === "child") {
  watchProcess();
  process.send?.("watched", () => {
    for (;;);
  });
} else {
  const child = fork(import.meta.filename, ["child"]);
  child.on("message", () => process.send?.(child.pid));
}
