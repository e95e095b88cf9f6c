// Makes docs/web-desktop.png, docs/web-phone.png and docs/web-dark.png from the built page in headless Chromium.
//   npm run build && nice node --import tsx scripts/screenshots.ts
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";

import { find, finished, openStand, ready, show, type VisitOptions } from "../test/helpers/webPage.ts";
import { TEST_IDS, type View } from "../web/src/contract.ts";

interface Shot extends Pick<VisitOptions, "viewport" | "colorScheme" | "hasTouch"> {
  readonly file: string;
  readonly example: string;
  readonly view: View;
}

const SHOTS: readonly Shot[] = [
  { file: "web-desktop.png", example: "desk", view: "depth", viewport: { width: 1280, height: 900 } },
  { file: "web-phone.png", example: "macro", view: "depth", viewport: { width: 390, height: 844 }, hasTouch: true },
  { file: "web-dark.png", example: "desk", view: "scene", viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
];

const docs = join(import.meta.dirname, "..", "docs");
const stand = await openStand();
try {
  for (const { file, example, view, ...options } of SHOTS) {
    const { page, close } = await stand.visit(options);
    await ready(page);
    await find(page, TEST_IDS.example + example).click();
    await finished(page);
    await show(page, view);
    if (view === "depth") {
      const canvas = find(page, TEST_IDS.depthCanvas);
      const { width, height } = (await canvas.boundingBox()) ?? { width: 0, height: 0 };
      await canvas.click({ position: { x: 0.42 * width, y: 0.55 * height } });
      await find(page, TEST_IDS.curve).waitFor();
    }
    if (view === "scene") await page.waitForTimeout(3000); // three.js is loaded, and its first frame is slow without a GPU
    await page.evaluate(() => {
      scrollTo(0, 0);
    });
    const bytes = await sharp(await page.screenshot()).png({ palette: true, effort: 10 }).toBuffer(); // prettier-ignore
    await writeFile(join(docs, file), bytes);
    process.stdout.write(`docs/${file}: ${Math.round(bytes.length / 1024)} kB\n`);
    await close();
  }
} finally {
  await stand.close();
}
