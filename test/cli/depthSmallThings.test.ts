import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";

import type { DepthDocument } from "../../src/depth/node/stackRun.ts";
import { decodeNpy } from "../../src/io/npy.ts";
import { decodePngPixels, encodePng } from "../../src/io/png.ts";
import { OUTPUT_NAMES } from "../../src/output/outputs.ts";
import { decodePageData, type PageData } from "../../src/output/resultPage.ts";
import { createRandom } from "../../src/random.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { assertClose } from "../helpers/close.ts";
import { runCommand } from "../helpers/command.ts";
import { slantedStack } from "../helpers/texturedStack.ts";

const root = temporaryFolder();
const { stack } = slantedStack({ width: 96, height: 64, planes: 5 });

function putStack(...path: string[]): string {
  const folder = join(root, ...path);
  stack.images.forEach((image, n) => {
    put(join(folder, `plane_${n}.png`), encodePng(image));
  });
  return folder;
}

const fast = ["--size", "96", "--align", "off"];

test("--save all writes every output; color.png lies on the photo, with the legend only where asked for", async (context) => {
  const input = putStack("all");
  const run = await runCommand(context, "depth", input, "-o", join(root, "all out"), "--save", "all", "--colors", "near-white", ...fast);
  assert.equal(run.code, 0, run.err);
  assert.match(run.out, /\nthe network saw 96×64 /);
  const document = JSON.parse(readFileSync(join(root, "all out", "result.json"), "utf8")) as DepthDocument;
  assert.deepEqual(Object.keys(document.files), [...OUTPUT_NAMES, "html"]);
  assert.deepEqual(document.working, { width: 96, height: 64 });
  const color = decodePngPixels(readFileSync(join(root, "all out", "color.png")));
  assert.deepEqual([color.width, color.height], [96, 64]);
  const grey = (x: number): number => color.data[(32 * 96 + x) * color.channels] as number;
  assert.ok(grey(10) > grey(86) + 100, "near is bright"); // the plane recedes from left to right

  const again = await runCommand(context, "depth", input, "-o", join(root, "legend"), "--save", "color", "--legend", ...fast);
  assert.equal(again.code, 0, again.err);
  assert.ok(decodePngPixels(readFileSync(join(root, "legend", "color.png"))).height > 64);
});

test("--save html writes one page that holds the result and asks for nothing", async (context) => {
  const output = join(root, "page");
  const run = await runCommand(context, "depth", putStack("beetle"), "-o", output, "--save", "html,npy", ...fast);
  assert.equal(run.code, 0, run.err);
  assert.deepEqual(readdirSync(output).sort(), ["depth.npy", "result.html", "result.json"]);
  const page = readFileSync(join(output, "result.html"), "utf8");
  assert.match(page, /<title>beetle: depth from focus<\/title>/);
  assert.match(page, /content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"/);
  const data = JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? "") as PageData;
  assert.deepEqual([data.planes, data.focusDistances.length, data.width, data.height], [stack.images.length, stack.images.length, 96, 64]);
  const { values } = decodePageData(data).depth;
  const saved = decodeNpy(readFileSync(join(output, "depth.npy"))).data as Float32Array;
  const [least, greatest] = [Math.min(...saved), Math.max(...saved)];
  assertClose(values, saved, (greatest - least) / 65000);
  const { width, height } = await sharp(Buffer.from(data.picture.split(",")[1] ?? "", "base64")).metadata();
  assert.deepEqual([width, height], [96, 64]);
});

test("--unit cm reads centimetres, and lengths are printed in the unit that was asked for, or that they were given in", async (context) => {
  const input = putStack("lengths");
  const args = (unit: string, output: string): string[] => ["depth", input, "--distances", "10,20,30,40,50", "--unit", unit, "-o", join(root, output), "--save", "npy", ...fast]; // prettier-ignore
  const cm = await runCommand(context, ...args("cm", "cm out"));
  assert.match(cm.out, /; depth 1\d\.\d+ to 4\d\.\d+ cm, ±/, cm.err);
  const mm = await runCommand(context, ...args("mm", "mm out"));
  assert.match(mm.out, /; depth 1\d\.\d+ to 4\d\.\d+ mm, ±/, mm.err);
  put(join(putStack("in metres"), "stack.json"), JSON.stringify({ unit: "m", focus: [0.1, 0.2, 0.3, 0.4, 0.5] }));
  const asked = await runCommand(context, "depth", join(root, "in metres"), "--unit", "cm", "-o", join(root, "asked out"), "--save", "npy", ...fast); // prettier-ignore
  assert.match(asked.out, /; depth 1\d\.\d+ to 4\d\.\d+ cm, ±/, asked.err);
  const { range, unit } = JSON.parse(readFileSync(join(root, "cm out", "result.json"), "utf8")) as DepthDocument;
  assert.equal(unit, "m");
  assert.ok(range && range[0] > 0.1 && range[1] < 0.5);
});

