// Seconds per stage and peak memory of `dualfocus depth`, on generated stacks with focus breathing; and of the network alone.
//   nice node --import tsx bench/depth.ts [--cases 5x0.2,10x3,30x24] [--models small,base] [--threads 1,2]
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { run } from "../src/cli/run.ts";
import { createGraphs } from "../src/network/graphs.ts";
import { createOnnxSession } from "../src/network/node/onnxSession.ts";
import { loadModel } from "../src/network/node/loadModel.ts";
import { createRandom } from "../src/random.ts";
import { option } from "./timing.ts";

interface Case {
  readonly planes: number;
  readonly megapixels: number;
}

/** Focus breathing from one plane to the next. */
const BREATHING = 0.002;

/** A slanted texture, sharpest in a different place in each plane; three by two, `megapixels` each. */
async function makeStack(folder: string, { planes, megapixels }: Case): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const width = Math.round(Math.sqrt(megapixels * 1.5e6));
  const height = Math.round(width / 1.5);
  const random = createRandom(1);
  const raw = { width: 900, height: 600, channels: 3 as const };
  const noise = Uint8Array.from({ length: raw.width * raw.height * 3 }, () => random.integer(256));
  for (let n = 0; n < planes; n++) {
    const at = Math.round((raw.width * n) / planes);
    const focused = { left: at, top: 0, width: Math.min(Math.ceil(raw.width / planes), raw.width - at), height: raw.height };
    const strip = await sharp(noise, { raw }).extract(focused).blur(0.6).png().toBuffer();
    const blurred = await sharp(noise, { raw }).blur(2.5).composite([{ input: strip, left: at, top: 0 }]).png().toBuffer(); // prettier-ignore
    const scale = 1 + BREATHING * n;
    const size = { width: Math.ceil(width * scale), height: Math.ceil(height * scale) };
    const middle = { left: (size.width - width) >> 1, top: (size.height - height) >> 1, width, height };
    const name = `plane_${String(n).padStart(2, "0")}.jpg`;
    await sharp(blurred).resize({ ...size, fit: "fill" }).extract(middle).jpeg({ quality: 90 }).toFile(join(folder, name)); // prettier-ignore
  }
}

interface Row extends Case {
  readonly model: string;
  readonly threads: number;
  readonly seconds: Readonly<Record<string, number>>;
  /** Of all threads: what it would take alone on one core, whatever else the machine is doing. */
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
}

/** In its own process, to measure its peak memory. */
function measure(folder: string, { model, threads, ...given }: Case & { model: string; threads: number }): Row {
  const args = ["--import", "tsx", import.meta.filename, "--child", folder, "--model", model, "--threads", String(threads)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`bench: the command ended with ${status}:\n${stderr}`);
  const { seconds } = JSON.parse(stdout) as Pick<Row, "seconds">;
  const { maxRss, cpuSeconds } = JSON.parse(stderr.trim().split("\n").at(-1) ?? "") as { maxRss: number; cpuSeconds: number };
  return { ...given, model, threads, seconds, cpuSeconds, peakMegabytes: Math.round(maxRss / 1024) };
}

/** The network alone at 5×384×576, best of several runs. */
async function inferenceSeconds(model: string, threads: number): Promise<Pick<Row, "cpuSeconds"> & { readonly seconds: number }> {
  const [planes, height, width] = [5, 384, 576];
  const load = (graph: Uint8Array): ReturnType<typeof createOnnxSession> => createOnnxSession(graph, { threads });
  const session = await createGraphs(loadModel(model), { device: "cpu", load });
  const random = createRandom(2);
  const images = {
    data: Float32Array.from({ length: planes * 3 * height * width }, () => random.uniform()),
    shape: [1, planes, 3, height, width],
  };
  const focusDistances = { data: Float32Array.from({ length: planes }, (_, n) => n), shape: [1, planes] };
  let [seconds, cpuSeconds] = [Infinity, Infinity];
  for (let run = 0; run < 7; run++) {
    const [start, before] = [performance.now(), process.cpuUsage()];
    await session.run({ images, focusDistances });
    const { user, system } = process.cpuUsage(before);
    [seconds, cpuSeconds] = [Math.min(seconds, (performance.now() - start) / 1000), Math.min(cpuSeconds, (user + system) / 1e6)];
  }
  await session.dispose();
  return { seconds, cpuSeconds };
}

/** For docs/depth.md. */
function table(rows: readonly Row[]): string {
  const stages = ["model", "load", "align", "check", "infer", "enlarge", "write", "total"];
  const lines = rows.map(({ planes, megapixels, model, threads, seconds, cpuSeconds, peakMegabytes }) =>
    [
      `${planes} × ${megapixels} MP`,
      model,
      threads,
      ...stages.map((stage) => seconds[stage]?.toFixed(1)),
      cpuSeconds.toFixed(1),
      `${(peakMegabytes / 1000).toFixed(2)} GB`,
    ].join(" | "),
  );
  const heads = ["stack", "network", "threads", ...stages, "CPU seconds", "peak memory"];
  return [heads.join(" | "), heads.map(() => "---").join(" | "), ...lines].map((line) => `| ${line} |\n`).join("");
}

const list = (name: string, fallback: string): string[] => option(name, fallback).split(",");

if (process.argv.includes("--child")) {
  const folder = option("child", "");
  const more = ["--model", option("model", "small"), "--threads", option("threads", "2")];
  process.exitCode = await run(["depth", folder, "-o", `${folder}-depth`, "--force", "--json", "--quiet", ...more]);
  const { user, system } = process.cpuUsage();
  process.stderr.write(`\n${JSON.stringify({ maxRss: process.resourceUsage().maxRSS, cpuSeconds: (user + system) / 1e6 })}\n`);
} else {
  const root = mkdtempSync(join(tmpdir(), "dualfocus-bench-"));
  const [models, threadCounts] = [list("models", "small,base"), list("threads", "1,2").map(Number)];
  const rows: Row[] = [];
  const inference: object[] = [];
  try {
    for (const model of models)
      for (const threads of threadCounts) inference.push({ model, threads, size: "5×384×576", ...(await inferenceSeconds(model, threads)) }); // prettier-ignore
    for (const name of list("cases", "5x0.2,10x3,30x24")) {
      const [planes = NaN, megapixels = NaN] = name.split("x").map(Number);
      const folder = join(root, name);
      await makeStack(folder, { planes, megapixels });
      for (const model of models)
        for (const threads of threadCounts) {
          rows.push(measure(folder, { planes, megapixels, model, threads }));
          process.stderr.write(table(rows.slice(-1)));
        }
      rmSync(folder, { recursive: true, force: true });
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  process.stdout.write(`${JSON.stringify({ inference, rows }, null, 1)}\n${table(rows)}`);
}
