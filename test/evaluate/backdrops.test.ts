import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sample } from "../../src/data/dataset.ts";
import { backdropStacks, openBackdrops } from "../../src/evaluate/backdrops.ts";
import { type ImageMetrics, measureImage } from "../../src/evaluate/imageMetrics.ts";
import type { Estimate } from "../../src/evaluate/predictor.ts";
import { openEvaluationSet } from "../../src/evaluate/protocol.ts";
import { phoneScene } from "../../src/evaluate/renderedBenchmarks.ts";
import { besideObjects } from "../../src/evaluate/silhouette.ts";
import { depthMap, type DepthMap } from "../../src/image/depthMap.ts";
import { type Rendering, renderScene } from "../../src/optics/render/render.ts";
import type { Vector } from "../../src/optics/scene/scene.ts";
import { assertClose } from "../helpers/close.ts";

const tiny = { scenes: 3, size: 48, samples: 2 };
const count = (mask: Uint8Array): number => mask.reduce((sum, is) => sum + is, 0);

test("beside an object is what lies within reach of it, in any direction, and not the object", () => {
  const [width, height] = [9, 7];
  const objects = new Uint8Array(width * height);
  objects[3 * width + 4] = 1;
  const distance = (i: number): number => Math.hypot((i % width) - 4, Math.floor(i / width) - 3);
  const expected = objects.map((_, i) => (distance(i) > 0 && distance(i) <= 2 ? 1 : 0));
  assert.deepEqual(besideObjects(objects, { width, height }, 2), expected);
  assert.deepEqual(besideObjects(new Uint8Array(4), { width: 2, height: 2 }), new Uint8Array(4)); // no object, nothing beside it
});

/** Columns: the table in 0 to 3, an object in 4 and 5, the wall in 6 to 54. The wall is at the third plane; its last column has no truth. */
const [width, height] = [55, 4];
const across = (at: (x: number) => number): Float32Array => Float32Array.from({ length: width * height }, (_, i) => at(i % width));
const mask = (is: (x: number) => boolean): Uint8Array => Uint8Array.from(across((x) => (is(x) ? 1 : 0)));
const trueDepth = depthMap({
  ...{ width, height, space: "depth" as const },
  values: across((x) => (x < 4 ? 2 : x < 6 ? 1 : 3)),
  valid: mask((x) => x !== 54),
});
const image = { width, height, channels: 1 as const, data: new Float32Array(width * height).fill(0.5) };
const sample: Sample = {
  name: "wall",
  stack: { images: [image, image, image, image], focusDistances: [1, 2, 3, 4], space: "depth" },
  trueDepth,
  wall: { pixels: mask((x) => x >= 6), objects: mask((x) => x === 4 || x === 5) },
};
const wrongBy = (off: (x: number) => number): DepthMap => ({
  ...trueDepth,
  values: trueDepth.values.map((value, i) => value - off(i % width)),
  valid: mask(() => true),
});
/** The object and the table are wrong as well. Of the wall, six columns beside the object are one plane too near, and the last three two planes. */
const depth = wrongBy((x) => (x < 4 ? -2 : x < 6 ? -3 : x < 12 ? 1 : x >= 52 ? 2 : 0));
const measured = (estimate: Estimate, of = sample): ImageMetrics => measureImage(of, estimate, (comparison) => comparison);

test("errors count on the wall alone, and on its pixels within 30 of an object, in planes; also of finished depth", () => {
  const metrics = measured({ depth, finished: wrongBy((x) => (x < 6 ? -2 : x < 9 ? 1 : 0)) });
  // Beside the object are columns 6 to 35; 48 columns have truth.
  assertClose([metrics.rmseWall, metrics.rmseBeside], [Math.sqrt((6 + 2 * 2 ** 2) / 48), Math.sqrt(6 / 30)], 1e-6);
  assertClose([metrics.rmseWallFinished, metrics.rmseBesideFinished], [Math.sqrt(3 / 48), Math.sqrt(3 / 30)], 1e-6);
});

test("claims are measured on the wall: the share that holds, and the median of what is claimed", () => {
  const error = across((x) => (x < 9 || x >= 52 ? 0.5 : x < 12 ? 1 : 0.1)); // too small in columns 6 to 8, 52 and 53
  const confidence = across((x) => (x < 6 ? 0.5 : x < 22 ? 0.2 : 0.8)); // half a plane, one, a quarter
  const values = new Float32Array(4 * width * height).fill(0.25);
  const metrics = measured({ depth, error, confidence, focusProbability: { planes: 4, width, height, values } });
  assertClose([metrics.withinErrorWall, metrics.withinErrorBeside], [43 / 48, 27 / 30], 1e-6);
  assertClose([metrics.claimedErrorWall, metrics.claimedErrorBeside], [0.25, 1], 1e-6);
});

test("methods without claims have errors on the wall; sets without a wall have nothing of it", () => {
  const names = ["rmseWall", "rmseBeside", "rmseWallFinished", "withinErrorWall", "withinErrorBeside", "claimedErrorWall"] as const;
  const defined = (metrics: ImageMetrics): readonly string[] => names.filter((name) => Number.isFinite(metrics[name]));
  assert.deepEqual(defined(measured({ depth })), ["rmseWall", "rmseBeside"]);
  const { name, stack } = sample;
  assert.deepEqual(defined(measured({ depth, finished: depth }, { name, stack, trueDepth })), []);
});