test("several folders are several stacks, and a folder of folders suggests --batch", async (context) => {
  const [one, two] = [putStack("many", "one"), putStack("many", "two")];
  const { code, out, err } = await runCommand(context, "depth", one, two, "-o", join(root, "many out"), "--save", "npy", ...fast);
  assert.equal(code, 0, err);
  assert.match(out, /^stack +status .*\none +done .*\ntwo +done /);
  assert.deepEqual(readdirSync(join(root, "many out")).sort(), ["one", "two"]);
  assert.ok(existsSync(join(root, "many out", "two", "depth.npy")));
  const lost = await runCommand(context, "depth", join(root, "many"), "-o", join(root, "lost"));
  assert.equal(lost.code, 3);
  assert.match(lost.err, /no images in it, but 2 folders \(one, two\)\n {2}add --batch if each of them is a stack/);
  const twins = await runCommand(context, "depth", one, putStack("other", "one"));
  assert.deepEqual([twins.code, /two of the folders are called one/.test(twins.err)], [2, true]);
});

test("--json prints a document for an error, too", async (context) => {
  const { code, out } = await runCommand(context, "depth", join(root, "nowhere"), "--json", "--quiet");
  const { error } = JSON.parse(out) as { error: { code: string; message: string; remedy: string; exitCode: number } };
  assert.deepEqual([error.code, error.exitCode, code], ["file-not-found", 3, 3]);
  assert.match(error.message, /nowhere/);
  assert.ok(error.remedy.length > 5);
  const batch = await runCommand(context, "depth", join(root, "nowhere"), "--batch", "--json", "--quiet");
  assert.match((JSON.parse(batch.out) as { error: { message: string } }).error.message, /nowhere/);
});

test("images without a change of focus get no range and no confidence, and a line that says so", async (context) => {
  const folder = join(root, "alike");
  for (const n of [0, 1, 2]) put(join(folder, `plane_${n}.png`), encodePng(stack.images[2] as (typeof stack.images)[number]));
  const output = join(root, "alike out");
  const args = ["--distances", "0.4,0.5,0.7", "--save", "confidence,error", ...fast];
  const run = await runCommand(context, "depth", folder, "-o", output, ...args);
  assert.equal(run.code, 0, run.err);
  assert.match(run.out, /^3 planes, 96×64; no focus change found\n/);
  assert.doesNotMatch(run.out, /too little to measure/); // it would sound as if the rest had been measured
  assert.match(run.err, /warning: no focus change found: .* depth is unknown\n {2}move the focus/);
  const { expectedError, findings } = JSON.parse(readFileSync(join(output, "result.json"), "utf8")) as DepthDocument;
  assert.ok(findings.some(({ code }) => code === "no-focus-change"));
  assert.ok(Math.abs((expectedError ?? 0) - 0.15) < 1e-6, `half of 0.4 to 0.7 m, got ${expectedError}`);
  assert.ok(decodePngPixels(readFileSync(join(output, "confidence.png"))).data.every((value) => value === 0));
});

test("nor do plain grey, black and pure noise", async (context) => {
  const random = createRandom(9);
  const kinds = { grey: () => 0.5, black: () => 0, noise: () => random.uniform() };
  for (const [kind, value] of Object.entries(kinds)) {
    const folder = join(root, kind);
    const frame = stack.images[0] as (typeof stack.images)[number];
    for (const n of [0, 1, 2]) put(join(folder, `plane_${n}.png`), encodePng({ ...frame, data: frame.data.map(value) }));
    const run = await runCommand(context, "depth", folder, "-o", join(root, `${kind} out`), "--save", "confidence", ...fast);
    assert.match(run.out, /^3 planes, 96×64; no focus change found\n/, kind);
    const { data } = decodePngPixels(readFileSync(join(root, `${kind} out`, "confidence.png")));
    assert.ok(data.every((each) => each === 0), kind); // prettier-ignore
  }
});

test("with two images nobody is sent beyond them: a third between them is advised", async (context) => {
  const input = putStack("two");
  const two = [1, 3].map((n) => join(input, `plane_${n}.png`));
  const run = await runCommand(context, "depth", ...two, "-o", join(root, "two out"), "--save", "npy", ...fast);
  assert.equal(run.code, 0, run.err);
  assert.match(
    run.out,
    /at the (first|last) plane.*two planes hardly measure the depth between them; a third image, focused between them, would help\)/,
  );
  assert.doesNotMatch(run.out, /beyond that plane/);
});
