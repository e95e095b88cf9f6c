import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { BufferSource, Input, WEBM } from "mediabunny";
import type { Page } from "playwright-core";
import sharp from "sharp";

import { decodeNpy } from "../../src/io/npy.ts";
import { TEST_IDS } from "../../web/src/contract.ts";
import {
  answered,
  download,
  drop,
  find,
  finished,
  holdAnswers,
  openStand,
  readUntil,
  ready,
  show,
  SMALL_SIDE,
  smallStack,
  WATCHED_WORKER,
  type Visit,
} from "../helpers/webPage.ts";

// Nothing lost, nothing hidden: one visit, on a stack without distances.
const stand = await openStand();
const images = smallStack().filter(({ name }) => name.endsWith(".png"));
let visit: Visit;
let page: Page;
before(async () => {
  visit = await stand.visit({ viewport: { width: 1280, height: 800 }, script: WATCHED_WORKER });
  page = visit.page;
  await ready(page);
});
after(async () => {
  await visit.close();
  await stand.close();
});

const checked = (): Promise<void> => page.locator(`[data-testid="${TEST_IDS.findings}"][data-status="done"]`).waitFor();

/** The files of the images in the setup, in their order. */
const order = (): Promise<string[]> =>
  page.locator(`[data-testid="${TEST_IDS.planes}"] .plane-name`).evaluateAll((all) => all.map((each) => each.getAttribute("title") ?? ""));

/** The page shows this order, and goes on showing it once its worker has answered: only then does the next change meet a page at rest. */
async function assertOrder(wanted: readonly string[]): Promise<void> {
  await readUntil(order, (now) => isDeepStrictEqual(now, wanted));
  await answered(page, "focus");
  assert.deepEqual(await order(), wanted);
}

const names = images.map(({ name }) => name);
/** The same in the order that the check finds. */
let first: string[] = [];

/** Whether an element lies within the window. */
async function isInView(id: string): Promise<boolean> {
  const box = await find(page, id).boundingBox();
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  return box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
}

const depthOf = async (): Promise<Float32Array> => {
  await show(page, "downloads");
  return decodeNpy((await download(page, `${TEST_IDS.download}npy`)).bytes).data as Float32Array;
};

test("unknown order is called unknown; images move, leave and come back, by mouse and by key", { timeout: 300_000 }, async () => {
  await drop(page, images);
  await find(page, TEST_IDS.planes).waitFor();
  await checked();
  assert.match((await page.locator(".order").textContent()) ?? "", /(Order unknown|Nearest first, probably).*taken as nearest, because/s);
  first = await order();
  assert.deepEqual([...first].sort(), [...names].sort());
  const [one, two, three, ...rest] = first as [string, string, string, ...string[]];
  await find(page, TEST_IDS.turn).click();
  await assertOrder([...first].reverse());
  assert.match((await page.locator(".order").textContent()) ?? "", /in the order you chose/);
  await find(page, TEST_IDS.turn).click();
  await assertOrder(first);

  await find(page, `${TEST_IDS.handle}0`).focus();
  await page.keyboard.press("ArrowRight");
  await assertOrder([two, one, three, ...rest]);
  await page.keyboard.press("ArrowLeft"); // the focus moved with the image
  await assertOrder(first);

  await checked(); // what it finds changes the layout
  const [from, to] = await Promise.all(
    [0, 2].map(async (n) => (await find(page, `${TEST_IDS.handle}${n}`).boundingBox()) ?? { x: 0, y: 0 }),
  );
  await page.mouse.move((from?.x ?? 0) + 60, (from?.y ?? 0) + 60); // by its picture
  await page.mouse.down();
  await page.mouse.move((to?.x ?? 0) + 60, (to?.y ?? 0) + 60, { steps: 4 });
  await page.mouse.up();
  await assertOrder([two, three, one, ...rest]);
  await page.keyboard.press("Escape");

  await find(page, `${TEST_IDS.leaveOut}2`).click();
  await assertOrder([two, three, ...rest]);
  await find(page, `${TEST_IDS.putBack}${names.indexOf(one)}`).click();
  await assertOrder(first);
});

test("Find depth, the progress and Cancel are in view at every width, however many images there are", { timeout: 300_000 }, async () => {
  await checked();
  const many = Array.from({ length: 20 }, (_, n) => ({
    name: `p${String(n).padStart(2, "0")}.png`,
    bytes: images[n % images.length]?.bytes as Uint8Array,
  }));
  await find(page, TEST_IDS.startOver).click();
  await drop(page, many);
  await page.waitForFunction((id) => document.querySelectorAll(`[data-testid="${id}"] > li`).length === 20, TEST_IDS.planes);
  const sizes = [
    { width: 320, height: 640 },
    { width: 390, height: 844 },
    { width: 1280, height: 800 },
  ] as const;
  for (const size of sizes) {
    await page.setViewportSize(size);
    assert.ok(await isInView(TEST_IDS.run), `Find depth at ${size.width}`);
  }
  const release = await holdAnswers(page, "run"); // however fast it is, it has not ended when Cancel is looked for
  await find(page, TEST_IDS.run).click();
  await find(page, TEST_IDS.cancel).waitFor();
  for (const size of sizes) {
    await page.setViewportSize(size);
    assert.ok((await isInView(TEST_IDS.cancel)) && (await isInView(TEST_IDS.progress)), `progress and Cancel at ${size.width}`);
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(sideways, 0, `at ${size.width}`);
  }
  await find(page, TEST_IDS.cancel).click();
  await find(page, TEST_IDS.run).waitFor();
  await release();
});

