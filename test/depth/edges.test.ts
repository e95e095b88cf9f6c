import assert from "node:assert/strict";
import { test } from "node:test";

import { createStackFusion } from "../../src/depth/allInFocus/stackFusion.ts";
import { edgesOfImage, enlargeDepth } from "../../src/depth/edges.ts";
import { finishDepth } from "../../src/depth/finish.ts";
import { estimateDepth } from "../../src/depth/estimate.ts";
import { fullSize, type FullSizeOptions } from "../../src/depth/fullSize.ts";
import { openRendered } from "../../src/evaluate/renderedSet.ts";
import { measureImage } from "../../src/evaluate/imageMetrics.ts";
import { createRenderer } from "../../src/cli/renderHost.ts";
import { depthMap } from "../../src/image/depthMap.ts";
import type { Image, Size } from "../../src/image/image.ts";
import { resize } from "../../src/image/resize.ts";
import { enlarge } from "../../src/image/upsample.ts";
import { boundaryF1 } from "../../src/metrics/boundary.ts";
import { openNetwork } from "../../src/network/node/openNetwork.ts";
import type { DepthResult } from "../../src/output/result.ts";
import { createRandom } from "../../src/random.ts";
import { arraySource } from "../helpers/arraySource.ts";
import { assertClose } from "../helpers/close.ts";

const [WIDTH, HEIGHT] = [40, 24];
type At = (x: number, y: number) => number;
const across = (at: At): Float32Array => Float32Array.from({ length: WIDTH * HEIGHT }, (_, i) => at(i % WIDTH, Math.floor(i / WIDTH)));
const picture = (...channels: readonly At[]): Image => ({
  width: WIDTH,
  height: HEIGHT,
  channels: channels.length as 1 | 3,
  data: Float32Array.from({ length: WIDTH * HEIGHT * channels.length }, (_, k) => {
    const i = Math.floor(k / channels.length);
    return (channels[k % channels.length] as At)(i % WIDTH, Math.floor(i / WIDTH));
  }),
});

/** A stack of plane indices: expected errors in planes are in the unit of the depth. */
const estimateOf = (depth: At, allInFocus: Image, error: At = () => 0.1) => ({
  depth: depthMap({ width: WIDTH, height: HEIGHT, values: across(depth), space: "index" }),
  error: across(error),
  confidence: across((x, y) => 1 / (1 + (2 * error(x, y)) ** 2)),
  allInFocus,
});

/** From plane 1 to plane 3 over four columns, in the middle of which the image has its edge. */
const ramp: At = (x) => 1 + (2 * Math.min(Math.max(x - 18, 0), 3)) / 3;
const isRight: At = (x) => Number(x >= 20);

test("a soft depth edge becomes a step where the image has its edge", () => {
  const { values } = edgesOfImage(estimateOf(ramp, picture(isRight)));
  assert.deepEqual(
    values,
    across((x) => (x < 20 ? 1 : 3)),
  );
});

test("the edge may be one of colour alone, and its contrast does not matter", () => {
  const isoluminant = picture(
    (x, y) => 0.5 + 0.01 * isRight(x, y),
    () => 0.5,
    (x, y) => 0.5 - 0.01 * isRight(x, y),
  );
  const { values } = edgesOfImage(estimateOf(ramp, isoluminant));
  assert.deepEqual(
    values,
    across((x) => (x < 20 ? 1 : 3)),
  );
});

test("depth that changes by less than the expected error is untouched, to the bit", () => {
  const random = createRandom(3);
  const noisy = across(() => random.uniform());
  const doubtful = estimateOf(ramp, picture(isRight), () => (2 + 0.002) / 1.5);
  const depth = { ...doubtful.depth, values: doubtful.depth.values.map((value, i) => value + 1e-3 * (noisy[i] as number)) };
  assert.deepEqual(edgesOfImage({ ...doubtful, depth }).values, depth.values);
  const { values } = edgesOfImage(estimateOf(ramp, picture(isRight), () => 1));
  assert.notDeepEqual(values, across(ramp));
  for (let i = 0; i < values.length; i++)
    if (ramp((i % WIDTH) - 2, 0) === ramp((i % WIDTH) + 2, 0)) assert.equal(values[i], ramp(i % WIDTH, 0));
});

test("what is an edge for the surest depth within two pixels is one for the doubtful depths beside it", () => {
  const doubtful: At = (x) => (x < 18 ? 0.1 : 2);
  const { values } = edgesOfImage(estimateOf(ramp, picture(isRight), doubtful));
  for (const x of [18, 19]) assert.equal(values[12 * WIDTH + x], 1, String(x)); // column 17 is sure
  for (const x of [20, 21]) assert.equal(values[12 * WIDTH + x], Math.fround(ramp(x, 12)), String(x));
});

