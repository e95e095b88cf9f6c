import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { TestContext } from "node:test";

export interface WorkerProcess {
  readonly process: ChildProcess;
  /** The events of its log so far. */
  readonly events: { readonly event: string; readonly id?: string }[];
  /** Waits for an event, of this job if one is named. */
  heard(event: string, id?: string): Promise<void>;
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
}

export interface WorkerSetup {
  readonly url: string;
  readonly store: string;
  readonly scratch: string;
  /** Milliseconds. */
  readonly lock?: number;
  readonly grace?: number;
  readonly timeLimit?: number;
  readonly memory?: number;
}

/** A worker in a process of its own, with one thread; killed when the test ends. */
export function startWorker(context: TestContext, { lock = 3000, grace = 20_000, ...setup }: WorkerSetup): WorkerProcess {
  const options = { ...setup, lock, grace, processes: 1, threads: 1, device: "cpu" };
  const file = join(import.meta.dirname, "workerProcess.ts");
  const child = spawn(process.execPath, [...process.execArgv, file, JSON.stringify(options)], { stdio: ["ignore", "pipe", "inherit"] });
  const events: WorkerProcess["events"] = [];
  child.stdout.setEncoding("utf8");
  let rest = "";
  child.stdout.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      events.push(JSON.parse(line) as WorkerProcess["events"][number]);
      child.emit("heard");
    }
  });
  const end = async (signal: "SIGKILL" | "SIGTERM"): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  };
  context.after(() => end("SIGKILL"));
  return {
    process: child,
    events,
    async heard(event, id) {
      while (!events.some((each) => each.event === event && (id === undefined || each.id === id))) await once(child, "heard");
    },
    end,
  };
}
