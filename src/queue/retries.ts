/** How often a job that may end better is tried, and how long to wait between: doubling, with chance so that not all come back at once. */
export const RETRIES = { attempts: 3, firstDelay: 2000, jitter: 0.5 } as const;

/** Milliseconds to wait after this many attempts. `chance` is in [0, 1]. */
export function retryDelay(attempts: number, chance: number = Math.random()): number {
  return RETRIES.firstDelay * 2 ** (attempts - 1) * (1 - RETRIES.jitter * chance);
}
