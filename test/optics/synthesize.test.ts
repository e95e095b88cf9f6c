import assert from "node:assert/strict";
import test from "node:test";
import { type DepthMap, depthMap } from "../../src/image/depthMap.ts";
import type { Image } from "../../src/image/image.ts";
import { synthesize, type SynthesisKernel } from "../../src/optics/synthesize/synthesize.ts";
import { presetCamera } from "../../src/optics/synthesize/cameras.ts";
import { diskKernel } from "../../src/optics/synthesize/disk.ts";
import { protocolDistances } from "../../src/optics/synthesize/focus.ts";
import { gatherBlur } from "../../src/optics/synthesize/gather.ts";
import { layeredBlur } from "../../src/optics/synthesize/layers.ts";
import { circleOfConfusion } from "../../src/optics/lens/thinLens.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";

type Pixel = (x: number, y: number) => number;

const fill = ({ width, height }: { width: number; height: number }, pixel: Pixel): Float32Array =>
  Float32Array.from({ length: width * height }, (_, i) => pixel(i % width, Math.floor(i / width)));
const grey = (size: { width: number; height: number }, pixel: Pixel): Image => ({ ...size, channels: 1, data: fill(size, pixel) });
const metres = (size: { width: number; height: number }, pixel: Pixel): DepthMap =>
  depthMap({ ...size, space: "depth", values: fill(size, pixel) });
const noise = (size: { width: number; height: number }, seed: number): Image => {
  const random = createRandom(seed);
  return { ...size, channels: 3, data: Float32Array.from({ length: size.width * size.height * 3 }, () => random.uniform()) };
};

const kernels: SynthesisKernel[] = [{ kind: "gaussian" }, { kind: "power", exponent: 8 }, { kind: "disk" }];

test("the Gaussian gather reproduces HybridDepth's kernel on an 8×8 picture", () => {
  // A recorded run of the published CUDA kernel's arithmetic: I = sin 0.3x + cos 0.2y, c = 0.5 + 0.25x, 7×7.
  const size = { width: 8, height: 8 };
  const image = grey(size, (x, y) => Math.sin(0.3 * x) + Math.cos(0.2 * y));
  const blurred = gatherBlur({ image, blurRadius: fill(size, (x) => 0.5 + 0.25 * x) }, { exponent: 2, window: 7 }).data;
  const row = [0.69670671, 0.99222692, 1.26134918, 1.51911599, 1.61109629, 1.6521493, 1.63277114, 1.59408098];
  assertClose(blurred.slice(32, 40), row, 1e-6 / 1.65);
  assertClose([blurred.reduce((sum, value) => sum + value, 0)], [87.58338975], 1e-7);
});

test("a gather of two blurred pixels is the weighted mean worked by hand", () => {
  // c = 2 and 4 at distance 1: weights 1/4 and e^(-2/16)/16 at the first pixel.
  const image: Image = { width: 2, height: 1, channels: 1, data: Float32Array.of(0, 1) };
  const other = Math.exp(-2 / 16) / 16;
  const blurred = gatherBlur({ image, blurRadius: Float32Array.of(2, 4) }, { exponent: 2, window: 7 }).data;
  assertClose(blurred.slice(0, 1), [other / (0.25 + other)], 1e-6);
});

test("a large exponent is a disk: full weight inside the radius, none outside", () => {
  const size = { width: 15, height: 15 };
  const image = grey(size, (x, y) => (x === 7 && y === 7 ? 1 : 0));
  const blurred = gatherBlur({ image, blurRadius: fill(size, () => 3.5) }, { exponent: 64, window: 15 }).data;
  const at = (x: number, y: number): number => blurred[y * 15 + x] as number;
  assertClose([at(7, 7), at(10, 7), at(9, 9)], [1 / 37, 1 / 37, 1 / 37], 0.005); // 37 pixels lie within 3.5
  assert.equal(at(11, 7), 0);
});

test("every kernel keeps a constant picture constant and shows the focused plane unchanged", () => {
  const size = { width: 40, height: 30 };
  const camera = presetCamera("nyu", size);
  const steps = metres(size, (x, y) => (x > 12 && x < 25 && y > 8 ? 1 : 2 + x / 20));
  const focus = { kind: "linear", planes: 3 } as const;
  for (const kernel of kernels) {
    const flat = synthesize({ image: grey(size, () => 0.3), depth: steps }, { camera, focus, kernel });
    for (const plane of flat.stack.images) assertClose(plane.data, new Float32Array(1200).fill(0.3), 1e-6);
    const image = noise(size, 5);
    const wall = synthesize(
      { image, depth: metres(size, () => 1.5) },
      { camera, focus: { kind: "explicit", distances: [1.5, 3] }, kernel },
    );
    assertClose(wall.stack.images[0]?.data ?? [], image.data, 1e-5);
  }
});

