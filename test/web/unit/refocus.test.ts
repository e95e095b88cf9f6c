import assert from "node:assert/strict";
import { test } from "node:test";

import type { Image } from "../../../src/image/image.ts";
import { circleOfConfusion } from "../../../src/optics/lens/thinLens.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { createRandom } from "../../../src/random.ts";
import { lensFor } from "../../../web/src/refocus/lens.ts";
import { evenly, photographOf, photographs } from "../../../web/src/refocus/photographs.ts";
import { planRefocus } from "../../../web/src/refocus/plan.ts";
import { refocusExactly } from "../../../web/src/refocus/reference.ts";
import { focusAt, shareOf, thereAndBack } from "../../../web/src/refocus/sweep.ts";
import { shrinkDepth, shrinkImage, sizeWithin } from "../../../src/image/shrink.ts";

const [width, height] = [48, 32];
const camera = { focalLength: 0.05, fNumber: 2, pixelPitch: 1e-4 };

/** The left half is a checkerboard at 1 m, the right half noise at 2 m. */
function twoWalls(change: Partial<DepthResult> = {}): DepthResult {
  const random = createRandom(3);
  const values = Float32Array.from({ length: width * height }, (_, i) => (i % width < width / 2 ? 1 : 2));
  const data = Float32Array.from({ length: 3 * width * height }, (_, i) => {
    const [x, y] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width)];
    return x < width / 2 ? (x + y) % 2 : 0.25 + 0.5 * random.uniform();
  });
  const depth = { width, height, values, valid: new Uint8Array(width * height).fill(1), space: "depth" as const };
  return { depth, unit: "m", allInFocus: { width, height, channels: 3, data }, camera, ...change };
}

/** The largest difference from the all-in-focus picture in columns [from, to). */
function change(result: DepthResult, shown: { data: Float32Array }, [from, to]: readonly [number, number]): number {
  let largest = 0;
  for (let i = 0; i < shown.data.length; i++) {
    const column = Math.floor(i / 3) % width;
    if (column < from || column >= to) continue;
    largest = Math.max(largest, Math.abs((shown.data[i] as number) - (result.allInFocus?.data[i] as number)));
  }
  return largest;
}

test("blur is the circle of confusion of the camera: equation 9, halved, nearer than the focus positive", () => {
  const lens = lensFor(twoWalls());
  for (const [focus, value, sign] of [
    [1, 2, -1],
    [2, 1, 1],
    [1.5, 1.2, 1],
  ] as const) {
    const radius = lens.gain({ focus, fNumber: 2 }) * (lens.nearness(value) - lens.nearness(focus));
    const diameter = circleOfConfusion(camera, { focusDistance: focus, depth: value });
    assert.ok(Math.abs(2 * radius - sign * diameter) < 1e-9 * diameter, `${radius} against ${diameter} / 2`);
  }
});

test("twice the f-number is half the blur, whatever the unit", () => {
  const relative = { unit: "index" as const, depth: { ...twoWalls().depth, space: "index" as const } };
  const dioptres = { unit: "dpt" as const, depth: { ...twoWalls().depth, space: "disparity" as const } };
  for (const result of [twoWalls(), twoWalls({ pixelSize: 1e-3 }), twoWalls(relative), twoWalls(dioptres)]) {
    const lens = lensFor(result);
    const [wide, narrow] = [lens.gain({ focus: 1.5, fNumber: 2 }), lens.gain({ focus: 1.5, fNumber: 4 })];
    assert.ok(wide > 0 && Math.abs(wide - 2 * narrow) < 1e-12 * wide);
  }
});

test("larger is nearer in dioptres and disparity, farther in metres and plane indices", () => {
  const of = (unit: DepthResult["unit"], space: DepthResult["depth"]["space"]): number => {
    const lens = lensFor(twoWalls({ unit, depth: { ...twoWalls().depth, space } }));
    return Math.sign(lens.nearness(2) - lens.nearness(1));
  };
  assert.deepEqual([of("m", "depth"), of("index", "index"), of("dpt", "disparity"), of("disparity", "disparity")], [-1, -1, 1, 1]);
});

test("a microscope's blur grows with the distance from the focus and nothing else", () => {
  const lens = lensFor(twoWalls({ pixelSize: 0.01 }));
  assert.equal(lens.gain({ focus: 1, fNumber: 5 }), lens.gain({ focus: 2, fNumber: 5 }));
  assert.ok(Math.abs(lens.gain({ focus: 1, fNumber: 5 }) * (lens.nearness(1) - lens.nearness(2)) - 10) < 1e-9); // 1 m / 5 / 0.01 m / 2
});

test("an assumed lens is no longer than a quarter of the distance to the nearest thing", () => {
  const { depth } = twoWalls();
  const closeUp: DepthResult = { depth: { ...depth, values: depth.values.map((value) => value / 100) }, unit: "m" };
  // f = 2.5 mm, 60 degrees over 48 pixels are 41.57 pixels of focal length, v = f / (1 - f/S): r = f/N · v/pitch / 2 per dioptre
  const expected = ((0.0025 / 2) * (41.569 / (1 - 0.0025 / 0.01))) / 2;
  assert.ok(Math.abs(lensFor(closeUp).gain({ focus: 0.01, fNumber: 2 }) / expected - 1) < 1e-3);
});

