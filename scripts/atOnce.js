import { availableParallelism, freemem } from "node:os";

/** How many processes that each take so many bytes run well at the same time here: as there are processors and memory for, at most eight. */
export function atOnce(bytesEach) {
  const memory = Math.min(freemem(), process.constrainedMemory() || Infinity);
  return Math.max(1, Math.min(availableParallelism(), 8, Math.floor(memory / bytesEach)));
}