test("a disk kernel sums to 1, has the area of its circle, and a point becomes a disk of eq. 9's diameter", () => {
  for (const radius of [0, 0.3, 0.5, 0.9, 2.5, 7.3]) {
    const { column, rise } = diskKernel(radius);
    // Σ over the row of the values is -Σ rise · column.
    assertClose([-column.reduce((sum, at, i) => sum + at * (rise[i] as number), 0)], [1], 1e-12);
  }
  const size = { width: 61, height: 61 };
  const camera = { focalLength: 0.05, fNumber: 2, pixelPitch: 12e-6 };
  const image = grey(size, (x, y) => (x === 30 && y === 30 ? 1 : 0));
  for (const depth of [1.6, 3]) {
    const options = { camera, focus: { kind: "explicit", distances: [2] }, kernel: { kind: "disk" }, light: "encoded" } as const;
    const [plane] = synthesize({ image, depth: metres(size, () => depth) }, options).stack.images;
    const peak = plane?.data[30 * 61 + 30] ?? 0;
    assertClose([2 * Math.sqrt(1 / peak / Math.PI)], [circleOfConfusion(camera, { focusDistance: 2, depth })], 0.01);
  }
});

/** A near half (right of column 20, value 1) before a far half (value 0). */
const halves = { width: 40, height: 21 };
const nearHalf = grey(halves, (x) => (x >= 20 ? 1 : 0));
const middle = (image: Image): number[] => Array.from(image.data.slice(10 * 40, 11 * 40));

test("a sharp near edge does not bleed into the blurred distance behind it", () => {
  const blurred = layeredBlur({ image: nearHalf, signedRadius: fill(halves, (x) => (x >= 20 ? 0 : -6)) });
  assertClose(middle(blurred), middle(nearHalf), 1e-6);
});

test("a blurred near edge is half transparent at its middle, and its veil is as wide as its blur on both sides", () => {
  const row = middle(layeredBlur({ image: nearHalf, signedRadius: fill(halves, (x) => (x >= 20 ? 6 : 0)) }));
  assertClose([((row[19] as number) + (row[20] as number)) / 2], [0.5], 1e-6);
  assert.deepEqual([row[13], row[26]], [0, 1]);
  assert.ok((row[15] as number) > 0 && (row[24] as number) < 1);
  for (let x = 1; x < 40; x++) assert.ok((row[x] as number) >= (row[x - 1] as number) - 1e-6, `column ${x} falls`);
});

test("the layers of a slanted near surface hide what is behind it as one surface would", () => {
  const size = { width: 40, height: 60 };
  const radius = (y: number): number => 5 + y / 20;
  const { data } = layeredBlur({
    image: grey(size, (x) => (x >= 20 ? 1 : 0)),
    signedRadius: fill(size, (x, y) => (x >= 20 ? radius(y) : 0)),
  });
  for (let y = 10; y < 50; y++) {
    // At column 22 the edge passes 2.5 pixels left of the middle: the disk's segment beyond it sees the distance.
    const angle = Math.acos(2.5 / radius(y));
    const segment = (angle - Math.sin(angle) * Math.cos(angle)) / Math.PI;
    assert.ok(Math.abs((data[y * 40 + 22] as number) - (1 - segment)) < 0.03, `row ${y}: ${data[y * 40 + 22]} ≠ ${1 - segment}`);
  }
});

test("a slanted surface cut into layers has no seams: a linear picture stays linear", () => {
  const size = { width: 80, height: 40 };
  const row = layeredBlur({ image: grey(size, (x) => x / 80), signedRadius: fill(size, (x) => -3 + x / 13) }).data.slice(
    20 * 80 + 10,
    20 * 80 + 70,
  );
  for (let i = 0; i < row.length; i++) assert.ok(Math.abs((row[i] as number) - (i + 10) / 80) < 0.5 / 80, `column ${i + 10}: ${row[i]}`);
});

