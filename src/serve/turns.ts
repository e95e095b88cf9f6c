/** Runs a task when it is its turn, and resolves to what it returns. */
export type Turns = <T>(task: () => T) => Promise<T>;

interface Loop {
  /** Milliseconds. */
  readonly now: () => number;
  /** Calls `body` once the process has looked after everything else. */
  readonly later: (body: () => void) => void;
}

const nodeLoop: Loop = { now: () => performance.now(), later: setImmediate };

/** Milliseconds of work before others are looked after. */
const SLICE = 10;

/**
 * Takes pieces of work from all requests one after the other, and lets the process answer others, such as the liveness probe, after each 10 ms of
 * it: however much arrives at the same moment, nobody else waits for more than a slice and a piece.
 */
export function createTurns(loop: Loop = nodeLoop): Turns {
  const waiting: (() => void)[] = [];
  const work = (): void => {
    const end = loop.now() + SLICE;
    do waiting.shift()?.();
    while (waiting.length > 0 && loop.now() < end);
    if (waiting.length > 0) loop.later(work);
  };
  return (task) =>
    new Promise((resolve, reject) => {
      waiting.push(() => {
        try {
          resolve(task());
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
      if (waiting.length === 1) loop.later(work);
    });
}
