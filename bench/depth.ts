// Seconds per stage and peak memory of `dualfocus depth`, on stacks made on the fly that breathe like a real lens.
//   nice node --import tsx bench/depth.ts [--cases 5x0.2,10x3,30x24] [--models small,base] [--threads 1,2]
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { run } from "../src/cli/run.ts";
import { createRandom } from "../src/random.ts";
import { option } from "./timing.ts";

interface Case {
  readonly planes: number;
  readonly megapixels: number;
}

/** Focus breathing from one plane to the next. */
const BREATHING = 0.002;

/** A slanted texture, sharpest at another place in each plane; three by two, `megapixels` each. */
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

/** In a process of its own, so that its peak memory is its own. */
function measure(folder: string, { model, threads }: { model: string; threads: string }): object {
  const args = ["--import", "tsx", import.meta.filename, "--child", folder, "--model", model, "--threads", threads];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`bench: the command ended with ${status}:\n${stderr}`);
  const { seconds, width, height, aligned } = JSON.parse(stdout) as Record<string, object | number>;
  return { width, height, aligned, seconds, peakMegabytes: Math.round(Number(/maxRSS (\d+)/.exec(stderr)?.[1]) / 1024) };
}

const list = (name: string, fallback: string): string[] => option(name, fallback).split(",");

if (process.argv.includes("--child")) {
  const folder = option("child", "");
  const more = ["--model", option("model", "small"), "--threads", option("threads", "2")];
  process.exitCode = await run(["depth", folder, "-o", `${folder}-depth`, "--force", "--json", "--quiet", ...more]);
  process.stderr.write(`maxRSS ${process.resourceUsage().maxRSS}\n`);
} else {
  const root = mkdtempSync(join(tmpdir(), "dualfocus-bench-"));
  const rows: object[] = [];
  try {
    for (const name of list("cases", "5x0.2,10x3")) {
      const [planes = NaN, megapixels = NaN] = name.split("x").map(Number);
      const folder = join(root, name);
      await makeStack(folder, { planes, megapixels });
      for (const model of list("models", "small,base"))
        for (const threads of list("threads", "1,2")) rows.push({ planes, megapixels, model, threads: Number(threads), ...measure(folder, { model, threads }) }); // prettier-ignore
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  process.stdout.write(`${JSON.stringify(rows, null, 1)}\n`);
}