test("a jump of less than a quarter of a plane is no edge, however small the expected error", () => {
  const [sure, of] = [
    () => 0.05,
    (height: number): At =>
      (x) =>
        1 + (height * (ramp(x, 0) - 1)) / 2,
  ] as const;
  const low = estimateOf(of(0.24), picture(isRight), sure);
  assert.deepEqual(edgesOfImage(low).values, low.depth.values);
  const high = estimateOf(of(0.26), picture(isRight), sure);
  assert.deepEqual(
    edgesOfImage(high).values,
    across((x) => Math.fround(1 + 0.26 * isRight(x, 0))),
  );
});

test("depth without any expected error has its edges moved, too", () => {
  const { values } = edgesOfImage(estimateOf(ramp, picture(isRight), () => 0));
  assert.deepEqual(
    values,
    across((x) => (x < 20 ? 1 : 3)),
  );
});

test("depth that not every frame covers counts nothing, however sure it is, and stays what it is", () => {
  const step: At = (x) => (x < 20 ? 1 : 3);
  const sureRight: At = (x) => (x < 20 ? 1.2 : 0.05); // without `covered` it would move the edge by two columns, as below
  const covered = Uint8Array.from({ length: WIDTH * HEIGHT }, (_, i) => Number(i % WIDTH < 20));
  const { values } = edgesOfImage(
    estimateOf(
      step,
      picture(() => 0.5),
      sureRight,
    ),
    covered,
  );
  assert.deepEqual(values, across(step));
});

test("where the image shows no edge, the depth edge stays where it is, and sure pixels outweigh doubtful ones", () => {
  const plain = picture(() => 0.5);
  const step: At = (x) => (x < 20 ? 1 : 3);
  assert.deepEqual(edgesOfImage(estimateOf(step, plain)).values, across(step));
  const doubtful: At = (x) => (x < 20 ? 1.2 : 0.05); // 1/√e is 4.9 times as much on the right: at column 18, (0.61 + 0.32) · 4.9 there against 3.7 on the left; at 17, 0.32 · 4.9 against 4.3
  const { values } = edgesOfImage(estimateOf(step, plain, doubtful));
  assert.deepEqual(
    values,
    across((x) => (x < 18 ? 1 : 3)),
  );
});

test("every depth is one of those in its 7×7 pixels, and a mirrored stack gives the mirrored depth", () => {
  const random = createRandom(11);
  const [colours, depths, errors] = [0, 1, 2].map(() => across(() => random.uniform())) as [Float32Array, Float32Array, Float32Array];
  const of =
    (values: Float32Array, mirrored: boolean, factor = 1): At =>
    (x, y) =>
      factor * (values[y * WIDTH + (mirrored ? WIDTH - 1 - x : x)] as number);
  const found = (mirrored: boolean): Float32Array =>
    edgesOfImage(estimateOf(of(depths, mirrored, 4), picture(of(colours, mirrored)), of(errors, mirrored, 0.5))).values;
  const [values, mirrored] = [found(false), found(true)];
  for (let y = 0, i = 0; y < HEIGHT; y++)
    for (let x = 0; x < WIDTH; x++, i++) {
      assert.equal(mirrored[y * WIDTH + WIDTH - 1 - x], values[i], `${x}, ${y}`);
      const near = across((u, v) =>
        Math.abs(u - x) <= 3 && Math.abs(v - y) <= 3 ? Math.fround(4 * (depths[v * WIDTH + u] as number)) : NaN,
      );
      assert.ok(near.includes(values[i] as number), `${x}, ${y}: ${values[i]} is not a depth near it`);
    }
});

/** The depth step of the small image at column 20, and a photo that has its edge `edge` photo pixels from the left. */
const enlarged = ({ width, height }: Size, edge: number, depth: At = (x) => (x < 20 ? 1 : 3)) => {
  const size = { width, height, channels: 1 as const };
  const photo: Image = { ...size, data: Float32Array.from({ length: width * height }, (_, i) => Number(i % width >= edge)) };
  const estimate = {
    ...estimateOf(
      depth,
      picture((x) => Math.min(Math.max(x + 1 - (edge * WIDTH) / width, 0), 1)),
    ),
  };
  return { estimate, photo, values: enlargeDepth(estimate.depth, estimate, photo) };
};

test("enlarged, a depth edge lies on that pixel of the photo where the photo has it", () => {
  for (const edge of [76, 78, 80, 82, 83]) {
    const { values, photo } = enlarged({ width: 4 * WIDTH, height: 4 * HEIGHT }, edge);
    assert.deepEqual(
      values,
      photo.data.map((isRightOf) => 1 + 2 * isRightOf),
      `${edge}`,
    );
  }
});

test("enlarged by any factor, every pixel at an edge has a depth of the small map, and other depth is interpolated", () => {
  const slope: At = (x) => (x < 20 ? 1 : 3) + 0.001 * x;
  const size = { width: 97, height: 53 };
  const { values, estimate } = enlarged(size, 48, slope);
  const [measured, interpolated] = [new Set(estimate.depth.values), enlarge(estimate.depth, size)];
  for (let i = 0; i < values.length; i++) {
    const column = Math.floor((((i % size.width) + 0.5) * WIDTH) / size.width);
    if (column >= 19 && column <= 20) assert.ok(measured.has(values[i] as number), `${i % size.width}: ${values[i]}`);
    else assert.equal(values[i], interpolated[i]);
  }
});

