import assert from "node:assert/strict";
import { test } from "node:test";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import type { Tensor } from "../../src/engine/engine.ts";
import type { TrainBatch } from "../../src/train/batch.ts";
import { createPoolBatches } from "../../src/train/deviceAugment.ts";
import { presets } from "../../src/train/presets.ts";
import type { StackPool } from "../../src/train/renderPool.ts";

const engine = createTorchEngine({ threads: 1 });
const read = (tensor: Tensor): Float32Array => engine.read(tensor) as Float32Array;

const SIDE = 96;
const PLANES = 2;

/** The bytes of the pool: where the pixel is, and a number that no other pixel near it has in any plane; none is 0, which exposure raises. */
const byteAt = (plane: number, channel: number, { x, y }: Point): number =>
  ([x + 1, y + 1, 1 + ((89 * x + 151 * y + 37 * plane) % 255)] as const)[channel] as number;

interface Point {
  readonly x: number;
  readonly y: number;
}
const pointAt = (i: number): Point => ({ x: i % SIDE, y: Math.floor(i / SIDE) });

/** One stack; its depth, from 1 m to 2 m as its planes are, counts the pixels. */
function countingPool(): StackPool {
  const pixels = SIDE * SIDE;
  const bytes = Uint8Array.from({ length: PLANES * 3 * pixels }, (_, i) =>
    byteAt(Math.floor(i / (3 * pixels)), Math.floor(i / pixels) % 3, pointAt(i % pixels)),
  );
  return {
    size: 1,
    planes: PLANES,
    side: SIDE,
    images: engine.constant(bytes, { shape: [PLANES, 3, SIDE, SIDE], dtype: "u8" }),
    depth: engine.constant(
      Float32Array.from({ length: pixels }, (_, i) => 1 + i / pixels),
      { shape: [1, 1, SIDE, SIDE] },
    ),
    focusDistances: engine.constant([1, 2], { shape: [1, PLANES] }),
    onePicture: engine.full([1, 1], 0),
    advance: () => Promise.resolve(),
  };
}

/** Of each stack of a batch that shows squares of `reduced`² pixels of the pool: the square's first pixel at each place, row by row. */
function squaresOf({ images, trueDepth }: TrainBatch, reduced: number): Point[][] {
  const [B, N, , H, W] = images.shape as [number, number, number, number, number];
  const [values, depths] = [read(images), read(trueDepth)];
  const inSquare = ({ x, y }: Point): Point[] =>
    Array.from({ length: reduced ** 2 }, (_, k) => ({ x: x + (k % reduced), y: y + Math.floor(k / reduced) }));
  return Array.from({ length: B }, (_, b) =>
    Array.from({ length: H * W }, (_, i) => {
      const levels = (plane: number): number[] => [0, 1, 2].map((c) => 255 * (values[((b * N + plane) * 3 + c) * H * W + i] as number));
      const first = (level = NaN): number => Math.round(level - 1 - (reduced - 1) / 2); // from the mean of reduced numbers in a row
      const [across, down] = levels(0);
      const corner = { x: first(across), y: first(down) };
      const square = inSquare(corner);
      for (let plane = 0; plane < N; plane++)
        levels(plane).forEach((level, c) => {
          const mean = square.reduce((sum, point) => sum + byteAt(plane, c, point), 0) / square.length;
          assert.ok(Math.abs(level - mean) < 0.02, `stack ${b}, pixel ${i}, plane ${plane}, channel ${c}: ${level}, not ${mean}`);
        });
      const { x, y } = pointAt(Math.round((depths[b * H * W + i] as number) * SIDE * SIDE));
      assert.ok(square.some((point) => point.x === x && point.y === y), `stack ${b}, pixel ${i}: depth of (${x}, ${y}), outside its square`); // prettier-ignore
      return corner;
    }),
  );
}

/** How a crop lies in the image: its steps along a row and down a column; every pixel must follow from these. */
function orientation(corners: readonly Point[], { width, step }: { width: number; step: number }): string {
  const [origin, next, below] = [corners[0], corners[1], corners[width]] as [Point, Point, Point];
  const along = { x: next.x - origin.x, y: next.y - origin.y };
  const down = { x: below.x - origin.x, y: below.y - origin.y };
  const isSquare =
    Math.hypot(along.x, along.y) === step && Math.hypot(down.x, down.y) === step && along.x * down.x + along.y * down.y === 0;
  assert.ok(isSquare, JSON.stringify({ along, down }));
  corners.forEach(({ x, y }, i) => {
    const [column, row] = [i % width, Math.floor(i / width)];
    const expected = { x: origin.x + column * along.x + row * down.x, y: origin.y + column * along.y + row * down.y };
    assert.ok(x === expected.x && y === expected.y, `pixel ${i}: (${x}, ${y}), not (${expected.x}, ${expected.y})`);
    assert.ok(x >= 0 && y >= 0 && x + step <= SIDE && y + step <= SIDE, `(${x}, ${y})`);
  });
  return [along.x, along.y, down.x, down.y].map(Math.sign).join(" ");
}

const sizes = { size: 12, planes: [PLANES], crop: 32, crops: [{ side: 64, reduced: 1 }, { side: 64, reduced: 2 }] }; // prettier-ignore
const STEPS = 10;

test("a crop in its own size holds pixels of the pool, a reduced one means of squares and one depth of each, both flipped and turned", async () => {
  const batches = createPoolBatches(engine, countingPool(), { batch: sizes, augment: presets.nyu.augment, seed: 1 });
  const seen = { whole: 0, reduced: 0 };
  const orientations = new Set<string>();
  const origins = new Set<string>();
  for (let step = 0; step < STEPS; step++) {
    const batch = await batches.batch(step);
    const width = batch.images.shape[4] as number;
    const reduced = 64 / width;
    const stacks = reduced === 1 ? 3 : 12; // 12 of 32×32 pixels are as much work as 3 of 64×64
    seen[reduced === 1 ? "whole" : "reduced"]++;
    assert.ok(reduced === 1 || reduced === 2, `${width} pixels`);
    assert.deepEqual(batch.images.shape, [stacks, PLANES, 3, width, width]);
    assert.deepEqual([batch.trueDepth.shape, batch.valid.shape], Array(2).fill([stacks, 1, width, width]));
    for (const corners of squaresOf(batch, reduced)) {
      orientations.add(orientation(corners, { width, step: reduced }));
      origins.add(JSON.stringify(corners[0]));
    }
  }
  assert.ok(seen.whole > 1 && seen.reduced > 1, JSON.stringify(seen));
  assert.equal(orientations.size, 8);
  assert.ok(origins.size > 20, `${origins.size} places`);
});

test("every process takes the same crop in a step, of other stacks", async () => {
  const [one, other] = [0, 1].map((share) =>
    createPoolBatches(engine, countingPool(), { batch: sizes, augment: presets.nyu.augment, seed: 1, share }),
  ) as [ReturnType<typeof createPoolBatches>, ReturnType<typeof createPoolBatches>];
  for (let step = 0; step < STEPS; step++) {
    const [mine, theirs] = [(await one.batch(step)).images, (await other.batch(step)).images];
    assert.deepEqual(mine.shape, theirs.shape, `step ${step}`);
    assert.notDeepEqual(read(mine), read(theirs));
  }
});
