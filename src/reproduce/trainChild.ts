import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { parseOutcome, type RunTrain } from "./trainRun.ts";

/**
 * Runs this same program with other arguments, in a process of its own: what a training holds on the device is free when it ends.
 * Lines of progress come with the name of the run in front.
 */
export function trainInChild({ program, progress }: { readonly program: readonly string[]; progress: (line: string) => void }): RunTrain {
  return (args, { name, stop }) =>
    new Promise((resolve, reject) => {
      // detached: a signal to the whole group would reach it twice, and the second one ends it before it has saved
      const child = spawn(process.execPath, [...process.execArgv, ...program, ...args], {
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      const interrupt = (): void => void child.kill("SIGTERM"); // it saves a checkpoint
      stop.addEventListener("abort", interrupt, { once: true });
      let [out, lastLine] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
      createInterface(child.stderr).on("line", (line) => {
        lastLine = line;
        progress(`${name}: ${line}`);
      });
      child.on("error", reject).on("close", (code) => {
        stop.removeEventListener("abort", interrupt);
        if (code === 0) resolve(parseOutcome(out));
        else reject(new Error(`${name}: the training ended with exit code ${code ?? "none"}: ${lastLine.replace(/^dualfocus: /, "")}`));
      });
    });
}
