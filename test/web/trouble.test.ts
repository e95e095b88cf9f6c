import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";

import { encodePng } from "../../src/io/png.ts";
import { createRandom } from "../../src/random.ts";
import { TEST_IDS } from "../../web/src/contract.ts";
import {
  drop,
  exampleFiles,
  find,
  finished,
  holdAnswers,
  openStand,
  ready,
  show,
  smallStack,
  WATCHED_WORKER,
  type Visit,
} from "../helpers/webPage.ts";

const stand = await openStand();
let visit: Visit;
let page: Page;
before(async () => {
  visit = await stand.visit({ script: WATCHED_WORKER });
  page = visit.page;
  await ready(page);
});
after(async () => {
  await visit.close();
  await stand.close();
});

const picture = (width: number, height: number, seed = 0): Uint8Array => {
  const random = createRandom(seed);
  return encodePng(
    { width, height, channels: 3, data: Float32Array.from({ length: 3 * width * height }, () => random.uniform()) },
    { depth: 8 },
  );
};
const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const desk = exampleFiles("desk");
const pictures = desk.filter(({ name }) => name.endsWith(".png"));

async function startAnew(): Promise<void> {
  const again = find(page, TEST_IDS.startOver);
  if (await again.isVisible()) await again.click();
  await find(page, TEST_IDS.dropZone).waitFor();
}

const BAD: readonly { readonly what: string; readonly files: { name: string; bytes: Uint8Array }[]; readonly says: RegExp }[] = [
  { what: "a text file", files: [{ name: "notes.txt", bytes: text("hello") }], says: /notes\.txt|no images/i },
  { what: "one picture alone", files: [{ name: "a.png", bytes: picture(64, 64) }], says: /one|two|2|at least/i },
  {
    what: "pictures of different sizes",
    files: [
      { name: "a.png", bytes: picture(64, 64) },
      { name: "b.png", bytes: picture(64, 48) },
    ],
    says: /64\s?×\s?(64|48)/,
  },
  {
    what: "a picture that ends too early",
    files: [
      { name: "a.png", bytes: picture(64, 64) },
      { name: "b.png", bytes: picture(64, 64, 1).subarray(0, 500) },
    ],
    says: /b\.png/,
  },
  {
    what: "a PNG that is none",
    files: [
      { name: "a.png", bytes: picture(64, 64) },
      { name: "b.png", bytes: text("not a picture at all") },
    ],
    says: /b\.png/,
  },
  {
    what: "a stack.json that is no JSON",
    files: [...pictures, { name: "stack.json", bytes: text("{ focus: ") }],
    says: /stack\.json/,
  },
  {
    what: "a stack.json with a distance too few",
    files: [...pictures, { name: "stack.json", bytes: text('{ "unit": "m", "focus": [1, 2, 3, 4] }') }],
    says: /stack\.json/,
  },
];

for (const { what, files, says } of BAD)
  test(`${what} gets a readable message`, { timeout: 300_000 }, async () => {
    await startAnew();
    await drop(page, files);
    // What is wrong with a file's inside is found when it is looked at: the check tells it.
    const problem = find(page, TEST_IDS.problem).or(page.locator(`[data-testid="${TEST_IDS.findings}"][data-status="failed"]`));
    await problem.waitFor();
    const words = (await problem.textContent()) ?? "";
    assert.match(words, says);
    assert.doesNotMatch(words, /undefined|\[object|TypeError|at .*\.js:/);
  });

test("a photo that ends too early is named and marked; the others are shown, and go on without it", { timeout: 300_000 }, async () => {
  await startAnew();
  const photos = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(96, 64);
    const context = canvas.getContext("2d");
    for (let y = 8; y < 64; y += 8) context?.fillText("a photo in many words", 0, y);
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/jpeg" })).arrayBuffer());
    return [bytes, bytes.subarray(0, 0.8 * bytes.length), bytes, bytes].map((each) => [...each]);
  });
  await drop(
    page,
    photos.map((bytes, n) => ({ name: `p${n + 1}.jpg`, bytes: Uint8Array.from(bytes) })),
  );
  await page.locator(`[data-testid="${TEST_IDS.findings}"][data-status="failed"]`).waitFor();
  const words = (await find(page, TEST_IDS.findings).textContent()) ?? "";
  assert.match(words, /p2\.jpg: not a readable image file: it is damaged or truncated\. .*it can be left out\./);
  assert.match((await page.locator(".plane.is-broken").textContent()) ?? "", /Cannot be read.*p2\.jpg/);
  assert.equal(await page.locator(".plane img").count(), 3);
  await find(page, `${TEST_IDS.leaveOut}1`).click();
  await page.locator(`[data-testid="${TEST_IDS.findings}"][data-status="done"]`).waitFor();
});

