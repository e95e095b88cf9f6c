import { Worker } from "node:worker_threads";

/** The variable that holds how many bytes a process and those that it starts may use together. */
export const MEMORY_VARIABLE = "DUALFOCUS_PROCESS_MEMORY";

/** Bytes that a process started now may use; Infinity where nothing was said. */
export function memoryLeft(environment: NodeJS.ProcessEnv = process.env, held = process.memoryUsage.rss()): number {
  const memory = environment[MEMORY_VARIABLE];
  return memory === undefined ? Infinity : Math.max(0, Number(memory) - held);
}

const PERIOD = 20; // milliseconds

const WATCH = `
  const { workerData: memory } = require("node:worker_threads");
  const parent = process.ppid;
  setInterval(() => {
    if (process.memoryUsage.rss() > memory || process.ppid !== parent) process.kill(process.pid, "SIGKILL");
  }, ${PERIOD});
`;

/**
 * Ends this process when it holds more bytes than `memory`, or when whoever started it is gone. The watch has a thread of its own: it works
 * while a decoder keeps the others busy, forever perhaps. Node's own limits do not count typed arrays.
 */
export function watchProcess({ memory = Infinity }: { readonly memory?: number } = {}): void {
  if (process.memoryUsage.rss() > memory) process.kill(process.pid, "SIGKILL"); // a short task might end before the thread starts
  new Worker(WATCH, { eval: true, workerData: memory, execArgv: [] }).unref();
}
