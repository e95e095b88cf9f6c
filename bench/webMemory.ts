// Peak memory and longest pause of the page on a large stack made on the fly: ten pictures of twelve megapixels by default.
//   npm run build && nice node --import tsx bench/webMemory.ts [--planes 10] [--megapixels 12] [--threads 2]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";

import { createRandom } from "../src/random.ts";
import { find, finished, openStand, ready } from "../test/helpers/webPage.ts";
import { TEST_IDS } from "../web/src/contract.ts";
import { browserProcesses, peakMegabytes } from "./browserProcesses.ts";
import { option } from "./timing.ts";

const planes = Number(option("planes", "10"));
const width = Math.round(Math.sqrt((Number(option("megapixels", "12")) * 1e6 * 4) / 3));
const height = Math.round((width * 3) / 4);

/** Noise, sharp in another strip of each picture. */
async function makeStack(folder: string): Promise<string[]> {
  const random = createRandom(1);
  const raw = { width: 1000, height: 750, channels: 3 as const };
  const noise = Uint8Array.from({ length: raw.width * raw.height * 3 }, () => random.integer(256));
  const files: string[] = [];
  for (let n = 0; n < planes; n++) {
    const left = Math.floor((raw.width * n) / planes);
    const strip = { left, top: 0, width: Math.floor(raw.width / planes), height: raw.height };
    const sharpStrip = await sharp(noise, { raw }).extract(strip).blur(0.6).png().toBuffer();
    const whole = await sharp(noise, { raw }).blur(3).composite([{ input: sharpStrip, left, top: 0 }]).png().toBuffer(); // prettier-ignore
    const file = join(folder, `plane_${(0.5 + 0.1 * n).toFixed(2)}m.jpg`);
    await sharp(whole).resize({ width, height, fit: "fill" }).jpeg({ quality: 85 }).toFile(file);
    files.push(file);
  }
  return files;
}

const folder = mkdtempSync(join(tmpdir(), "dualfocus-bench-"));
const stand = await openStand();
try {
  const files = await makeStack(folder);
  const { page } = await stand.visit({ query: `?device=wasm&threads=${option("threads", "2")}` });
  page.setDefaultTimeout(1_800_000);
  await ready(page);
  await find(page, TEST_IDS.filesInput).setInputFiles(files);
  await page.evaluate(() => {
    const pauses = { longest: 0 };
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) pauses.longest = Math.max(pauses.longest, duration);
    }).observe({ type: "longtask" });
    Object.assign(window, { pauses });
  });
  const start = performance.now();
  await find(page, TEST_IDS.run).click();
  await finished(page);
  const seconds = (performance.now() - start) / 1000;
  const longest = await page.evaluate<number>("pauses.longest");
  const peaks = peakMegabytes(browserProcesses()); // of different moments: their sum is more than was ever held
  const row = { planes, width, height, seconds: Math.round(seconds), longestPauseSeconds: Number((longest / 1000).toFixed(2)) };
  process.stdout.write(
    `${JSON.stringify({ ...row, peakMegabytes: { largest: Math.round(Math.max(...peaks)), sum: Math.round(peaks.reduce((sum, peak) => sum + peak, 0)) } }, null, 1)}\n`,
  );
} finally {
  await stand.close();
  rmSync(folder, { recursive: true });
}