test("focus protocols: linear spans the depths, adaptive spans the quantiles of 1/depth, explicit is sorted", () => {
  const depth = metres({ width: 101, height: 1 }, (x) => 1 / (0.2 + x / 100)); // 1/depth from 0.2 to 1.2, evenly
  assertClose(protocolDistances(depth, { kind: "linear", planes: 3 }), [1 / 1.2, (1 / 1.2 + 5) / 2, 5], 1e-6);
  assertClose(protocolDistances(depth, { kind: "adaptive", planes: 3 }), [1 / 1.15, 1 / 0.7, 1 / 0.25], 1e-6);
  assert.deepEqual(protocolDistances(depth, { kind: "explicit", distances: [2, 1] }), [1, 2]);
  assert.throws(
    () =>
      protocolDistances(
        metres({ width: 2, height: 1 }, () => 1),
        { kind: "linear", planes: 3 },
      ),
    /the depth is constant/,
  );
  assert.throws(
    () =>
      protocolDistances(
        metres({ width: 2, height: 1 }, () => NaN),
        { kind: "linear", planes: 3 },
      ),
    /no valid pixel/,
  );
});

test("the record holds the camera, the kernel with its window, the distances and the blur that came of them", () => {
  const size = { width: 8, height: 4 };
  const camera = presetCamera("nyu", size);
  const depth = metres(size, (x) => (x === 0 ? NaN : 1 + x / 7));
  const { record, stack } = synthesize({ image: noise(size, 1), depth }, { camera, focus: { kind: "linear", planes: 5 } });
  assert.deepEqual(record.kernel, { kind: "gaussian", window: 7 });
  assert.deepEqual([record.light, record.holes, record.validFraction], ["encoded", "fill", 7 / 8]);
  assert.deepEqual(record.focusDistances, stack.focusDistances);
  const far = circleOfConfusion(camera, { focusDistance: record.depthRange.min, depth: record.depthRange.max }) / 2;
  assertClose([record.maxBlurRadius[0] as number], [far], 1e-5);
  assert.deepEqual(JSON.parse(JSON.stringify(record)), record);
});

test("a hole takes its nearest neighbour's depth, or HybridDepth's, which gives almost nothing to others", () => {
  const size = { width: 9, height: 9 };
  const image = grey(size, (x, y) => (x === 4 && y === 4 ? 1 : 0));
  const options = { camera: presetCamera("nyu", size), focus: { kind: "explicit", distances: [1, 2] } } as const;
  const holed = { image, depth: metres(size, (x, y) => (x === 4 && y === 4 ? NaN : 2)) };
  const whole = synthesize({ image, depth: metres(size, () => 2) }, options).stack.images;
  assert.deepEqual(synthesize(holed, options).stack.images, whole);
  const [plane] = synthesize(holed, { ...options, holes: "blur" }).stack.images;
  assert.ok(plane?.data.every((value) => value < 1e-6));
  assert.throws(() => synthesize(holed, { ...options, holes: "blur", kernel: { kind: "disk" } }), /gather kernel/);
});

test("mismatched sizes, disparity, depths that are not positive and impossible focus are errors that say so", () => {
  const size = { width: 4, height: 2 };
  const [image, camera] = [noise(size, 2), presetCamera("nyu", size)];
  const run = (depth: DepthMap, distances = [1, 2]): unknown =>
    synthesize({ image, depth }, { camera, focus: { kind: "explicit", distances } });
  assert.throws(() => run(metres({ width: 2, height: 4 }, () => 1)), /image is 4×2 but its depth is 2×4/);
  assert.throws(() => run({ ...metres(size, () => 1), space: "disparity" }), /holds disparity; metres/);
  assert.throws(() => run(metres(size, (x, y) => (x === 3 && y === 1 ? -1 : 1))), /column 3, row 1 is -1 m/);
  assert.throws(
    () =>
      run(
        metres(size, () => 1),
        [0.04, 1],
      ),
    /50 mm cannot focus at 0.04 m/,
  );
  assert.throws(
    () =>
      run(
        metres(size, () => 1),
        [1, 1],
      ),
    /increasing/,
  );
  assert.throws(() => gatherBlur({ image, blurRadius: new Float32Array(3) }, { exponent: 2, window: 7 }), /needs 8 blur radii, got 3/);
  assert.throws(
    () => gatherBlur({ image, blurRadius: new Float32Array(8) }, { exponent: 2, window: 6 }),
    /odd whole number up to 31, got 6/,
  );
});
