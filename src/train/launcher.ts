import { spawn, type ChildProcess } from "node:child_process";
import { createServer } from "node:net";
import { constants } from "node:os";

/** One of several processes started together failed. It has printed the reason itself, unless a signal ended it. */
export class MemberError extends Error {
  override readonly name = "MemberError";
  /** As in a shell: the process's own, or 128 plus the number of the signal. */
  readonly exitCode: number;

  constructor(message: string, { exitCode, cause }: { exitCode: number; cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause });
    this.exitCode = exitCode;
  }
}

interface LaunchOptions {
  /** Program and arguments of each process. */
  readonly args: readonly string[];
  /** Time the others have to stop by themselves after one has failed. */
  readonly graceSeconds?: number;
}

/**
 * Starts this program `count` times, with the environment variables of a group; resolves when all have succeeded. When one fails the
 * others are asked to stop, then killed: a process that waits for a lost one, or hangs, would never end. Rejects with the first failure.
 */
export async function spawnProcesses(count: number, { args, graceSeconds = 10 }: LaunchOptions): Promise<void> {
  const port = await freePort();
  const children = Array.from({ length: count }, (_, rank) => startMember(args, { rank, count, port }));
  const signalAll = (signal: NodeJS.Signals): void => {
    for (const child of children) child.kill(signal);
  };
  const failures: MemberError[] = [];
  let killing: NodeJS.Timeout | undefined;
  const watch = async (child: ChildProcess, rank: number): Promise<void> => {
    const failure = await failureOf(child, `process ${rank} of ${count}`);
    if (!failure || failures.push(failure) > 1) return;
    signalAll("SIGTERM");
    killing = setTimeout(signalAll, 1000 * graceSeconds, "SIGKILL");
  };
  process.on("SIGINT", signalAll).on("SIGTERM", signalAll);
  try {
    await Promise.all(children.map(watch));
  } finally {
    clearTimeout(killing);
    process.off("SIGINT", signalAll).off("SIGTERM", signalAll);
  }
  if (failures[0]) throw failures[0];
}

/** In a process of the group: calls `body` when its launcher is gone. Returns a function that ends the watch, which keeps the process alive. */
export function whenLauncherEnds(body: () => void): () => void {
  if ("connected" in process && !process.connected) body(); // already gone; a process without a launcher has no such property
  process.once("disconnect", body);
  return () => process.off("disconnect", body);
}

function startMember(args: readonly string[], { rank, count, port }: { rank: number; count: number; port: number }): ChildProcess {
  const group = { RANK: `${rank}`, WORLD_SIZE: `${count}`, LOCAL_RANK: `${rank}`, MASTER_ADDR: "127.0.0.1", MASTER_PORT: `${port}` };
  return spawn(process.execPath, [...process.execArgv, ...args], {
    env: { ...process.env, ...group, TORCHELASTIC_USE_AGENT_STORE: undefined },
    stdio: ["ignore", rank === 0 ? "inherit" : "ignore", "inherit", "ipc"],
    detached: true, // else Ctrl-C reaches it twice, from the terminal and from here, and the second ends it before it has saved
  });
}

/** Resolves when the process has ended; with its failure, if any. */
function failureOf(child: ChildProcess, name: string): Promise<MemberError | undefined> {
  return new Promise((resolve) => {
    child.on("error", (cause) => {
      if (child.pid === undefined) resolve(new MemberError(`${name} could not be started: ${cause.message}`, { exitCode: 1, cause }));
    });
    child.on("exit", (code, signal) => {
      if (code === 0) resolve(undefined);
      else if (signal === null) resolve(new MemberError(`${name} ended with exit code ${code ?? 1}`, { exitCode: code ?? 1 }));
      else resolve(new MemberError(`${name} was ended by ${signal}`, { exitCode: 128 + constants.signals[signal] }));
    });
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject).listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      });
    });
  });
}
