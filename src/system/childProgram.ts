import { fork, type ChildProcess } from "node:child_process";

import { childEnvironment, type ChildNeed } from "./childEnvironment.ts";
import { MEMORY_VARIABLE } from "./processWatch.ts";

/** The program of a child process, in a file beside the caller's: TypeScript in a clone, JavaScript in the package. */
export const programBeside = (caller: string, name: string): URL => new URL(`./${name}.${caller.endsWith(".ts") ? "ts" : "js"}`, caller);

/** What a process that computes is started with. */
export interface Computing {
  /** What it needs of our environment, besides its device. */
  readonly needs?: readonly ChildNeed[];
  /** CPU threads, also of the image decoder. */
  readonly threads: number;
  /** Bytes that it and what it starts may use together. */
  readonly memory: number;
}

/** A process that computes, directed by messages. */
export interface ComputingProcess<To extends object> {
  readonly child: ChildProcess;
  /** A process that is gone is noticed by its end, not by the failure of a message to it. */
  readonly post: (message: To) => void;
  /** Asks it to stop by `message`, and ends it if it has not stopped after some seconds; the function returned calls that off. */
  readonly stop: (message: To) => () => void;
  /** How it ended: a signal, or its exit code in words. */
  readonly ended: Promise<string>;
}

/** Milliseconds a process has to stop before it is ended. */
const STOP_PATIENCE = 5000;

export function startComputing<To extends object>(program: URL, computing: Computing): ComputingProcess<To> {
  const child = fork(program, { stdio: ["ignore", "ignore", "inherit", "ipc"], env: computingEnvironment(computing) });
  const post = (message: To): void => {
    if (child.connected) child.send(message, () => undefined);
  };
  return {
    child,
    post,
    stop(message) {
      post(message);
      const killing = setTimeout(() => child.kill("SIGKILL"), STOP_PATIENCE);
      return () => {
        clearTimeout(killing);
      };
    },
    ended: new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        resolve(signal ?? `exit code ${code}`);
      });
      child.once("error", ({ message }) => {
        resolve(message);
      });
    }),
  };
}

export const computingEnvironment = ({ needs = [], threads, memory }: Computing): NodeJS.ProcessEnv => ({
  ...childEnvironment(["system", "device", ...needs]),
  VIPS_CONCURRENCY: String(threads),
  [MEMORY_VARIABLE]: String(memory),
});

/** Ends a process that is not done in time. */
export function limitTime(child: ChildProcess, seconds: number): { readonly isOver: boolean; clear(): void } {
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    child.kill("SIGKILL");
  }, 1000 * seconds);
  return {
    get isOver() {
      return isOver;
    },
    clear: () => {
      clearTimeout(timer);
    },
  };
}
