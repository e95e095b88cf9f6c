import assert from "node:assert/strict";
import { test } from "node:test";

import { edgesOfImage, enlargeDepth } from "../../src/depth/edges.ts";
import { fillDepth } from "../../src/depth/fill.ts";
import { finishDepth, type Finishable } from "../../src/depth/finish.ts";
import { withoutGrain } from "../../src/depth/grain.ts";
import { depthMap, type Space } from "../../src/image/depthMap.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

const [WIDTH, HEIGHT] = [32, 24];
const size = { width: WIDTH, height: HEIGHT };
const across = (at: (x: number) => number): Float32Array => Float32Array.from({ length: WIDTH * HEIGHT }, (_, i) => at(i % WIDTH));
const random = createRandom(8);

/** 1.5 dpt before 0.5 dpt, grainy; the picture has its edge two pixels farther right, and from column 25 on nothing is founded. */
const dioptres = across((x) => (x < 16 ? 1.5 : 0.5) + 0.05 * random.uniform());
const error = across((x) => (x < 16 ? 0.1 : 0.2));
const maps = {
  allInFocus: { ...size, channels: 1 as const, data: across((x) => (x < 18 ? 0.8 : 0.2)) },
  confidence: across((x) => (x < 16 ? 0.96 : 0.86)),
  unfounded: across((x) => (x > 24 ? 1 : 0)),
  unrest: across(() => 0.2),
};

const inverse = (values: Float32Array): Float32Array => values.map((value) => 1 / value);
const estimateIn = (space: Space): Finishable => {
  const isMetric = space === "depth";
  return {
    ...maps,
    depth: depthMap({ ...size, values: isMetric ? inverse(dioptres) : dioptres, space }),
    error: isMetric ? error.map((each, i) => each / (dioptres[i] as number) ** 2) : error,
  };
};

test("finished depth has its edges moved, then its plain areas filled, then its grain smoothed; each step shows where it belongs", () => {
  const estimate = estimateIn("disparity");
  const [row, values] = [12 * WIDTH, finishDepth(estimate).depth.values];
  const edges = edgesOfImage(estimate);
  const { depth, filled } = fillDepth({ ...estimate, depth: edges });
  assert.deepEqual(finishDepth(estimate), { depth: withoutGrain({ depth, error }), filled });

  // Column 16, measured as what lies behind, looks like what is in front: only the first step moves it there.
  assert.ok((dioptres[row + 16] as number) < 0.6 && (values[row + 16] as number) > 1.4);
  // Far from the edge and founded: only grain is smoothed.
  const spread = (of: Float32Array): number => Math.max(...of.slice(row + 4, row + 12)) - Math.min(...of.slice(row + 4, row + 12));
  assert.deepEqual(depth.values.slice(row, row + 12), dioptres.slice(row, row + 12));
  assert.ok(spread(values) < 0.9 * spread(dioptres));
  // Unfounded: smooth already before its grain could be.
  const unrest = (of: Float32Array): number =>
    Math.max(...[27, 28, 29].map((x) => Math.abs((of[row + x] as number) - (of[row + x - 1] as number))));
  assert.deepEqual([filled[row + 24], filled[row + 25]], [0, 1]);
  assert.ok(unrest(depth.values) < 0.5 * unrest(dioptres));
});

test("what not every frame covers counts neither at edges nor in what is filled, and is carried in itself", () => {
  const estimate = estimateIn("index");
  const covered = Uint8Array.from({ length: WIDTH * HEIGHT }, (_, i) => Number(i % WIDTH > 3));
  const wild = {
    ...estimate,
    depth: { ...estimate.depth, values: estimate.depth.values.map((value, i) => (covered[i] === 0 ? 50 : value)) },
  };
  const { depth, filled } = finishDepth(wild, covered);
  for (let i = 0; i < depth.values.length; i++) {
    assert.ok(Math.abs((depth.values[i] as number) - 1) < 0.6, `${i % WIDTH}: ${depth.values[i]}`);
    if (covered[i] === 0) assert.equal(filled[i], 0);
  }
});

test("where no frame covers anything, depth stays what it was", () => {
  for (const space of ["depth", "index"] as const) {
    const estimate = { ...estimateIn(space), error: new Float32Array(WIDTH * HEIGHT) }; // without grain
    const { depth, filled } = finishDepth(estimate, new Uint8Array(WIDTH * HEIGHT));
    assert.ok(filled.every((each) => each === 0));
    assertClose(depth.values, estimate.depth.values, 1e-7); // which are twice inverted where they are metres
  }
});

test("a stack is finished alike in metres and in dioptres, in full size too", () => {
  const photo = { width: 2 * WIDTH, height: 2 * HEIGHT, channels: 1 as const };
  const data = Float32Array.from({ length: 4 * WIDTH * HEIGHT }, (_, i) => (i % photo.width < 37 ? 0.8 : 0.2));
  const finishedIn = (space: "depth" | "disparity"): readonly Float32Array[] => {
    const estimate = estimateIn(space);
    const { depth } = finishDepth(estimate);
    const both = [depth.values, enlargeDepth(depth, estimate, { ...photo, data })];
    return space === "depth" ? both.map(inverse) : both;
  };
  const [inDioptres, inMetres] = [finishedIn("disparity"), finishedIn("depth")];
  assertClose(inMetres[0] as Float32Array, inDioptres[0] as Float32Array, 1e-5);
  assertClose(inMetres[1] as Float32Array, inDioptres[1] as Float32Array, 1e-5);
});
