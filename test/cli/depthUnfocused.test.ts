import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";

import type { DepthDocument } from "../../src/depth/node/stackRun.ts";
import { encodeNpy } from "../../src/io/npy.ts";
import { decodePngPixels, encodePng, integers } from "../../src/io/png.ts";
import { createRandom } from "../../src/random.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { runCommand } from "../helpers/command.ts";
import { texture } from "../helpers/texturedStack.ts";

const root = temporaryFolder();
const picture = texture({ width: 192, height: 128 });
/** Below a plain strip. */
const faint = { ...picture, data: picture.data.map((value, i) => (i < 24 * 192 * 3 ? 0.5 : 0.5 + 0.3 * (value - 0.5))) };

const saved = (output: string): DepthDocument => JSON.parse(readFileSync(join(output, "result.json"), "utf8")) as DepthDocument;
const isWithout = ({ findings }: DepthDocument): boolean => findings.some(({ code }) => code === "no-focus-change");

test("that no focus change was found stands, however large the network sees the photos: one photo in five qualities of JPEG", async (context) => {
  const folder = join(root, "jpeg");
  for (const [n, quality] of [95, 92, 90, 88, 85].entries()) {
    const raw = { width: faint.width, height: faint.height, channels: 3 } as const;
    put(join(folder, `photo_${n}.jpg`), await sharp(integers(faint.data, 8), { raw }).jpeg({ quality }).toBuffer());
  }
  const output = join(root, "jpeg out");
  const run = await runCommand(context, "depth", folder, "-o", output, "--save", "confidence");
  assert.equal(run.code, 0, run.err);
  const document = saved(output);
  assert.equal(document.working.width, 384, "interpolated, where it looked like a change of focus");
  assert.match(run.err, /warning: no focus change found/);
  assert.match(run.out, /^5 planes, 192×128; no focus change found\n/);
  assert.ok(isWithout(document));
  assert.ok(decodePngPixels(readFileSync(join(output, "confidence.png"))).data.every((value) => value === 0));
});

/** Five files of a stack: what is at each place in each of them. */
function putImages(name: string, valueAt: (i: number, plane: number) => number): string {
  const folder = join(root, name);
  for (const plane of [0, 1, 2, 3, 4])
    put(join(folder, `img_${plane}.png`), encodePng({ ...small, data: small.data.map((_, i) => valueAt(i, plane)) }));
  return folder;
}
const small = texture({ width: 96, height: 64 });

test("what cannot be aligned as it shows nothing needs no alignment: grey, black, white and noise give no range and confidence 0", async (context) => {
  const random = createRandom(9);
  const kinds = { grey: () => 0.5, black: () => 0, white: () => 1, noise: () => 0.5 + 0.05 * random.normal() };
  for (const [kind, valueAt] of Object.entries(kinds)) {
    const folder = putImages(kind, valueAt);
    const output = join(root, `${kind} out`);
    const { code, out, err } = await runCommand(context, "depth", folder, "-o", output, "--save", "confidence", "--size", "96", "--json");
    assert.equal(code, 0, `${kind}: ${err}`);
    const document = JSON.parse(out) as DepthDocument;
    assert.deepEqual([document.planes, document.focusChange, document.range], [5, false, null], kind);
    assert.deepEqual(document.aligned, { mode: "off", reason: "the images show too little to be aligned" });
    const codes = document.findings.map((finding) => finding.code);
    assert.deepEqual(codes, kind === "noise" ? ["no-focus-change", "missing-distances"] : ["blank-frame", "no-focus-change", "missing-distances"]); // prettier-ignore
    assert.doesNotMatch(err, /could be aligned|--align|order|same|remove/, kind);
    assert.match(err, /warning: no focus change found/);
    assert.ok(decodePngPixels(readFileSync(join(output, "confidence.png"))).data.every((value) => value === 0));
  }
});

test("blank images are a warning of a run that succeeds, and an error of the check, which fails", async (context) => {
  const folder = putImages("plain", () => 0.5);
  const depth = await runCommand(context, "depth", folder, "-o", join(root, "plain out"), "--size", "96");
  assert.equal(depth.code, 0, depth.err);
  assert.match(depth.err, /^warning: all 5 images are blank \(grey\)\n {2}take them again, of something with texture\n/m);
  assert.doesNotMatch(depth.err, /error/);
  const check = await runCommand(context, "check", folder);
  assert.equal(check.code, 3);
  assert.match(check.out, /\nErrors\n {2}all 5 images are blank \(grey\) \[blank-frame\]\n/);
  assert.match(check.err, /dualfocus: .*one error must be fixed first\n/);
});

test("photos of different scenes still cannot be aligned, and are named by their files", async (context) => {
  const scenes = [0, 1, 2, 3, 4].map((seed) => texture({ width: 96, height: 64, seed: 50 + seed }));
  const folder = putImages("strangers", (i, plane) => scenes[plane]?.data[i] as number);
  const { code, err } = await runCommand(context, "depth", folder, "-o", join(root, "strangers out"), "--size", "96");
  assert.equal(code, 4);
  assert.match(err, /only 1 of 5 frames could be aligned; img_\d\.png: it /);
  assert.doesNotMatch(err, /plane \d|no focus change/);
});

test("without a change of focus nothing else pretends that there is depth: range, order, beyond, filled, models, the page, errors", async (context) => {
  const folder = putImages("same", (i) => small.data[i] as number);
  const output = join(root, "same out");
  const truth = join(root, "truth.npy");
  put(truth, encodeNpy({ shape: [64, 96], data: new Float32Array(96 * 64).fill(2) }));
  const args = ["--save", "depth16,depth,color,filled,beyond,ply,glb,html", "--truth", truth, "--size", "96"];
  const { code, out, err } = await runCommand(context, "depth", folder, "-o", output, ...args);
  assert.equal(code, 0, err);
  const { focusChange, range, validFraction, errors, filled, beyond, findings, notes, order } = saved(output);
  assert.deepEqual([focusChange, range, validFraction, errors, filled, beyond], [false, null, 0, undefined, 0, { nearer: 0, farther: 0 }]);
  assert.deepEqual(order.planes, [0, 1, 2, 3, 4]);
  for (const [name, none] of Object.entries({ "depth16.png": 0, "color.png": 0, "filled.png": 64, "beyond.png": 0 }))
    assert.ok(decodePngPixels(readFileSync(join(output, name))).data.every((value) => value === none), name); // prettier-ignore
  assert.deepEqual(notes, [
    "points.ply has no points: no depth has a confidence of 0.2 or more",
    "mesh.glb is not written: no depth has a confidence of 0.2 or more",
  ]);
  assert.ok(notes.every((note) => err.includes(`${note}\n`)));
  assert.ok(!existsSync(join(output, "mesh.glb")));
  assert.match(readFileSync(join(output, "result.html"), "utf8"), /"facts":"No focus change found, so depth is unknown\. Depth from 5/);

  assert.match(out, /^5 planes, 96×64; no focus change found\nthe network saw 96×64 \(--size\)\n.*: written/);
  assert.doesNotMatch(out, /nearest|truth|at the last plane|too little to measure/);
  assert.deepEqual(findings.map((finding) => finding.code), ["duplicate", "no-focus-change", "missing-distances"]); // prettier-ignore
  assert.match(err, /warning: all 5 images are the same\n {2}take one for each focus distance\n/);
  assert.doesNotMatch(err, /order|remove|nearest/);
});
