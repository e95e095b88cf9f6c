import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";

import { DualFocusError, type ErrorReport } from "../errors.ts";
import { childEnvironment } from "../system/childEnvironment.ts";
import { limitTime, programBeside } from "../system/childProgram.ts";
import type { CheckedFrame } from "./frames.ts";
import type { Limits } from "./limits.ts";
import { invalid, Problem, tooLarge, type ProblemCode } from "./problem.ts";

/** Messages to the process that checks headers. */
export interface ToChecker {
  readonly file: string;
  /** For people: the client's own names are not used. */
  readonly name: string;
  readonly limits: Limits;
}

/** Its answer to each. */
export type FromChecker =
  | { readonly type: "checked"; readonly frame: CheckedFrame }
  | {
      readonly type: "refused";
      readonly code: ProblemCode;
      readonly detail: string;
      readonly remedy: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly cause?: ErrorReport;
    }
  | { readonly type: "failed"; readonly message: string; readonly code?: string };

export interface CheckerOptions {
  /** Bytes its process may hold. */
  readonly memory?: number;
  /** Seconds for one file, besides those for reading it. */
  readonly seconds?: number;
  /** Seconds after which a process that checks nothing is ended. */
  readonly idleSeconds?: number;
  /** The program of the process; the server's own by default. */
  readonly program?: URL;
}

export const CHECK_MEMORY = 512 << 20;
const CHECK_SECONDS = 15;
/** A check reads a file once and unpacks it; the slowest decoder on a busy machine manages more than this many bytes a second. */
const SLOWEST_READ = 2 << 20;

/**
 * Checks the headers of images in another process: whatever a stranger's file makes a decoder do, this one goes on answering, and the
 * other is ended when it takes too long or too much memory. Processes are started when needed, one for each check at a time.
 */
export function createFrameChecker({
  memory = CHECK_MEMORY,
  seconds = CHECK_SECONDS,
  idleSeconds = 60,
  program = programBeside(import.meta.url, "frameCheckerMain"),
}: CheckerOptions = {}): (files: readonly string[], limits: Limits) => Promise<CheckedFrame[]> {
  const idle: Checker[] = [];
  const release = (checker: Checker): void => {
    if (!checker.isOpen()) return;
    idle.push(checker);
    checker.rest(idleSeconds, () => idle.splice(idle.indexOf(checker), 1));
  };
  return async (files, limits) => {
    const frames: CheckedFrame[] = [];
    for (const [n, file] of files.entries()) {
      const allowed = seconds + (await stat(file)).size / SLOWEST_READ;
      const checker = idle.pop() ?? startChecker({ memory, program });
      try {
        frames.push(await checker.check({ file, name: `image ${n + 1}`, limits }, allowed));
      } finally {
        release(checker);
      }
    }
    const planes = frames.reduce((sum, { pages }) => sum + pages, 0);
    if (planes > limits.frames) throw tooLarge(`the images have ${planes} pages; at most ${limits.frames} are accepted`);
    return frames;
  };
}

interface Checker {
  readonly check: (message: ToChecker, seconds: number) => Promise<CheckedFrame>;
  readonly isOpen: () => boolean;
  /** Waits for the next check, but not forever, and does not keep this process alive. */
  readonly rest: (seconds: number, onEnd: () => void) => void;
}

function startChecker({ memory, program }: { memory: number; program: URL }): Checker {
  const child = fork(program, [String(memory)], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    env: childEnvironment(["system"]),
  });
  child.on("error", () => undefined); // seen as its end
  let resting: NodeJS.Timeout | undefined;
  return {
    async check(message, seconds) {
      clearTimeout(resting);
      holdOn(child, true);
      const answer = await answerOf(child, message, { seconds, memory });
      if (answer.type === "checked") return answer.frame;
      if (answer.type === "failed")
        throw Object.assign(new Error(answer.message), answer.code === undefined ? {} : { code: answer.code, syscall: "check" });
      const { code, cause, ...parts } = answer;
      throw new Problem(code, { ...parts, ...(cause ? { cause: new DualFocusError(cause.code, cause.message, cause) } : {}) });
    },
    isOpen: () => child.connected,
    rest(seconds, onEnd) {
      holdOn(child, false);
      const end = (): void => {
        onEnd();
        if (child.connected) child.disconnect();
      };
      resting = setTimeout(end, 1000 * seconds).unref();
    },
  };
}

/** Whether this process waits for the other before it ends. */
function holdOn(child: ChildProcess, hold: boolean): void {
  if (hold) child.ref();
  else child.unref();
  if (hold) child.channel?.ref();
  else child.channel?.unref();
}

async function answerOf(
  child: ChildProcess,
  message: ToChecker,
  { seconds, memory }: { seconds: number; memory: number },
): Promise<FromChecker> {
  const settled = new AbortController();
  const time = limitTime(child, seconds);
  try {
    child.send(message, () => undefined); // a process that is gone is noticed by its end
    const answer = once(child, "message", settled).then(([value]) => value as FromChecker);
    const end = once(child, "exit", settled).then(([, signal]): FromChecker => {
      const why = time.isOver
        ? `it took longer than ${Math.round(seconds)} s`
        : signal === null ? "the decoder stopped" : `it needed more than ${memory >> 20} MB of memory, or crashed the decoder`; // prettier-ignore
      throw invalid(new DualFocusError("bad-file", `${message.name} could not be checked: ${why}`));
    });
    return await Promise.race([answer, end]);
  } finally {
    time.clear();
    settled.abort();
  }
}
