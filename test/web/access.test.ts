import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, test } from "node:test";
import type { Page } from "playwright-core";

import { encodePng } from "../../src/io/png.ts";
import { TEST_IDS, VIEWS } from "../../web/src/contract.ts";
import { drop, find, finished, openStand, ready, show, smallStack } from "../helpers/webPage.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const stand = await openStand();
after(() => stand.close());

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: { readonly html: string; readonly failureSummary: string }[];
}

/** What a checker of accessibility finds wrong and calls serious or critical. */
async function seriousFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate<{ violations: Violation[] }>("axe.run()");
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}

const sideways = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

const PHONE = { width: 360, height: 740 } as const;
const DESKTOP = { width: 1280, height: 800 } as const;

/** In the light, in the dark, and on a phone, where nothing may reach beyond the screen. */
async function examine(page: Page, where: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await seriousFindings(page), [], `${where}, ${colorScheme}`);
  }
  await page.setViewportSize(PHONE);
  assert.equal(await sideways(page), 0, `${where} on a phone`);
  await page.setViewportSize(DESKTOP);
}

test("nothing serious bars anyone, light or dark, large or small: start, planes and every view", { timeout: 300_000 }, async (t) => {
  const { page, close } = await stand.visit({ viewport: DESKTOP });
  t.after(close);
  await ready(page);
  await examine(page, "start");
  await drop(page, smallStack());
  await page.locator(`[data-testid="${TEST_IDS.findings}"][data-status="done"]`).waitFor();
  await examine(page, "planes");
  await find(page, TEST_IDS.run).click();
  await finished(page);
  for (const view of VIEWS) {
    await show(page, view);
    await examine(page, view);
  }
});

test("the zoom buttons leave the legend of a low picture free, and lie side by side", { timeout: 300_000 }, async (t) => {
  const { page, close } = await stand.visit({ viewport: DESKTOP });
  t.after(close);
  await ready(page);
  const [width, height] = [900, 22];
  const data = Float32Array.from({ length: width * height }, (_, i) => ((i * 7919) % 1000) / 1000);
  const bytes = encodePng({ width, height, channels: 1, data }, { depth: 8 });
  await drop(
    page,
    ["a.png", "b.png"].map((name) => ({ name, bytes })),
  );
  await find(page, TEST_IDS.run).click();
  await finished(page);
  const boxOf = async (selector: string): Promise<{ x: number; y: number; height: number }> =>
    (await page.locator(selector).boundingBox()) ?? assert.fail(`there is no ${selector}`);
  const [first, last, legend] = [
    await boxOf(".zoom-buttons button:first-child"),
    await boxOf(".zoom-buttons button:last-child"),
    await boxOf(".legend-strip"),
  ];
  assert.ok(first.y === last.y && last.x < first.x, "side by side");
  assert.ok(first.y + first.height < legend.y, `${first.y + first.height} < ${legend.y}`);
});

test("the keyboard alone leads from the start to a pixel's curve", { timeout: 300_000 }, async (t) => {
  const { page, close } = await stand.visit();
  t.after(close);
  await ready(page);
  const isOn = (id: string): Promise<boolean> =>
    page.evaluate(
      (wanted) => document.activeElement?.matches(`[data-testid="${wanted}"], [role="slider"]:has([data-testid="${wanted}"])`) ?? false,
      id,
    );
  const tabTo = async (id: string): Promise<void> => {
    for (let presses = 0; presses < 60; presses++) {
      if (await isOn(id)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`60 presses of Tab do not reach ${id}`);
  };
  await tabTo(`${TEST_IDS.example}macro`);
  await page.keyboard.press("Enter");
  await finished(page);
  await tabTo(`${TEST_IDS.tab}depth`);
  await tabTo(TEST_IDS.depthCanvas);
  const words = await find(page, TEST_IDS.readout).textContent();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction(([id, old]) => document.querySelector(`[data-testid="${id}"]`)?.textContent !== old, [
    TEST_IDS.readout,
    words,
  ] as const);
  await find(page, TEST_IDS.curve).waitFor();
});
