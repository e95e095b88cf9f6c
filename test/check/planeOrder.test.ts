import assert from "node:assert/strict";
import test from "node:test";

import { inspectStack, type StackReport } from "../../src/check/checkStack.ts";
import type { Image } from "../../src/image/image.ts";
import { readImage } from "../../src/stack/node/diskFiles.ts";
import { createRandom } from "../../src/random.ts";
import { gaussianBlur, slantedStack, texture } from "../helpers/texturedStack.ts";
import { warpImage } from "../helpers/warp.ts";

const SIZE = { width: 208, height: 144 };
const PLANES = 7;

/** A slanted textured plane, the nearest plane first, with a camera's noise. */
const { stack } = slantedStack({ ...SIZE, planes: PLANES, blurPerPlane: 0.7 });
const random = createRandom(4);
const images = stack.images.map((image) => ({ ...image, data: image.data.map((v) => 0.1 + 0.8 * v + 0.002 * random.normal()) }));

const FORWARD = [0, 1, 2, 3, 4, 5, 6];
const BACKWARD = FORWARD.toReversed();
const SHUFFLED = [3, 0, 6, 2, 5, 1, 4];

/** The lens of a real camera: the nearer the focus, the larger the image; 3 % over the stack. A warp by a scale shrinks the image by it. */
const breathing = images.map((image, n) => warpImage(image, { scale: 1 + 0.005 * (n - 3), angle: 0, shift: [0, 0] }));

const inspect = (planes: readonly Image[], order: readonly number[], reverse = false): Promise<StackReport> =>
  inspectStack({ images: order.map((n) => planes[n] as Image), focusDistances: order.map((_, n) => n), space: "index" }, { reverse });

/** The true planes in the order that was found. */
const found = ({ order }: StackReport, given: readonly number[]): number[] => order.planes.map((plane) => given[plane] as number);

test("focus breathing tells the direction, whichever way the photos were taken", async () => {
  const forward = await inspect(breathing, FORWARD);
  assert.deepEqual(found(forward, FORWARD), FORWARD);
  assert.match(forward.order.sentence, /^first photo taken as nearest, because the scene appears (2\.9|3\.0|3\.1) % larger in it/);
  const backward = await inspect(breathing, BACKWARD);
  assert.deepEqual(found(backward, BACKWARD), FORWARD);
  assert.match(backward.order.sentence, /^last photo taken as nearest, because the scene appears (2\.9|3\.0|3\.1) % larger in it/);
  for (const { order } of [forward, backward]) assert.deepEqual([order.certainty, order.sorted, order.reversed], ["likely", false, false]);
  assert.equal(forward.order.probability, backward.order.probability);
  assert.ok(backward.order.probability < 0.95, "a lens may breathe the other way");
});

test("without breathing the direction is unknown, the given order is kept, and that is said", async () => {
  for (const given of [FORWARD, BACKWARD]) {
    const { order, findings } = await inspect(images, given);
    assert.deepEqual(order.planes, FORWARD);
    assert.deepEqual([order.certainty, order.probability, order.evidence], ["unknown", 0.5, []]);
    assert.match(order.sentence, /^first photo taken as nearest, because photos are usually taken from near to far; nothing in them shows/);
    assert.equal(findings.find(({ code }) => code === "direction")?.message, order.sentence);
  }
});

test("shuffled photos are sorted by sharpness, with the plane reports, and turned by breathing", async () => {
  const report = await inspect(breathing, SHUFFLED);
  assert.deepEqual(found(report, SHUFFLED), FORWARD);
  assert.ok(report.order.sorted);
  assert.match(report.order.sentence, /^the photos were not in focus order and have been sorted by sharpness; plane 1 taken as nearest/);
  assert.deepEqual(report.planes.map(({ frame }) => SHUFFLED[frame]), FORWARD); // prettier-ignore
  const scales = report.planes.map(({ scale = NaN }) => scale);
  assert.ok(
    scales.every((scale, n) => n === 0 || scale < (scales[n - 1] as number)),
    "they shrink towards far focus",
  );
  assert.deepEqual(report.findings.map(({ code }) => code).toSorted(), ["direction", "missing-distances", "scale-change"]); // prettier-ignore
});