test("of a drawn scene, the wall's pixels have exactly its depth, objects are nearer than table and wall, and the table is neither", async () => {
  const set = openBackdrops({ ...tiny, planes: 10 });
  for (let index = 0; index < tiny.scenes; index++) {
    const { name, trueDepth, wall } = await set.sample(index);
    assert.ok(wall);
    const { primitives, camera } = phoneScene(Number(name.replace("seed ", "")), { size: tiny.size, themes: ["backdrop"] });
    const [table, behind] = [primitives[0], primitives.at(-1)];
    assert.ok(table?.kind === "plane" && behind?.kind === "plane");
    // The table's centre is the point of it nearest to the lens: c · p = c · c all over it.
    const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const slope = (at: number): number => ((at + 0.5 - tiny.size / 2) * camera.pixelPitch) / camera.focalLength;
    const kinds = Array.from(trueDepth.values, (value, i) => {
      const along: Vector = [slope(i % tiny.size), slope(Math.floor(i / tiny.size)), 1];
      const onTable = dot(table.centre, table.centre) / dot(table.centre, along); // negative above its horizon
      const empty = onTable > 0 ? Math.min(onTable, behind.centre[2]) : behind.centre[2];
      return value === Math.fround(behind.centre[2]) ? "wall" : value < 0.999 * empty ? "object" : "table";
    });
    const drawn = Array.from(wall.pixels, (is, i) => (is ? "wall" : wall.objects[i] ? "object" : "table"));
    assert.deepEqual(drawn, kinds);
    assert.ok(wall.pixels.every((is, i) => !(is && wall.objects[i])));
    assert.ok(trueDepth.values.every((value, i) => wall.pixels[i] || value < behind.centre[2]));
    const beside = besideObjects(wall.objects, trueDepth).filter((is, i) => is && wall.pixels[i] && trueDepth.valid[i]);
    assert.ok(count(wall.objects) > 0 && beside.length >= 0.02 * drawn.length, `${name}: ${beside.length} pixels beside objects`);
  }
});

test("scenes whose wall lies beyond the planes, or that show none beside an object, are left out", () => {
  const { showsWall, draw } = backdropStacks({ planes: 10, size: 32, samples: 1 });
  const seeds = Array.from({ length: 48 }, (_, i) => 8_000_000 + i);
  const expected = seeds.filter((seed) => {
    const { wall, trueDepth } = draw(seed);
    const near = besideObjects(wall?.objects as Uint8Array, trueDepth);
    return near.filter((is, i) => is && wall?.pixels[i] && trueDepth.valid[i]).length >= 0.02 * near.length; // valid only within the planes
  });
  assert.ok(expected.length > 24 && expected.length < 48, `${expected.length} of 48`);
  assert.deepEqual(seeds.filter(showsWall), expected);
});

test("frames have the noise of a photographed wall, each its own", () => {
  let plain: Rendering | undefined;
  const { draw } = backdropStacks({
    ...{ ...tiny, planes: 10 },
    createRenderer: (textures) => (scene, samples) => (plain = renderScene(scene, { textures, samples })),
  });
  const { stack } = draw(8_000_003);
  const noise = stack.images.map(({ data }, n) => data.map((value, i) => value - (plain?.stack.images[n]?.data[i] as number)));
  for (const values of noise) {
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length);
    assert.ok(deviation > 0.0015 && deviation < 0.008, `${deviation}`); // white 0.00175 to 0.007, slow 0.0005 to 0.002
  }
  assert.notDeepEqual(noise[0], noise[1]);
});

test("the set is the same every time, and its planes are chosen of the same ten", async () => {
  const open = (planes: number) => openEvaluationSet({ dataset: "backdrop", planes, rendered: tiny });
  const set = await open(5);
  assert.match(set.protocol, /the first 3 seeds from 8000000 to 80000\d\d whose wall is within the planes .*, 48×48, 2 rays per pixel/);
  const [once, again, ten] = [await set.sample(1), await (await open(5)).sample(1), await (await open(10)).sample(1)];
  assert.deepEqual(once, again);
  assert.notDeepEqual(once.stack.images, (await set.sample(0)).stack.images);
  assert.equal(ten.name, once.name);
  assert.deepEqual(
    once.stack.images,
    [0, 2, 4, 6, 9].map((n) => ten.stack.images[n]),
  );
});

test("plane counts, splits and textures that the set does not have are refused", async () => {
  for (const planes of [1, 11, 2.5])
    assert.throws(() => openBackdrops({ ...tiny, planes }), new RegExp(`backdrop: ${planes} planes asked for; expected 2 to 10`));
  assert.throws(() => openBackdrops({ ...tiny, textures: "photos" }), /backdrop: its textures are fixed/);
  await assert.rejects(openEvaluationSet({ dataset: "backdrop", split: "train" }), /there is no split "train"/);
});
