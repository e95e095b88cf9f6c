// Seconds of the page in headless Chromium on a shipped example: start to ready (first and second visit), click to first look and to result
// (second start and result also in processor time, which a busy machine does not stretch), and the network's share, with one and two WASM threads,
// beside onnxruntime-node on the same stack; and the most memory that the browser's largest process has held.
//   npm run build && nice node --import tsx bench/web.ts [--rounds 3] [--threads 1,2] [--example desk]
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { download, find, finished, openStand, ready, show, type Stand } from "../test/helpers/webPage.ts";
import { TEST_IDS } from "../web/src/contract.ts";
import { browserProcesses, peakMegabytes, processorSeconds } from "./browserProcesses.ts";
import { option } from "./timing.ts";

type Seconds = Readonly<Record<string, number>>;

const example = option("example", "desk");
const rounds = Number(option("rounds", "3"));

async function timed(body: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await body();
  return (performance.now() - start) / 1000;
}

/** One visit of a browser that has never been here, then a reload. */
async function visit(stand: Stand, threads: number): Promise<Seconds> {
  const start = performance.now();
  const { page, close } = await stand.visit({ query: `?device=wasm&threads=${threads}`, serviceWorkers: "allow" });
  await ready(page);
  const first = (performance.now() - start) / 1000;
  let look = NaN;
  const idle = processorSeconds(browserProcesses());
  const result = await timed(async () => {
    const looking = timed(() => find(page, TEST_IDS.firstLook).waitFor());
    await find(page, TEST_IDS.example + example).click();
    await Promise.race([looking.then((seconds) => (look = seconds)), finished(page)]); // the result may be there before
    await finished(page);
    looking.catch(() => undefined);
  });
  const resultProcessor = processorSeconds(browserProcesses()) - idle;
  const largestMegabytes = Math.max(...peakMegabytes(browserProcesses()));
  await show(page, "downloads");
  const { bytes } = await download(page, `${TEST_IDS.download}result`);
  const { seconds } = JSON.parse(Buffer.from(bytes).toString()) as { seconds: Seconds };
  const before = processorSeconds(browserProcesses());
  const second = await timed(async () => {
    await page.reload();
    await ready(page);
  });
  const secondStartProcessor = processorSeconds(browserProcesses()) - before;
  await close();
  return {
    ...{ firstStart: first, secondStart: second, secondStartProcessor, clickToFirstLook: look, clickToResult: result, resultProcessor },
    infer: seconds["infer"] ?? NaN,
    largestMegabytes,
  };
}

/** The command on the same stack; `total` includes loading the network and writing the default files. */
function command(threads: number, folder: string): Seconds {
  const main = join(import.meta.dirname, "..", "dist", "src", "cli", "main.js");
  const stack = join(import.meta.dirname, "..", "examples", example);
  const args = [main, "depth", stack, "-o", join(folder, "out"), "--force", "--json", "--quiet", "--threads", String(threads)];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const { seconds } = JSON.parse(stdout) as { seconds: Seconds };
  return { total: seconds["total"] ?? NaN, infer: seconds["infer"] ?? NaN };
}

/** The median of each named number. */
function medians(runs: readonly Seconds[]): Seconds {
  const names = Object.keys(runs[0] ?? {});
  return Object.fromEntries(
    names.map((name) => {
      const values = runs.map((run) => run[name] as number).sort((a, b) => a - b);
      return [name, Number((values[values.length >> 1] as number).toFixed(2))];
    }),
  );
}

const folder = mkdtempSync(join(tmpdir(), "dualfocus-bench-"));
const stand = await openStand();
try {
  const rows: object[] = [];
  for (const threads of option("threads", "1,2").split(",").map(Number)) {
    const [page, node]: [Seconds[], Seconds[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      page.push(await visit(stand, threads)); // in turns, so that a busy machine slows both
      node.push(command(threads, folder));
    }
    rows.push({ example, threads, page: medians(page), onnxruntimeNode: medians(node) });
  }
  process.stdout.write(`${JSON.stringify(rows, null, 1)}\n`);
} finally {
  await stand.close();
  rmSync(folder, { recursive: true });
}
