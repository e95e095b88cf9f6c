import { Worker } from "node:worker_threads";

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
  new Worker(WATCH, { eval: true, workerData: memory, execArgv: [] }).unref();
}
