import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { strFromU8, unzipSync } from "fflate";

import { decodeExr, exrChannel } from "../../src/io/exr.ts";
import { decodeNpy } from "../../src/io/npy.ts";
import { decodePng } from "../../src/io/png.ts";
import { decodeTiff } from "../../src/io/tiff.ts";
import { OUTPUT_FILES, OUTPUT_NAMES } from "../../src/output/outputs.ts";
import { TEST_IDS } from "../../web/src/contract.ts";
import { runCommand } from "../helpers/command.ts";
import { changed, download, drop, exampleFiles, find, finished, look, openStand, ready, show } from "../helpers/webPage.ts";

const desk = join(import.meta.dirname, "..", "..", "examples", "desk");
const { focus } = JSON.parse(readFileSync(join(desk, "stack.json"), "utf8")) as { focus: number[] };
const { width, height } = decodePng(readFileSync(join(desk, "plane_00.png")));
const stand = await openStand();
const { page, problems, requests, close } = await stand.visit();
after(async () => {
  await close();
  await stand.close();
});

test("the page says where it computes, and why", { timeout: 300_000 }, async () => {
  const { device, threads, reason } = await ready(page);
  assert.equal(device, "wasm");
  assert.ok(Number(threads) >= 1);
  assert.match(reason, /Processor, (one|\d+) threads?: as requested in the address/);
});

test("dropped files are put in focus order with their distances, checked, and run to a result", { timeout: 300_000 }, async () => {
  await drop(page, exampleFiles("desk").reverse());
  await find(page, TEST_IDS.planes).waitFor();
  const shown = await Promise.all(focus.map((_, plane) => find(page, TEST_IDS.distance + String(plane)).inputValue()));
  assert.deepEqual(shown.map(Number), focus);
  await find(page, TEST_IDS.findings).waitFor();
  await find(page, TEST_IDS.run).click();
  await finished(page);
});

test("its depth is the command's: within 0.5 % of the range on average", { timeout: 300_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "dualfocus-flow-"));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  const { code, err } = await runCommand(t, "depth", desk, "-o", join(folder, "out"), "--save", "npy", "--quiet", "--threads", "2");
  assert.equal(code, 0, err);
  const there = decodeNpy(readFileSync(join(folder, "out", "depth.npy"))).data as Float32Array;
  await show(page, "downloads");
  const here = decodeNpy((await download(page, `${TEST_IDS.download}npy`)).bytes).data as Float32Array;
  assert.equal(here.length, there.length);
  const range = there.reduce((most, value) => Math.max(most, value), 0) - there.reduce((least, value) => Math.min(least, value), Infinity);
  const mean = there.reduce((sum, value, i) => sum + Math.abs(value - (here[i] as number)), 0) / there.length;
  t.diagnostic(`mean difference ${((100 * mean) / range).toFixed(5)} % of ${range.toFixed(3)} m`);
  assert.ok(range > 0.5 && mean <= 0.005 * range, `${mean} of ${range}`);
});

