import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { UserError } from "../system/userError.ts";

/** Runs `dualfocus` with these arguments to its end and gives what it printed; `name` is for progress. */
export type RunCommand = (args: readonly string[], options: { readonly name: string; readonly stop: AbortSignal }) => Promise<string>;

/**
 * Runs this same program with other arguments, in a process of its own: what it holds on the device is free when it ends. Lines of
 * progress come with the name of the run in front.
 */
export function runInChild({ program, progress }: { readonly program: readonly string[]; progress: (line: string) => void }): RunCommand {
  return (args, { name, stop }) =>
    new Promise((resolve, reject) => {
      // detached: a signal to the whole group would reach it twice, and the second one ends it before it has saved
      const child = spawn(process.execPath, [...process.execArgv, ...program, ...args], {
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      const interrupt = (): void => void child.kill("SIGTERM"); // a training saves a checkpoint
      stop.addEventListener("abort", interrupt, { once: true });
      let out = "";
      let said: readonly string[] = [];
      child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
      createInterface(child.stderr).on("line", (line) => {
        said = heard(said, line);
        progress(`${name}: ${line}`);
      });
      child.on("error", reject).on("close", (code) => {
        stop.removeEventListener("abort", interrupt);
        if (code === 0) resolve(out);
        else reject(failure(`${name}: ended with exit code ${code ?? "none"}: ${said.join("\n").replace(MARK, "")}`, code));
      });
    });
}

/** Begins the last words of a command that fails. */
const MARK = "dualfocus: ";

/** The last words with all their lines, layouts and remedies among them; of a command that says none, its first line. */
function heard(said: readonly string[], line: string): readonly string[] {
  if (line.startsWith(MARK) || said.length === 0) return [line];
  return said[0]?.startsWith(MARK) ? [...said, line] : said;
}

/** What the user can mend ends this program with the same exit code. */
function failure(message: string, code: number | null): Error {
  return code === 2 || code === 3 || code === 4 || code === 5 ? new UserError(message, { exitCode: code }) : new Error(message);
}
