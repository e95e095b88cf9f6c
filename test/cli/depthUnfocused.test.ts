import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";

import type { DepthDocument } from "../../src/depth/node/stackRun.ts";
import { decodePngPixels, integers } from "../../src/io/png.ts";
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