test("every format is downloaded and read back, alone and from the zip", { timeout: 300_000 }, async () => {
  const files: Record<string, Uint8Array> = {};
  for (const name of OUTPUT_NAMES) {
    const { name: file, bytes } = await download(page, TEST_IDS.download + name);
    assert.ok(file.endsWith(OUTPUT_FILES[name]), file);
    files[name] = bytes;
  }
  const bytesOf = (name: string): Uint8Array => files[name] ?? new Uint8Array();
  for (const name of ["depth16", "aif", "confidence", "index", "beyond"]) assert.equal(decodePng(bytesOf(name)).width, width, name);
  const tiff = (await decodeTiff(bytesOf("depth")))[0]?.data as Float32Array;
  const exr = exrChannel(await decodeExr(bytesOf("exr")), "Z");
  const npy = decodeNpy(bytesOf("npy")).data as Float32Array;
  assert.deepEqual([tiff.length, exr, npy], [width * height, tiff, tiff]);
  assert.equal((await decodeTiff(bytesOf("error")))[0]?.data.length, width * height);
  assert.equal(decodeNpy(bytesOf("probability")).shape[0], focus.length);
  assert.match(strFromU8(bytesOf("ply").subarray(0, 400)), /^ply[\s\S]*element vertex \d+/);
  assert.equal(strFromU8(bytesOf("glb").subarray(0, 4)), "glTF");
  assert.equal(decodePng(bytesOf("color")).width, width);

  const zip = await download(page, TEST_IDS.downloadAll);
  assert.match(zip.name, /\.zip$/);
  const inside = unzipSync(zip.bytes);
  assert.deepEqual(inside["depth.npy"], new Uint8Array(bytesOf("npy")));
  assert.match(strFromU8(inside["result.html"] as Uint8Array), /^<!doctype html>/);
  const document = JSON.parse(strFromU8(inside["result.json"] as Uint8Array)) as { unit: string; planes: number; files: object };
  assert.deepEqual([document.unit, document.planes], ["m", focus.length]);
  assert.deepEqual(
    Object.values(document.files).sort(),
    Object.keys(inside)
      .filter((file) => file !== "result.json")
      .sort(),
  );
});

test("a click on a pixel shows its depth, error and plane, and its focus probability as a curve", { timeout: 300_000 }, async () => {
  await show(page, "depth");
  const canvas = find(page, TEST_IDS.depthCanvas);
  const box = (await canvas.boundingBox()) ?? { width: 0, height: 0 };
  await canvas.hover({ position: { x: box.width * 0.25, y: box.height * 0.5 } });
  await page.waitForFunction(
    (id) => /\d.*m.*±/s.test(document.querySelector(`[data-testid="${id}"]`)?.textContent ?? ""),
    TEST_IDS.readout,
  );
  const first = await find(page, TEST_IDS.readout).textContent();
  await canvas.click({ position: { x: box.width * 0.75, y: box.height * 0.25 } });
  await find(page, TEST_IDS.curve).waitFor();
  const curve = await look(page, TEST_IDS.curve);
  assert.notEqual(await find(page, TEST_IDS.readout).textContent(), first);
  await canvas.click({ position: { x: box.width * 0.3, y: box.height * 0.85 } });
  await changed(page, TEST_IDS.curve, curve);
});

test("dragging focus and f-number draws another picture", { timeout: 300_000 }, async () => {
  await show(page, "refocus");
  await find(page, TEST_IDS.refocusCanvas).waitFor();
  const drag = async (id: string, key: string): Promise<void> => {
    const before = await look(page, TEST_IDS.refocusCanvas);
    await find(page, id).focus();
    await page.keyboard.press(key);
    await changed(page, TEST_IDS.refocusCanvas, before);
  };
  await drag(TEST_IDS.refocusFNumber, "Home");
  await drag(TEST_IDS.refocusFocus, "Home");
  await drag(TEST_IDS.refocusFocus, "End");
});

test("a click focuses there, with the photographs' own blur, and the picture is saved", { timeout: 300_000 }, async () => {
  await page.locator(`[data-testid="${TEST_IDS.refocusCanvas}"][data-source="photographs"]`).waitFor();
  const focusText = (): Promise<string | null> => find(page, TEST_IDS.refocusFocus).getAttribute("aria-valuetext");
  const canvas = find(page, TEST_IDS.refocusCanvas);
  const box = (await canvas.boundingBox()) ?? { width: 0, height: 0 };
  const depths: string[] = [];
  for (const [x, y] of [
    [0.5, 0.9],
    [0.5, 0.1],
  ] as const) {
    const before = await focusText();
    await canvas.click({ position: { x: x * box.width, y: y * box.height } });
    await page.waitForFunction(([id, old]) => document.querySelector(`[data-testid="${id}"]`)?.getAttribute("aria-valuetext") !== old, [
      TEST_IDS.refocusFocus,
      before,
    ] as const);
    depths.push((await focusText()) ?? "");
  }
  const [near, far] = depths.map((text) => Number.parseFloat(text));
  assert.ok((near as number) < (far as number), `${depths.join(", ")}: the desk's front is nearer than its back`);
  const png = decodePng((await download(page, TEST_IDS.refocusSave)).bytes);
  assert.deepEqual([png.width, png.height], [width, height]);
});