test("a stack whose ends are out of focus everywhere is sorted from any order, and none of its photos is called blurred", async () => {
  const files = Array.from({ length: PLANES }, (_, n) => `examples/breathing/plane_0${n}.png`);
  const shelf = await Promise.all(files.map((file) => readImage(file)));
  for (const given of [
    [1, 4, 6, 3, 0, 2, 5],
    [5, 0, 3, 6, 1, 4, 2],
  ]) {
    const report = await inspect(shelf, given);
    assert.deepEqual([found(report, given), report.order.sorted], [FORWARD, true], given.join());
    assert.ok(!report.findings.some(({ code }) => code === "blurred-frame"));
  }
});

test("shuffled photos without breathing are sorted too, but which end is near stays unknown", async () => {
  const { order } = await inspect(images, SHUFFLED);
  const planes = order.planes.map((plane) => SHUFFLED[plane] as number);
  assert.ok(
    [FORWARD, BACKWARD].some((way) => way.join() === planes.join()),
    planes.join(" "),
  );
  assert.equal(order.certainty, "unknown");
});

test("a flat scene, whose planes blur alike on both sides, is not sorted, whatever the order", async () => {
  const sharp = texture({ ...SIZE, seed: 3 });
  const flat = FORWARD.map((n) => gaussianBlur(sharp, () => 0.3 + 0.7 * Math.abs(n - 3)));
  assert.deepEqual((await inspect(flat, FORWARD)).order.planes, FORWARD);
  const { order, findings } = await inspect(flat, SHUFFLED);
  assert.deepEqual([order.planes, order.sorted], [FORWARD, false]);
  assert.match(findings.find(({ code }) => code === "order")?.message ?? "", /seem to be out of order/);
});

test("reverse exchanges near and far of what was found, and says what speaks against it", async () => {
  const { order } = await inspect(breathing, FORWARD, true);
  assert.deepEqual(order.planes, BACKWARD);
  assert.ok(order.reversed && order.probability < 0.5);
  assert.match(
    order.sentence,
    /^last photo taken as nearest, because that was asked for, although the first photo could be the nearest, since the scene appears/,
  );
});

test("focus distances decide, and their order is never changed", async () => {
  const given = { images: BACKWARD.map((n) => breathing[n] as Image), focusDistances: FORWARD.map((n) => n + 1), space: "depth" as const };
  const { order, findings } = await inspectStack(given, { reverse: true });
  assert.deepEqual([order.planes, order.certainty, order.reversed], [FORWARD, "known", false]);
  assert.ok(findings.some(({ code, severity }) => code === "reversed" && severity === "warning"));
});

test("the lower part of the image sharp at one end is too weak a sign on its own", async () => {
  // Near at the bottom: the slanted plane turned by a quarter.
  const upright = images.map(({ width, height, data }): Image => {
    const turned = new Float32Array(data.length);
    for (let y = 0; y < width; y++)
      for (let x = 0; x < height; x++)
        for (let c = 0; c < 3; c++) turned[(y * height + x) * 3 + c] = data[(x * width + (width - 1 - y)) * 3 + c] as number;
    return { width: height, height: width, channels: 3, data: turned };
  });
  const { order } = await inspect(upright, BACKWARD);
  assert.deepEqual(order.evidence.map(({ cue, nearest }) => [cue, nearest]), [["layout", "last"]]); // prettier-ignore
  assert.deepEqual([order.certainty, order.planes], ["unknown", FORWARD]);
  assert.match(
    order.sentence,
    /from near to far, but the last photo could be the nearest, since the lower part of the image is sharp in it and the upper part at the other end/,
  );
});
