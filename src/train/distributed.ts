import { spawn, type ChildProcess } from "node:child_process";
import { createServer } from "node:net";
import type { Tensor } from "../engine/engine.ts";
import { concrete } from "../engine/dims.ts";
import type { TorchEngine } from "../engine/torch.ts";
import { joinProcessGroup, type ProcessGroup } from "../engine/torchGroup.ts";
import type { Clock } from "./loop.ts";

/** This process among those that train together, as torchrun, Slurm and Kubernetes say it. */
export interface Membership {
  readonly rank: number;
  readonly size: number;
  readonly host: string;
  readonly port: number;
}

/** Another process ended or stopped answering. */
export class PeerError extends Error {
  override readonly name = "PeerError";
}

/** RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; undefined when this process is alone. */
export function membershipFrom(environment: Readonly<Record<string, string | undefined>>): Membership | undefined {
  const { RANK, WORLD_SIZE, MASTER_ADDR = "127.0.0.1", MASTER_PORT = "29500" } = environment;
  if (RANK === undefined || WORLD_SIZE === undefined) return undefined;
  const membership = { rank: Number(RANK), size: Number(WORLD_SIZE), host: MASTER_ADDR, port: Number(MASTER_PORT) };
  const { rank, size, port } = membership;
  if (!(Number.isInteger(rank) && Number.isInteger(size) && rank >= 0 && rank < size && port > 0))
    throw new PeerError(`RANK=${RANK} WORLD_SIZE=${WORLD_SIZE} MASTER_PORT=${MASTER_PORT} do not describe a group of processes`);
  return size > 1 ? membership : undefined;
}

const TIMEOUT_SECONDS = 55; // a lost peer is noticed within a minute
const BUCKET_ELEMENTS = 4_000_000;

export interface Group {
  readonly rank: number;
  readonly size: number;
  /** Every process gets the tensors of rank 0. */
  broadcast(tensors: readonly Tensor[]): void;
  /** Each tensor becomes its mean over the processes. */
  average(tensors: readonly Tensor[]): void;
  leave(): void;
}

export function joinGroup(engine: TorchEngine, membership: Membership): Group {
  const { rank, size } = membership;
  const group = guarded(() => joinProcessGroup(engine, { ...membership, timeoutSeconds: TIMEOUT_SECONDS }), membership);
  const inBuckets = (tensors: readonly Tensor[], exchange: (group: ProcessGroup, bucket: readonly Tensor[]) => void): void => {
    for (const bucket of buckets(tensors))
      guarded(() => {
        exchange(group, bucket);
      }, membership);
  };
  return {
    rank,
    size,
    broadcast(tensors) {
      inBuckets(tensors, (group, bucket) => {
        group.broadcast(bucket);
      });
    },
    average(tensors) {
      inBuckets(tensors, (group, bucket) => {
        group.average(bucket);
      });
    },
    leave() {
      group.leave();
    },
  };
}

function guarded<T>(body: () => T, { rank, size }: Membership): T {
  try {
    return body();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new PeerError(
      `process ${rank} of ${size}: another process was lost or does not answer (${reason}). The last checkpoint is intact: resume from it.`,
      { cause },
    );
  }
}

/** Runs of tensors of about 16 MB, so that one travels while the next is laid out. */
function buckets(tensors: readonly Tensor[]): Tensor[][] {
  const made: Tensor[][] = [];
  let room = 0;
  for (const tensor of tensors) {
    if (room <= 0) {
      made.push([]);
      room = BUCKET_ELEMENTS;
    }
    made.at(-1)?.push(tensor);
    room -= tensor.shape.reduce<number>((product, size) => product * concrete(size, "bucket"), 1);
  }
  return made;
}

/**
 * One progress and one decision to stop for all processes: they would part otherwise, and wait for each other for ever. Processes
 * agree at every `every`-th step; in between the clock stands still.
 */
export function agree({
  engine,
  group,
  clock,
  stop,
  every,
}: {
  engine: TorchEngine;
  group: Group;
  clock: Clock;
  stop: AbortSignal;
  every: number;
}): { readonly clock: Clock; readonly stop: AbortSignal } {
  const agreed = new AbortController();
  let [lastStep, progress] = [-1, 0];
  const exchange = (step: number): void => {
    const values = engine.constant([clock.progress(step), stop.aborted ? 1 : 0], { shape: [2], dtype: "f64" });
    group.average([values]);
    const [mean = 0, stopping = 0] = engine.read(values) as Float64Array;
    values.dispose();
    progress = mean;
    if (stopping > 0) agreed.abort();
  };
  return {
    stop: agreed.signal,
    clock: {
      seconds: () => clock.seconds(),
      progress(step) {
        if (lastStep < 0 || (step !== lastStep && step % every === 0)) exchange(step);
        lastStep = step;
        return progress;
      },
    },
  };
}

/** Starts this program `count` times with the environment that makes them a group; resolves with the first bad exit code, or 0. */
export async function spawnProcesses(count: number, { args }: { readonly args: readonly string[] }): Promise<number> {
  const port = await freePort();
  const children: ChildProcess[] = [];
  const exits = Array.from({ length: count }, (_, rank) => {
    const env = {
      ...process.env,
      RANK: `${rank}`,
      WORLD_SIZE: `${count}`,
      LOCAL_RANK: `${rank}`,
      MASTER_ADDR: "127.0.0.1",
      MASTER_PORT: `${port}`,
    };
    const child = spawn(process.execPath, [...process.execArgv, ...args], {
      env,
      stdio: ["ignore", rank === 0 ? "inherit" : "ignore", "inherit"],
    });
    children.push(child);
    return new Promise<number>((resolve) =>
      child.on("exit", (code, signal) => {
        resolve(code ?? (signal === null ? 1 : 128));
      }),
    );
  });
  const forward = (signal: NodeJS.Signals): void => {
    for (const child of children) child.kill(signal);
  };
  process.on("SIGINT", forward).on("SIGTERM", forward);
  try {
    return (await Promise.all(exits)).find((code) => code !== 0) ?? 0;
  } finally {
    process.off("SIGINT", forward).off("SIGTERM", forward);
  }
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