test("the place that is enlarged stays the same in all tabs, down to single pixels", { timeout: 300_000 }, async () => {
  await show(page, "depth");
  const stage = page.locator(".zoom-stage");
  const transform = (): Promise<string> =>
    page
      .locator(".zoomed")
      .first()
      .evaluate((element) => (element as HTMLElement).style.transform);
  const zoom = async (): Promise<number> => Number(/scale\(([\d.]+)\)/.exec(await transform())?.[1]);
  await stage.dblclick({ position: { x: 100, y: 80 } });
  assert.equal(await zoom(), 2);
  await page.mouse.wheel(0, -400);
  await page.waitForFunction(() => /scale\(5\./.test((document.querySelector(".zoomed") as HTMLElement).style.transform));
  const there = await transform();
  for (const view of ["picture", "compare", "confidence", "refocus"] as const) {
    await show(page, view);
    await page.locator(".zoomed").first().waitFor();
    assert.equal(await transform(), there, view);
  }
  await show(page, "depth");
  await stage.focus();
  for (let presses = 0; presses < 4; presses++) await page.keyboard.press("+");
  assert.equal(await zoom(), width / 16);
  await page.keyboard.press("0");
  assert.equal(await zoom(), 1);
});

test(
  "a line is measured by the keyboard alone, colours are chosen, and the picture is saved without its legend",
  { timeout: 300_000 },
  async () => {
    await find(page, TEST_IDS.profileButton).focus();
    await page.keyboard.press("Enter");
    await page.locator(".zoom-stage").focus();
    for (const key of ["Enter", "Shift+ArrowRight", "Shift+ArrowRight", "Enter"]) await page.keyboard.press(key);
    assert.match((await find(page, TEST_IDS.profile).textContent()) ?? "", /Distance[\d.]+ m?m.*In the image\d+ pixels/);
    const before = await look(page, TEST_IDS.depthCanvas);
    await find(page, TEST_IDS.colorMap).selectOption("near-white");
    const grey = await changed(page, TEST_IDS.depthCanvas, before);
    await find(page, `${TEST_IDS.legendHandle}1`).focus();
    await page.keyboard.press("PageDown");
    await changed(page, TEST_IDS.depthCanvas, grey);
    await page.getByText("Legend in the saved image").click();
    await page.getByText("Hatch filled areas").click();
    await find(page, TEST_IDS.trust).selectOption({ label: "any error" });
    const png = decodePng((await download(page, TEST_IDS.savePicture)).bytes);
    assert.deepEqual([png.width, png.height], [width, height]);
    assert.ok(
      png.data.every((value, i) => i % png.channels === 0 || value === png.data[i - 1]),
      "grey, and nothing is hatched",
    );
  },
);

test("the surface turns under the mouse, stretches, and is measured between two points", { timeout: 300_000 }, async () => {
  await show(page, "scene");
  const canvas = find(page, TEST_IDS.sceneCanvas);
  await canvas.waitFor();
  await canvas.scrollIntoViewIfNeeded();
  const at = async (across: number, down: number): Promise<[number, number]> => {
    const box = (await canvas.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    return [box.x + across * box.width, box.y + down * box.height];
  };
  let view = await look(page, TEST_IDS.sceneCanvas);
  await page.mouse.move(...(await at(0.5, 0.5)));
  await page.mouse.down();
  await page.mouse.move(...(await at(0.6, 0.55)), { steps: 5 });
  await page.mouse.up();
  view = await changed(page, TEST_IDS.sceneCanvas, view);
  await find(page, TEST_IDS.sceneExaggeration).focus();
  await page.keyboard.press("End");
  await changed(page, TEST_IDS.sceneCanvas, view);
  await page.keyboard.press("Home");
  for (const id of [TEST_IDS.sceneSide, TEST_IDS.sceneFront]) {
    view = await look(page, TEST_IDS.sceneCanvas);
    await find(page, id).click();
    await changed(page, TEST_IDS.sceneCanvas, view);
  }
  await find(page, TEST_IDS.trust).selectOption({ label: "¼ plane" });
  assert.match(
    (await find(page, TEST_IDS.sceneLeftOut).textContent()) ?? "",
    /^Here and in the saved model, (\d+|less than 1) % of the image is left out/,
  );
  assert.equal(strFromU8((await download(page, TEST_IDS.sceneSave)).bytes.subarray(0, 4)), "glTF");
  await find(page, TEST_IDS.sceneRuler).click();
  await page.mouse.click(...(await at(0.45, 0.6)));
  await page.mouse.click(...(await at(0.55, 0.6)));
  await page.waitForFunction(
    (id) => /\d (mm|m)/.test(document.querySelector(`[data-testid="${id}"]`)?.textContent ?? ""),
    TEST_IDS.sceneMeasure,
  );
});

test("the other views open: all in focus, before and after, confidence, the paper's figures", { timeout: 300_000 }, async () => {
  for (const view of ["picture", "compare", "confidence"] as const) {
    await show(page, view);
    await page.locator('[role="tabpanel"]:visible').waitFor();
  }
  await show(page, "figures");
  await find(page, TEST_IDS.figures).waitFor();
});

test(
  "the result as one page opens from a file without any network: depth, all in focus, refocus and 3-D",
  { timeout: 300_000 },
  async (t) => {
    await show(page, "downloads");
    const { name, bytes } = await download(page, `${TEST_IDS.download}page`);
    assert.match(name, /-result\.html$/);
    const folder = mkdtempSync(join(tmpdir(), "dualfocus-page-"));
    const alone = await page.context().browser()?.newContext({ offline: true });
    t.after(async () => {
      await alone?.close();
      rmSync(folder, { recursive: true });
    });
    writeFileSync(join(folder, "result.html"), bytes);
    const tab = await alone?.newPage();
    assert.ok(alone && tab);
    const [asked, failed]: [string[], string[]] = [[], []];
    alone.on("request", (request) => asked.push(request.url()));
    alone.on("weberror", (error) => failed.push(error.error().message));
    alone.on("console", (message) => {
      if (message.type() === "error") failed.push(message.text());
    });
    await tab.goto(pathToFileURL(join(folder, "result.html")).href);
    await find(tab, TEST_IDS.depthCanvas).click();
    assert.match((await find(tab, TEST_IDS.readout).textContent()) ?? "", /Depth[\d.]+ m.*±/);
    for (const [view, id] of [
      ["picture", TEST_IDS.pictureCanvas],
      ["refocus", TEST_IDS.refocusCanvas],
      ["scene", TEST_IDS.sceneCanvas],
    ] as const) {
      await show(tab, view);
      await find(tab, id).waitFor();
    }
    const turned = await look(tab, TEST_IDS.sceneCanvas);
    await find(tab, TEST_IDS.sceneSide).click();
    await changed(tab, TEST_IDS.sceneCanvas, turned);
    assert.deepEqual(
      asked.filter((url) => !/^(file|data|blob):/.test(url)),
      [],
    );
    assert.deepEqual(failed, []);
  },
);

test("nothing was asked of any other origin, and the console stayed clean", () => {
  const origin = new URL(stand.url).origin;
  const outside = requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith(`blob:${origin}/`) && !url.startsWith("data:"));
  assert.deepEqual(outside, []);
  assert.ok(requests.length > 5);
  assert.deepEqual(problems, []);
});
