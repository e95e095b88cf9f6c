import { availableParallelism, tmpdir, totalmem } from "node:os";

import { removeAbandoned } from "../system/temporaryFolder.ts";
import type { JobRunner } from "./runner.ts";
import { createSlot, type Slot, type SlotOptions } from "./slot.ts";

export interface RunnerOptions {
  /** A directory, or s3://bucket/prefix. */
  readonly store: string;
  /** Folder for files that are needed only while a job runs. */
  readonly scratch?: string;
  readonly device?: SlotOptions["device"];
  /** Processes that compute. */
  readonly processes?: number;
  /** Jobs that each of them computes at the same time. */
  readonly together?: number;
  /** CPU threads of each. */
  readonly threads?: number;
  /** Bytes each may hold. */
  readonly memory?: number;
  /** Milliseconds for one job. */
  readonly timeLimit?: number;
}

/** Enough for images of 24 megapixels (DESIGN: under 3 GB) and the networks. */
export const SLOT_MEMORY = 4 * 2 ** 30;
export const TIME_LIMIT = 15 * 60_000;

interface Machine {
  readonly cores: number;
  /** Bytes. */
  readonly memory: number;
}

/** One process per core, as far as the memory goes: several jobs on one thread each finish sooner than one job on several. */
export function defaultShare(
  { processes, threads, memory = SLOT_MEMORY }: Pick<RunnerOptions, "processes" | "threads" | "memory">,
  machine: Machine = { cores: availableParallelism(), memory: totalmem() },
): { processes: number; threads: number } {
  const fitting = Math.max(1, Math.floor((0.75 * machine.memory) / memory));
  const count = processes ?? Math.min(machine.cores, fitting);
  return { processes: count, threads: threads ?? Math.max(1, Math.floor(machine.cores / count)) };
}

/** Computes jobs in processes of their own, started when first needed and kept; one that ends is replaced. */
export async function createProcessRunner(options: RunnerOptions): Promise<JobRunner> {
  const { store, scratch = tmpdir(), device = "auto", together = 1, memory = SLOT_MEMORY, timeLimit = TIME_LIMIT } = options;
  const { processes, threads } = defaultShare(options);
  await removeAbandoned(scratch);
  let slots: Slot[] = [];
  const free = (): Slot => {
    slots = slots.filter(({ isOpen, running }) => isOpen || running > 0);
    const [idlest] = slots.filter(({ isOpen, running }) => isOpen && running < together).sort((a, b) => a.running - b.running);
    if (idlest && (idlest.running === 0 || slots.length >= processes)) return idlest;
    const slot = createSlot({ store, scratch, device, threads, memory, together, timeLimit });
    slots.push(slot);
    return slot;
  };
  return {
    slots: processes * together,
    async run(job, run) {
      run.signal.throwIfAborted();
      await free().run(job, run);
    },
    async close() {
      await Promise.all(slots.map((slot) => slot.close()));
    },
  };
}