test("enlarged, grain of the photo leaves no teeth along an outline", () => {
  const factor = 4;
  const size = { width: factor * WIDTH, height: factor * HEIGHT, channels: 1 as const };
  const random = createRandom(17);
  const edge = 80;
  const clean = Float32Array.from({ length: size.width * size.height }, (_, i) => Number(i % size.width >= edge));
  const grainy = clean.map((value) => value + 0.5 * random.normal());
  const estimate = estimateOf((x) => (x < 20 ? 1 : 3), picture(isRight));
  const values = enlargeDepth(estimate.depth, estimate, { ...size, data: grainy });
  let [wrong, astray] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    if (values[i] !== 1 + 2 * (clean[i] as number)) wrong += 1;
    if (values[i] !== 1 + 2 * (clean[i] as number) && Math.abs((i % size.width) + 0.5 - edge) > 2) astray += 1;
  }
  assert.equal(astray, 0, "no pixel more than two from the outline is on its other side");
  assert.ok(wrong < 0.5 * size.height, `${wrong} pixels on the other side along ${size.height} rows`);
});

test("a wall that recedes in metres stays plane when it is enlarged: its dioptres rise evenly", () => {
  const photo: Image = { width: 3 * WIDTH, height: 2 * HEIGHT, channels: 1, data: new Float32Array(6 * WIDTH * HEIGHT).fill(0.5) };
  const dioptres = (x: number): number => 2 - 0.045 * x;
  const measured = estimateOf(
    (x) => 1 / dioptres(x),
    picture(() => 0.5),
    () => 10,
  ); // so doubtful that nothing is an edge
  const wall = { ...measured, depth: { ...measured.depth, space: "depth" as const } };
  const values = enlargeDepth(wall.depth, wall, photo);
  const expected = values.map((_, i) => 1 / dioptres(Math.min(Math.max(((i % photo.width) + 0.5) / 3 - 0.5, 0), WIDTH - 1)));
  assertClose(values, expected, 1e-6);
});

test("a photo smaller than the depth map has the depth of its own colours at edges", () => {
  const { values, photo } = enlarged({ width: WIDTH / 2, height: HEIGHT / 2 }, 10);
  assert.deepEqual(
    values,
    photo.data.map((isRightOf) => 1 + 2 * isRightOf),
  );
});

test("on rendered scenes the finished depth has the better boundaries, and the smaller error", async (context) => {
  const set = await openRendered({ planes: 5, scenes: 4, createRenderer });
  const network = await openNetwork("small", { device: "cpu", threads: 1 });
  context.after(() => network.dispose());
  for (let i = 0; i < set.size; i++) {
    const sample = await set.sample(i);
    const estimate = await estimateDepth(sample.stack, { network });
    const { depth: finished } = finishDepth(estimate);
    const { boundaryF1, boundaryF1Finished, rmsePlanes, rmsePlanesFinished } = measureImage(
      sample,
      { ...estimate, finished },
      (pair) => pair,
    );
    context.diagnostic(`${sample.name}: F1 ${boundaryF1} → ${boundaryF1Finished}, RMSE ${rmsePlanes} → ${rmsePlanesFinished} planes`);
    assert.ok(boundaryF1Finished > 1.04 * boundaryF1);
    assert.ok(rmsePlanesFinished < 1.01 * rmsePlanes);
  }
});

test("in full size the finished depth has the photo's edges; what is not finished is interpolated", async (context) => {
  const set = await openRendered({ planes: 5, scenes: 1, size: 384, createRenderer });
  const network = await openNetwork("small", { device: "cpu", threads: 1 });
  context.after(() => network.dispose());
  const { stack, trueDepth } = await set.sample(0);
  const [size, small] = [trueDepth, { width: 192, height: 192, filter: "linear" } as const];
  const estimate = await estimateDepth({ ...stack, images: stack.images.map((image) => resize(image, small)) }, { network });
  const finished = finishDepth(estimate);
  const run = (options: Pick<FullSizeOptions, "finished">): Promise<DepthResult> =>
    fullSize(arraySource(stack), {
      ...{ ...options, estimate, focusChange: true, aligned: undefined, planes: [0, 1, 2, 3, 4] },
      ...{ prefer: undefined, createFusion: createStackFusion, onStage: () => undefined, signal: new AbortController().signal },
    });
  const [whole, measured] = [await run({ finished }), await run({ finished: undefined })];
  assert.deepEqual(measured.depth.values, enlarge(estimate.depth, size));
  assert.deepEqual(whole.depth.values, enlargeDepth(finished.depth, estimate, whole.allInFocus as Image));
  const f1 = (values: Float32Array): number => boundaryF1({ depth: depthMap({ ...size, values }), trueDepth });
  const [edges, interpolated] = [whole.depth.values, enlarge(finished.depth, size)].map(f1) as [number, number];
  context.diagnostic(`F1 ${interpolated} → ${edges}`);
  assert.ok(edges > 1.2 * interpolated);
});
