// The process that computes: started by `createSlot`, directed by messages. It keeps the networks it has loaded.
import type { DepthNetwork } from "../network/depthNetwork.ts";
import { openNetwork } from "../network/node/openNetwork.ts";
import { reportOf, type ErrorReport } from "../errors.ts";
import type { Job } from "./job.ts";
import { openStore } from "./openStore.ts";
import type { JobProgress } from "./queue.ts";
import { runJob, type JobPlace } from "./runJob.ts";
import { watchProcess } from "../system/processWatch.ts";
import type { FromSlot, SlotOptions, ToSlot } from "./slot.ts";

const CHECK_MEMORY = 250; // milliseconds
const PROGRESS_INTERVAL = 200; // milliseconds between two steps of one stage

watchProcess(); // its memory is watched below, where the jobs can be told

const stops = new Map<number, AbortController>();
let place: Promise<JobPlace> | undefined;

process.on("message", (message: ToSlot) => {
  if (message.type === "start") {
    place = prepare(message.options);
    place.catch(() => undefined); // reported with the first job
  } else if (message.type === "run") void run(message.run, message.job);
  else stops.get(message.run)?.abort(new Error("stopped"));
});
process.on("disconnect", () => process.exit(0)); // whoever wanted the results is gone
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined); // Ctrl-C reaches us too; our parent decides

/** With a callback, a parent that is gone is no error: the end of the channel is handled above. */
function send(message: FromSlot, sent: () => void = () => undefined): void {
  if (process.connected) process.send?.(message, undefined, undefined, sent);
}

async function prepare({ store, scratch, device, threads, memory, together }: SlotOptions): Promise<JobPlace> {
  const networks = new Map<string, Promise<DepthNetwork>>();
  setInterval(() => {
    if (process.memoryUsage.rss() > memory) giveUp(memory);
  }, CHECK_MEMORY);
  return {
    store: await openStore(store),
    scratch,
    memory,
    threads,
    async network(model) {
      const opened = networks.get(model);
      if (opened) return opened;
      const opening = openNetwork(model, { device, threads, many: true, together });
      networks.set(model, opening);
      opening.catch(() => networks.delete(model));
      return opening;
    },
  };
}

async function run(run: number, job: Job): Promise<void> {
  const stop = new AbortController();
  stops.set(run, stop);
  try {
    if (!place) throw new Error("a job came before the start");
    await runJob(job, { onProgress: progressSender(run), signal: stop.signal }, await place);
    send({ type: "done", run, held: process.memoryUsage.rss() });
  } catch (cause) {
    if (stop.signal.aborted) send({ type: "stopped", run });
    else send({ type: "failed", run, error: reportOf(cause) });
  } finally {
    stops.delete(run);
  }
}

function progressSender(run: number): (progress: JobProgress) => void {
  let [stage, sent] = ["", 0];
  return (progress) => {
    const now = performance.now();
    if (progress.stage === stage && progress.done < progress.of && now - sent < PROGRESS_INTERVAL) return;
    [stage, sent] = [progress.stage, now];
    send({ type: "progress", run, progress });
  };
}

/** Ends this process before it takes memory from everything else on the machine. */
function giveUp(memory: number): void {
  const gigabytes = Number((memory / 2 ** 30).toFixed(1));
  const error: ErrorReport = { code: "memory-limit", message: `it needed more than ${gigabytes} GB of memory`, facts: { gigabytes } };
  const runs = [...stops.keys()];
  if (runs.length === 0) process.exit(0);
  for (const [n, run] of runs.entries())
    send({ type: "failed", run, error }, () => {
      if (n === runs.length - 1) process.exit(0);
    });
}
