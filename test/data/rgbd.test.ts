import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openDataset } from "../../src/data/open.ts";
import { put, putDepthMm, putPicture, temporaryFolder } from "./files.ts";

const root = temporaryFolder();
const size = { width: 20, height: 10 };

interface BadPair {
  readonly mm?: (x: number, y: number) => number;
  readonly depthSize?: { readonly width: number; readonly height: number };
  readonly focus?: "linear" | "adaptive";
}

/** What reading a nyu pair with this depth says after the names of its two files. */
async function complaint({ mm = (x) => 1000 + x, depthSize = size, focus = "linear" }: BadPair): Promise<string> {
  const [rgb, depth] = [join(root, "rgb", "kitchen.png"), join(root, "depth_mm", "kitchen.png")];
  await putPicture(rgb, size, (x, y) => 9 * x + y);
  putDepthMm(depth, depthSize, mm);
  const dataset = await openDataset("nyu", root, { planes: 3, focus });
  const failure: unknown = await dataset.sample(0).then(
    () => new Error("it was read"),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof Error && failure.name === "DatasetError", String(failure));
  const where = `${rgb} with ${depth}: `;
  assert.ok(failure.message.startsWith(where), failure.message);
  return failure.message.slice(where.length);
}

test("a pair that no stack can be made of is told with both files and what is wrong with it", async () => {
  assert.equal(await complaint({ mm: () => 2000 }), "the depth is 2 m everywhere, so no 3 focus distances follow from it");
  assert.equal(await complaint({ mm: () => 0 }), "no pixel of the depth is valid; it runs from 0 m to 0 m");
  assert.equal(await complaint({ mm: (x) => 20000 + x }), "no pixel of the depth is valid; it runs from 20 m to 20.02 m");
  const depthSize = { width: 10, height: 5 };
  assert.equal(await complaint({ depthSize }), "the image is 20×10 but its depth 10×5; they must match pixel by pixel");
  const spot = (x: number, y: number): number => (x === 10 && y === 5 ? 3000 : 2000);
  const nearly = "the depth is nearly the same everywhere, between 2 m and 3 m, so no 3 focus distances follow from it";
  assert.equal(await complaint({ mm: spot, focus: "adaptive" }), nearly);
  assert.match(await complaint({ mm: (x) => 20 + x }), /a lens of 50 mm cannot focus at 0\.02\d* m/);
});

test("arkit names its pair, too", async () => {
  const video = join(root, "arkit", "Validation", "1");
  await putPicture(join(video, "wide", "a.png"), { width: 8, height: 6 });
  putDepthMm(join(video, "highres_depth", "a.png"), { width: 8, height: 6 }, () => 0);
  const dataset = await openDataset("arkit", join(root, "arkit"));
  await assert.rejects(dataset.sample(0), /wide\/a\.png with .*highres_depth\/a\.png: no pixel of the depth is valid/);
});

test("the adaptive protocol says that its field of view is one for all images", async () => {
  put(join(root, "view", "rgb", "a.png"), "");
  put(join(root, "view", "depth_mm", "a.png"), "");
  const { protocol } = await openDataset("nyu", join(root, "view"), { focus: "adaptive" });
  assert.match(protocol, /31 mm lens \(60° of view, not each image's camera matrix as in FOSSA\)/);
});
