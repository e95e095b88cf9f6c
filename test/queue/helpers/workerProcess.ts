// A worker as `dualfocus worker` runs it, without the rest of the command line, which takes seconds to load.
// Its options come as one JSON argument: what `startRedisWorker` and `createProcessRunner` take.
import { createProcessRunner, type RunnerOptions } from "../../../src/queue/processRunner.ts";
import { startRedisWorker } from "../../../src/queue/redisWorker.ts";

const { url, lock, grace, ...options } = JSON.parse(process.argv[2] ?? "") as RunnerOptions & { url: string; lock: number; grace: number };
const runner = await createProcessRunner(options);
const worker = startRedisWorker({
  url,
  runner,
  lock,
  name: `test-${process.pid}`,
  log: (event, facts) => process.stdout.write(`${JSON.stringify({ event, ...facts })}\n`),
});
process.once("SIGTERM", () => {
  void worker
    .stop(grace)
    .then(() => runner.close())
    .then(() => process.exit(0));
});
