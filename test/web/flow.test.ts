import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
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

test("the surface turns under the mouse, stretches, and is measured between two points", { timeout: 300_000 }, async () => {
  await show(page, "scene");
  const canvas = find(page, TEST_IDS.sceneCanvas);
  await canvas.waitFor();
  await canvas.scrollIntoViewIfNeeded();
  const box = (await canvas.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const at = (across: number, down: number): [number, number] => [box.x + across * box.width, box.y + down * box.height];
  let view = await look(page, TEST_IDS.sceneCanvas);
  await page.mouse.move(...at(0.5, 0.5));
  await page.mouse.down();
  await page.mouse.move(...at(0.6, 0.55), { steps: 5 });
  await page.mouse.up();
  view = await changed(page, TEST_IDS.sceneCanvas, view);
  await find(page, TEST_IDS.sceneExaggeration).focus();
  await page.keyboard.press("End");
  await changed(page, TEST_IDS.sceneCanvas, view);
  await page.keyboard.press("Home");
  await find(page, TEST_IDS.sceneRuler).click();
  await page.mouse.click(...at(0.45, 0.6));
  await page.mouse.click(...at(0.55, 0.6));
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

test("nothing was asked of any other origin, and the console stayed clean", () => {
  const origin = new URL(stand.url).origin;
  const outside = requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith(`blob:${origin}/`) && !url.startsWith("data:"));
  assert.deepEqual(outside, []);
  assert.ok(requests.length > 5);
  assert.deepEqual(problems, []);
});
