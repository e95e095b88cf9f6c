import type { Tensor } from "../engine/engine.ts";
import { concrete } from "../engine/dims.ts";
import type { TorchEngine } from "../engine/torch/torchEngine.ts";
import { joinProcessGroup, type ProcessGroup } from "../engine/torch/group.ts";
import type { Clock } from "./loop.ts";

/** This process among those that train together, as given by torchrun, Slurm or Kubernetes. */
export interface Membership {
  readonly rank: number;
  readonly size: number;
  /** Address of the store through which the processes find each other. */
  readonly host: string;
  readonly port: number;
  /** Whether this process runs the store: rank 0, unless torchrun's agent does. */
  readonly servesStore: boolean;
  /** Number of earlier starts of the group: torchrun's store outlives a failed group. */
  readonly attempt: number;
}

/** The processes of a group do not find each other, or one of them ended or stopped responding. */
export class PeerError extends Error {
  override readonly name = "PeerError";
}

/** From RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and torchrun's variables; undefined for a single process. */
export function membershipFrom(environment: Readonly<Record<string, string | undefined>>): Membership | undefined {
  const { RANK, WORLD_SIZE, MASTER_ADDR = "127.0.0.1", MASTER_PORT = "29500", TORCHELASTIC_RESTART_COUNT = "0" } = environment;
  if (RANK === undefined || WORLD_SIZE === undefined) return undefined;
  const [rank = NaN, size = NaN, port = NaN, attempt = NaN] = [RANK, WORLD_SIZE, MASTER_PORT, TORCHELASTIC_RESTART_COUNT].map(digits);
  if (!(rank < size && port > 0 && port < 65536 && attempt >= 0))
    throw new PeerError(`RANK=${RANK} WORLD_SIZE=${WORLD_SIZE} MASTER_PORT=${MASTER_PORT} do not describe a group of processes`);
  if (size === 1) return undefined;
  return {
    rank,
    size,
    host: MASTER_ADDR,
    port,
    servesStore: rank === 0 && environment["TORCHELASTIC_USE_AGENT_STORE"] !== "True",
    attempt,
  };
}

const digits = (text: string): number => (/^\d+$/.test(text) ? Number(text) : NaN);

const TIMEOUT_SECONDS = 45; // a lost peer ends the run within a minute, including the time the launcher gives the others
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

/** Waits for the others. A process that does not respond for `timeoutSeconds` is lost. */
export function joinGroup(engine: TorchEngine, membership: Membership, { timeoutSeconds = TIMEOUT_SECONDS } = {}): Group {
  const { rank, size, host, port, servesStore, attempt } = membership;
  const meeting = servesStore
    ? "the port must be free and the other processes must start"
    : "rank 0 or torchrun's agent must run a store there";
  const group = guarded(
    () => joinProcessGroup(engine, { ...membership, timeoutSeconds, prefix: `dualfocus/attempt_${attempt}` }),
    (reason) => `process ${rank} of ${size} did not find the others at ${host}:${port} (${reason}): ${meeting}`,
  );
  const inBuckets = (tensors: readonly Tensor[], exchange: (group: ProcessGroup, bucket: readonly Tensor[]) => void): void => {
    for (const bucket of buckets(tensors))
      guarded(
        () => {
          exchange(group, bucket);
        },
        (reason) =>
          `process ${rank} of ${size}: another process was lost or does not respond (${reason}). The last checkpoint is intact: resume from it.`,
      );
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

function guarded<T>(body: () => T, explain: (reason: string) => string): T {
  try {
    return body();
  } catch (cause) {
    const [reason = ""] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
    throw new PeerError(explain(reason), { cause });
  }
}

/** Groups of tensors of about 16 MB, so that one is sent while the next is packed. */
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

interface Agreement {
  readonly engine: TorchEngine;
  readonly group: Group;
  readonly clock: Clock;
  /** Whether progress is by time, which each process measures for itself; otherwise it follows from the step. */
  readonly timed: boolean;
  readonly stop: AbortSignal;
  /** Steps between exchanges: each makes the device wait. */
  readonly every: number;
  /** Tensors that differ between the processes; averaged at each exchange and at the end. */
  readonly statistics: readonly Tensor[];
}

/**
 * One progress and one decision to stop for all processes: otherwise they would diverge and wait for each other forever. Processes
 * exchange both at every `every`-th step and at the last; in between nothing stops them, and progress by time stands still.
 */
export function agree({ engine, group, clock, timed, stop, every, statistics }: Agreement): {
  readonly clock: Clock;
  readonly stop: AbortSignal;
} {
  const agreed = new AbortController();
  let [lastStep, progress] = [-1, 0];
  const exchange = (step: number): void => {
    const values = engine.constant([clock.progress(step), stop.aborted ? 1 : 0], { shape: [2], dtype: "f64" });
    group.average([values]);
    const [mean = 0, stopping = 0] = engine.read(values) as Float64Array;
    values.dispose();
    group.average(statistics);
    if (timed) progress = mean;
    if (stopping > 0) agreed.abort();
  };
  return {
    stop: agreed.signal,
    clock: {
      seconds: () => clock.seconds(),
      progress(step) {
        const [isFirst, isNew] = [lastStep < 0, step !== lastStep];
        lastStep = step;
        if (!timed) progress = clock.progress(step);
        if (isFirst || (isNew && (step % every === 0 || progress >= 1))) exchange(step);
        return progress;
      },
    },
  };
}