test("what is in focus stays as it is, up to the edge; the rest is blurred", () => {
  const result = twoWalls();
  const plan = planRefocus(result, { side: 1024 });
  const near = refocusExactly(plan, { focus: 1, fNumber: 2 });
  assert.ok(change(result, near, [0, width / 2]) < 1e-3, "the sharp foreground is untouched: nothing bled over it");
  assert.ok(change(result, near, [width / 2 + 4, width]) > 0.1);
  const far = refocusExactly(plan, { focus: 2, fNumber: 2 });
  const reach = Math.ceil(plan.blur({ focus: 2, fNumber: 2 }).gain * 0.5) + 1;
  assert.ok(change(result, far, [0, width / 2]) > 0.3, "the checkerboard melts");
  assert.ok(change(result, far, [width / 2 + reach, width]) < 1e-3, "beyond the reach of the foreground's blur all is sharp");
});

test("a small aperture gives the all-in-focus picture back, and a plain picture stays plain through any lens", () => {
  const result = twoWalls();
  assert.ok(change(result, refocusExactly(planRefocus(result, { side: 1024 }), { focus: 1.4, fNumber: 500 }), [0, width]) < 0.02);
  const plain = twoWalls({ allInFocus: { width, height, channels: 1, data: new Float32Array(width * height).fill(0.4) } });
  const { data } = refocusExactly(planRefocus(plain, { side: 1024 }), { focus: 1, fNumber: 1 });
  assert.ok(data.every((value) => Math.abs(value - 0.4) < 1e-5));
});

test("pixels without depth borrow their neighbour's, and a result without a picture is refused", () => {
  const { depth, ...rest } = twoWalls();
  const valid = depth.valid.map((_, i) => (i % width === 5 || i === 0 ? 0 : 1));
  const values = depth.values.map((value, i) => (valid[i] ? value : NaN));
  const plan = planRefocus({ ...rest, depth: { ...depth, values, valid } }, { side: 1024 });
  assert.deepEqual(plan.nearness, planRefocus(twoWalls(), { side: 1024 }).nearness);
  assert.throws(() => planRefocus({ depth, unit: "m" }, { side: 64 }), /needs the all-in-focus image/);
});

test("large results are shrunk: colours are averaged, depths are not, and blur shrinks along", () => {
  const whole = planRefocus(twoWalls(), { side: 1024 });
  const half = planRefocus(twoWalls(), { side: width / 2 });
  assert.deepEqual([half.width, half.height], [width / 2, height / 2]);
  assert.deepEqual(new Set(half.nearness), new Set([0.5, 1]));
  const setting = { focus: 1, fNumber: 2 };
  assert.equal(2 * half.blur(setting).gain, whole.blur(setting).gain);
  const picture = { width: 4, height: 2, channels: 1 as const, data: Float32Array.of(0, 1, 0.5, 0.5, 1, 0, 0, 1) };
  assert.deepEqual([...shrinkImage(picture, { width: 2, height: 1 }).data], [0.5, 0.5]);
  assert.deepEqual(sizeWithin({ width: 4000, height: 3000 }, 1000), { width: 1000, height: 750 });
  const depth = { width: 2, height: 2, values: Float32Array.of(1, 2, 3, 4), valid: Uint8Array.of(1, 1, 1, 0), space: "depth" as const };
  assert.deepEqual([...shrinkDepth(depth, { width: 1, height: 1 }).values], [4]);
});

test("a photograph is found for every blur: at the photographs' aperture the one focused there, stopped down one nearer to the point", () => {
  const nearness = Float32Array.of(4, 3, 1, 0.5);
  for (const u of [4, 2, 0.5]) assert.equal(photographOf(u, { focus: 2, ratio: 1, nearness }), 1.5, "whatever the depth");
  assert.equal(photographOf(4, { focus: 2, ratio: 0.5, nearness }), 1, "half the blur: halfway to the point's own plane");
  assert.equal(photographOf(4, { focus: 2, ratio: 0, nearness }), 0, "a pinhole shows every point where it is sharp");
  assert.equal(photographOf(3, { focus: 4, ratio: 2, nearness }), -1, "wider than photographed: one plane outside the stack");
  assert.equal(photographOf(1, { focus: 0.5, ratio: 2, nearness }), 4, "and at the far end");
});

test("photographs become layers near to far, the sharp image last; too many are thinned out", () => {
  const plane = (value: number): Image => ({ width: 2, height: 1, channels: 1, data: Float32Array.of(value, value) });
  const stack = photographs([plane(0.2), plane(0.4)], {
    nearness: [1, 3],
    allInFocus: { ...plane(1), width: 1, data: Float32Array.of(1) },
  });
  assert.deepEqual([...(stack?.nearness ?? [])], [3, 1]);
  assert.deepEqual(
    [...(stack?.layers ?? [])].filter((_, i) => i % 4 === 0),
    [102, 102, 51, 51, 255, 255],
  );
  assert.equal(photographs([plane(0), plane(1)], { nearness: [2, 2], allInFocus: plane(1) }), undefined, "no order in depth");
  assert.deepEqual(evenly(5, 3), [0, 2, 4]);
  assert.equal(new Set(evenly(100, 64)).size, 64);
  assert.equal(evenly(100, 64).at(-1), 99);
});

test("a focus ring turns evenly in dioptres, and back", () => {
  const ring = { range: [0.5, 2], isDistance: true } as const;
  assert.deepEqual(
    [0, 0.5, 1].map((share) => focusAt(share, ring)),
    [0.5, 0.8, 2],
  );
  assert.ok(Math.abs(shareOf(0.8, ring) - 0.5) < 1e-12);
  assert.equal(shareOf(99, ring), 1);
  const planes = { range: [0, 4], isDistance: false } as const;
  assert.deepEqual([focusAt(0.25, planes), shareOf(1, planes)], [1, 0.25]);
  assert.deepEqual([0, 0.25, 0.5, 1].map(thereAndBack), [0, 0.5, 1, 0]);
});