test("copies of one photo have no depth: the page says why, and offers nothing that needs it", { timeout: 300_000 }, async () => {
  await startAnew();
  const bytes = picture(96, 64);
  await drop(
    page,
    ["a.png", "b.png", "c.png"].map((name) => ({ name, bytes })),
  );
  await find(page, TEST_IDS.run).click();
  await finished(page);
  assert.match((await find(page, TEST_IDS.readout).textContent()) ?? "", /unknown: no focus change found/);
  assert.equal(await page.getByText("Do you know two distances?").count(), 0);
  assert.equal(await page.locator(".curve").count(), 1);
  assert.equal(await page.locator(".curve-depth").count(), 0);
  for (const view of ["refocus", "scene"] as const) {
    await show(page, view);
    assert.match((await page.getByRole("tabpanel").textContent()) ?? "", /^No focus change was found/);
  }
});

test("a run stops when told to, and the next one still works", { timeout: 300_000 }, async () => {
  await startAnew();
  await drop(page, desk);
  const run = find(page, TEST_IDS.run);
  const release = await holdAnswers(page, "run"); // however fast it is, it has not ended when Cancel is clicked
  await run.click();
  await find(page, TEST_IDS.progress).waitFor();
  await find(page, TEST_IDS.cancel).click();
  await run.waitFor();
  await release();
  assert.equal(await find(page, TEST_IDS.result).count(), 0);
  await startAnew();
  await drop(page, smallStack());
  await run.click();
  await finished(page);
});

test("equal distances are refused with an explanation, and corrected ones accepted", { timeout: 300_000 }, async () => {
  await startAnew();
  await drop(page, desk);
  const second = find(page, `${TEST_IDS.distance}1`);
  await second.waitFor();
  const right = await second.inputValue();
  const first = await find(page, `${TEST_IDS.distance}0`).inputValue();
  await second.fill(first);
  await second.blur();
  const problem = page.getByRole("alert");
  await problem.waitFor();
  assert.ok(((await problem.textContent()) ?? "").includes(first));
  await second.fill(right);
  await second.blur();
  await problem.waitFor({ state: "detached" });
});

test("none of this was an error of the page", () => {
  assert.deepEqual(visit.problems, []);
});

test("without WebGL 2 the 3-D view says so where it can be seen, and refocusing goes on", { timeout: 300_000 }, async () => {
  const script = `const { getContext } = HTMLCanvasElement.prototype;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) { return kind === "webgl2" ? null : getContext.call(this, kind, ...rest); };`;
  const other = await stand.visit({ viewport: { width: 1280, height: 800 }, script });
  await drop(other.page, smallStack());
  await find(other.page, TEST_IDS.run).click();
  await finished(other.page);
  await show(other.page, "scene");
  const alert = other.page.getByRole("alert");
  assert.match((await alert.textContent()) ?? "", /^The 3-D view needs WebGL 2/);
  const { y = Infinity } = (await alert.boundingBox()) ?? {};
  assert.ok(y < 400, `at ${y}`);
  await show(other.page, "refocus");
  assert.equal(await other.page.getByRole("alert").count(), 0);
  await find(other.page, TEST_IDS.refocusCanvas).waitFor();
  await other.close();
});
