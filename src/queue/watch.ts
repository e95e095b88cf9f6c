import { hasEnded, type JobStatus } from "./queue.ts";

export interface Watched {
  /** The status as it is now; undefined once the job is gone. */
  readonly get: () => Promise<JobStatus | undefined>;
  /** Calls back after each change, until the function it returns is called. */
  readonly onChange: (changed: () => void) => () => void;
  readonly signal: AbortSignal;
  /** Milliseconds after which to look even if nothing was heard. */
  readonly patience: number;
}

/** A subscription: looks again after every change, so that steps that come faster than they are read are left out, the last never. */
export async function* watch({ get, onChange, signal, patience }: Watched): AsyncGenerator<JobStatus> {
  let heard = createBell();
  const wake = (): void => {
    heard.ring();
  };
  const leave = onChange(wake);
  signal.addEventListener("abort", wake);
  try {
    let last: JobStatus | undefined;
    while (!signal.aborted) {
      heard = createBell(); // before looking: what changes from now on rings
      const status = (await get()) ?? (last && { ...last, state: "cancelled" as const, endedAt: Date.now() });
      if (!status) return;
      if (JSON.stringify(status) !== JSON.stringify(last)) yield status;
      if (hasEnded(status)) return;
      last = status;
      await heard.wait(patience);
    }
  } finally {
    leave();
    signal.removeEventListener("abort", wake);
  }
}

interface Bell {
  readonly ring: () => void;
  readonly wait: (milliseconds: number) => Promise<void>;
}

function createBell(): Bell {
  const { promise, resolve } = withResolvers();
  return {
    ring: resolve,
    async wait(milliseconds) {
      const timer = setTimeout(resolve, milliseconds);
      await promise;
      clearTimeout(timer);
    },
  };
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
