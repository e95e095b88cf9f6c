import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { parseAlignment } from "../../src/align/alignment.ts";
import { decodeNpy } from "../../src/io/npy.ts";
import { encodePng } from "../../src/io/png.ts";
import type { DepthDocument } from "../../src/depth/node/stackRun.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { runCommand } from "../helpers/command.ts";
import { slantedStack } from "../helpers/texturedStack.ts";
import { warpImage } from "../helpers/warp.ts";

const root = temporaryFolder();
const { stack } = slantedStack({ width: 160, height: 112, planes: 5 });
/** Nearest first; the nearer the focus, the larger the image. */
const planes = stack.images.map((image, n) => warpImage(image, { scale: 1 + 0.006 * (n - 2), angle: 0, shift: [0, 0] }));

/** A folder with the planes in this order, and no distances. */
function folder(name: string, order: readonly number[]): string {
  order.forEach((plane, n) => {
    put(join(root, name, `photo_${n}.png`), encodePng(planes[plane] as (typeof planes)[number]));
  });
  return join(root, name);
}

test("a stack taken far to near gives the depth of the same stack taken near to far; --reverse inverts it", async (context) => {
  const run = async (input: string, ...more: string[]): Promise<{ document: DepthDocument; depth: Float32Array; output: string }> => {
    const output = `${input}${more.join("")} out`;
    const { code, out, err } = await runCommand(context, "depth", input, "-o", output, "--save", "npy", "--json", ...more);
    assert.equal(code, 0, err);
    return {
      document: JSON.parse(out) as DepthDocument,
      depth: decodeNpy(readFileSync(join(output, "depth.npy"))).data as Float32Array,
      output,
    };
  };
  const near = await run(folder("near", [0, 1, 2, 3, 4]));
  const far = await run(folder("far", [4, 3, 2, 1, 0]));
  assert.match(near.document.order.sentence, /^first photo taken as nearest, because the scene appears/);
  assert.match(far.document.order.sentence, /^last photo taken as nearest, because the scene appears/);
  assert.deepEqual(far.document.distances.map(({ file }) => file.slice(-5)), ["4.png", "3.png", "2.png", "1.png", "0.png"]); // prettier-ignore
  assert.deepEqual(far.document.distances.map(({ value }) => value), [0, 1, 2, 3, 4]); // prettier-ignore
  const difference = (one: Float32Array, other: (i: number) => number): number => {
    const known = [...one.keys()].filter((i) => Number.isFinite(one[i]) && Number.isFinite(other(i)));
    return known.reduce((sum, i) => sum + Math.abs((one[i] as number) - other(i)), 0) / known.length;
  };
  assert.ok(difference(near.depth, (i) => far.depth[i] as number) < 0.1);

  const turned = await run(join(root, "near"), "--reverse");
  assert.ok(turned.document.order.reversed);
  assert.ok(difference(near.depth, (i) => 4 - (turned.depth[i] as number)) < 0.3);

  // Saved in the order of the files, so that it fits the same folder again: the last photo appears the largest.
  const scales = parseAlignment(readFileSync(join(far.output, "alignment.json"), "utf8")).frames.map(({ transform }) => transform.scale);
  assert.ok(
    scales.every((scale, n) => n === 0 || scale > (scales[n - 1] as number)),
    scales.join(" "),
  );
  const again = await run(folder("again", [4, 3, 2, 1, 0]), "--align", join(far.output, "alignment.json"));
  assert.deepEqual(again.depth, far.depth);

  const { width, height } = near.document.working;
  assert.ok(width >= 160 && width <= 320 && Math.abs(width / height - 160 / 112) < 0.02, `${width}×${height}`);
});
