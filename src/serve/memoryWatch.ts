import { Worker } from "node:worker_threads";

const PERIOD = 20; // milliseconds

const WATCH = `
  const { workerData } = require("node:worker_threads");
  setInterval(() => { if (process.memoryUsage.rss() > workerData) process.kill(process.pid, "SIGKILL"); }, ${PERIOD});
`;

/**
 * Ends this process when it holds more than `bytes`. The watch has a thread of its own: it works while a decoder keeps the others busy.
 * Node's own limits do not count typed arrays.
 */
export function limitMemory(bytes: number): void {
  new Worker(WATCH, { eval: true, workerData: bytes, execArgv: [] }).unref();
}
