// The process that computes stacks of a batch: started by `createLane`, directed by messages.
import type { Finding } from "../check/finding.ts";
import type { DepthNetwork } from "../network/depthNetwork.ts";
import { openNetwork } from "../network/node/openNetwork.ts";
import { watchProcess } from "../system/processWatch.ts";
import { attempt, warn, type DepthOptions, type Place } from "./depthFolders.ts";
import type { FromLane, ToLane } from "./depthLane.ts";

watchProcess(); // ends with whoever started it
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => undefined); // the other process gets them too, and asks to stop

const controller = new AbortController();
let given: { readonly options: DepthOptions; readonly memory: number } | undefined;
let network: Promise<DepthNetwork> | undefined;

process.on("message", (message: ToLane) => {
  if (message.type === "start") given = message;
  else if (message.type === "run") void run(message.place);
  else controller.abort(new Error("stopped"));
});

process.once("disconnect", () => {
  controller.abort(new Error("stopped"));
  void (async () => {
    const opened = await network?.catch(() => undefined); // its failure has been reported
    await opened?.dispose();
    process.exit();
  })();
});

async function run(place: Place): Promise<void> {
  const answer = await computed(place).catch((failure: unknown): FromLane => ({
    type: "broken",
    message: failure instanceof Error ? (failure.stack ?? failure.message) : String(failure),
  }));
  process.send?.(answer);
}

async function computed(place: Place): Promise<FromLane> {
  if (!given) throw new Error("a stack before the options");
  const { options, memory } = given;
  const { model, threads, quiet } = options;
  const report = {
    onStage: () => undefined, // several stacks at once have no common line of progress
    onNote: (note: string) => {
      if (!quiet) process.stderr.write(`${place.name}: ${note}\n`);
    },
    onFindings: (findings: readonly Finding[]) => {
      if (quiet || findings.every(({ severity }) => severity === "note")) return;
      process.stderr.write(`${place.name}:\n`);
      warn(findings);
    },
  };
  const opened = (): Promise<DepthNetwork> => (network ??= openNetwork(model, { device: "cpu", threads, many: true }));
  return { type: "done", ...(await attempt(place, { options, network: opened, signal: controller.signal, report, memory })) };
}