test("one bar that never falls, a first look on the way, thumbnails whatever was cancelled", { timeout: 300_000 }, async () => {
  await find(page, TEST_IDS.startOver).click();
  await drop(page, images);
  const release = await holdAnswers(page, "run");
  await find(page, TEST_IDS.run).click(); // while the check is at its beginning
  await find(page, TEST_IDS.cancel).click();
  await release();
  await checked();
  await page.waitForFunction((id) => document.querySelectorAll(`[data-testid="${id}"] img.thumbnail`).length === 7, TEST_IDS.planes);
  await page.evaluate((id) => {
    const seen: { shares: number[]; looks: number } = { shares: [], looks: 0 };
    new MutationObserver(() => {
      const bar = document.querySelector<HTMLProgressElement>(`[data-testid="${id}"]`);
      if (bar) seen.shares.push(bar.value);
      if (document.querySelector(".first-look canvas")) seen.looks += 1;
    }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    Object.assign(window, { seen });
  }, TEST_IDS.progress);
  await find(page, TEST_IDS.run).click();
  await finished(page);
  const { shares, looks } = await page.evaluate<{ shares: number[]; looks: number }>("seen");
  assert.ok(shares.length > 2 && looks > 0, `${shares.length} shares, ${looks} looks`);
  assert.deepEqual(
    shares,
    [...shares].sort((a, b) => a - b),
  );
});

test("a bad drop on a result says so and takes nothing away", { timeout: 300_000 }, async () => {
  await drop(page, [{ name: "notes.txt", bytes: new TextEncoder().encode("hello") }]);
  assert.match((await find(page, TEST_IDS.problem).textContent()) ?? "", /notes|no images.*still here/is);
  assert.ok(await find(page, TEST_IDS.result).isVisible());
  await find(page, TEST_IDS.problem).getByRole("button").click();
  await find(page, TEST_IDS.problem).waitFor({ state: "detached" });
});

test("a sweep of the focus is saved as a film and as an animation", { timeout: 300_000 }, async () => {
  await show(page, "refocus");
  const { name, bytes } = await download(page, TEST_IDS.refocusSweep);
  assert.match(name, /-sweep\.webm$/);
  const film = await new Input({ source: new BufferSource(bytes), formats: [WEBM] }).getPrimaryVideoTrack();
  assert.deepEqual([await film?.getCodedWidth(), await film?.getCodedHeight()], [SMALL_SIDE, SMALL_SIDE]);
  assert.ok(((await film?.computePacketStats())?.packetCount ?? 0) > 1);
  const gif = await download(page, TEST_IDS.refocusGif);
  assert.match(gif.name, /-sweep\.gif$/);
  const facts = await sharp(gif.bytes, { animated: true }).metadata();
  assert.deepEqual([facts.width, facts.pageHeight, facts.pages, facts.loop], [SMALL_SIDE, SMALL_SIDE, 30, 0]);
  const ends = await Promise.all([0, 15].map((n) => sharp(gif.bytes, { page: n }).raw().toBuffer())); // prettier-ignore
  assert.notDeepEqual(ends[0], ends[1], "the focus moves");
});

test("near and far are turned without running again: the depth is mirrored", { timeout: 300_000 }, async () => {
  const straight = await depthOf();
  await find(page, TEST_IDS.turn).click();
  await page.locator(`[data-testid="${TEST_IDS.turn}"][title^="${first.at(-1) ?? ""} counts as the nearest"]`).waitFor();
  const turned = await depthOf();
  turned.forEach((value, i) => {
    assert.ok(Math.abs(value - (images.length - 1 - (straight[i] as number))) < 1e-5);
  });
});

test(
  "Back and Forward lead between result, setup and start; a reload restores the result and its stack",
  { timeout: 300_000 },
  async () => {
    assert.match(page.url(), /#result$/);
    assert.match(await page.title(), /^plane_00–06 – DualFocus$/);
    await page.goBack();
    await find(page, TEST_IDS.planes).waitFor();
    assert.deepEqual(await order(), [...first].reverse());
    await page.goForward();
    await finished(page);
    const before = await depthOf();
    // Once it is stored, the page lets itself be left without a question.
    await page.waitForFunction(() => window.dispatchEvent(new Event("beforeunload", { cancelable: true })));
    await page.reload();
    await finished(page);
    assert.deepEqual(await depthOf(), before);
    await show(page, "compare"); // the images come from storage too
    await page.locator(".compare-before canvas").waitFor();
    await page.goBack();
    await find(page, TEST_IDS.planes).waitFor();
    assert.deepEqual(await order(), [...first].reverse());
  },
);

test("what is stored can be deleted, and is gone then", { timeout: 300_000 }, async () => {
  await find(page, TEST_IDS.startOver).click();
  await find(page, TEST_IDS.openStored).click();
  await finished(page);
  await find(page, TEST_IDS.startOver).click();
  await find(page, TEST_IDS.deleteStored).click();
  await find(page, TEST_IDS.openStored).waitFor({ state: "detached" });
  await page.goto(`${stand.url}?device=wasm#result`);
  await page.reload();
  await find(page, TEST_IDS.dropZone).waitFor();
  assert.equal(await find(page, TEST_IDS.stored).count(), 0);
});

test("the page can be installed: its manifest names an icon that is there", { timeout: 60_000 }, async () => {
  const manifest = new URL((await page.locator('link[rel="manifest"]').getAttribute("href")) ?? "", stand.url);
  const { icons, start_url } = (await (await fetch(manifest)).json()) as { icons: { src: string }[]; start_url: string };
  for (const path of [start_url, ...icons.map(({ src }) => src)]) assert.equal((await fetch(new URL(path, manifest))).status, 200, path);
});

test("none of this was an error of the page", () => {
  assert.deepEqual(visit.problems, []);
});
