import assert from "node:assert/strict";
import { test } from "node:test";

import { solveMotion } from "../../src/align/normalEquations.ts";
import { BLOCKS, compare, pointsOf, roomFor } from "../../src/align/points.ts";
import { applyToPoint, type Similarity } from "../../src/align/similarity.ts";
import { blockOf } from "../../src/image/pyramid.ts";
import { workspace } from "../../src/image/simd/workspace.ts";
import { createRandom } from "../../src/random.ts";

const [width, height] = [61, 45]; // neither a multiple of four nor of the blocks
const random = createRandom(3);
const noise = (): Float32Array => Float32Array.from({ length: width * height }, () => random.uniform());
const [first, second] = [noise(), noise()];
const transform: Similarity = { scale: 1.02, angle: 0.03, shift: [3.4, -2.7] };

/** Bilinear, as the definition says; undefined outside. */
function sampleAt(values: Float32Array, x: number, y: number): number | undefined {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  if (left < 0 || top < 0 || left >= width - 1 || top >= height - 1) return undefined;
  const at = (column: number, row: number): number => values[row * width + column] as number;
  const [fx, fy] = [x - left, y - top];
  const mixed = (row: number): number => at(left, row) * (1 - fx) + at(left + 1, row) * fx;
  return mixed(top) * (1 - fy) + mixed(top + 1) * fy;
}

for (const factor of [1, 2])
  test(`points are compared at the places that a transform moves them to (level of factor ${factor})`, () => {
    workspace().scoped(() => {
      const [one, two] = [first, second].map((data) => blockOf({ width, height, channels: 1, data }));
      assert.ok(one && two);
      const points = pointsOf(one, { most: 1e6, factor });
      assert.deepEqual([points.columns, points.rows], [width - 2, height - 2]);
      const { difference, coherence, correlation, overlap } = compare(points, two, { transform, difference: roomFor(points) });
      const found = workspace()
        .view(difference, points.columns * points.rows)
        .slice();
      const sums = Array.from({ length: BLOCKS ** 2 }, () => [0, 0, 0] as [number, number, number]);
      let inside = 0;
      for (let i = 0; i < found.length; i++) {
        const [column, row] = [1 + (i % points.columns), 1 + Math.floor(i / points.columns)];
        const from = [factor * (column - (width - 1) / 2), factor * (row - (height - 1) / 2)] as const;
        const [x, y] = applyToPoint(transform, from);
        const sample = sampleAt(second, x / factor + (width - 1) / 2, y / factor + (height - 1) / 2);
        const mine = first[row * width + column] as number;
        if (sample === undefined) {
          assert.ok(Number.isNaN(found[i]), `${column}, ${row} is outside`);
          continue;
        }
        inside++;
        assert.ok(Math.abs((found[i] as number) - (sample - mine)) < 2e-6, `${column}, ${row}: ${found[i]} instead of ${sample - mine}`);
        const block = sums[Math.floor((row * BLOCKS) / height) * BLOCKS + Math.floor((column * BLOCKS) / width)] as [
          number,
          number,
          number,
        ];
        block[0] += sample * mine;
        block[1] += mine * mine;
        block[2] += sample * sample;
      }
      assert.ok(inside > 1000 && inside < found.length, "some points are outside");
      assert.equal(overlap, inside / found.length);
      const ratio = ([p, q, r]: readonly [number, number, number]): number => p / Math.sqrt(q * r + 1e-30);
      sums.forEach((sum, k) => {
        assert.ok(Math.abs((coherence[k] as number) - ratio(sum)) < 1e-5, `block ${k}`);
      });
      const total = sums.reduce((all, sum) => [all[0] + sum[0], all[1] + sum[1], all[2] + sum[2]] as [number, number, number]);
      assert.ok(Math.abs(correlation - ratio(total)) < 1e-5);
    });
  });

test("the motion of a smooth pattern is found in one step", () => {
  const wave = (x: number, y: number): number => Math.sin(0.4 * x + 0.1 * y) + Math.cos(0.3 * y - 0.2 * x);
  const pattern = (shift: number): Float32Array =>
    Float32Array.from({ length: width * height }, (_, i) => wave((i % width) + shift, Math.floor(i / width) - 2 * shift));
  workspace().scoped(() => {
    const [one, two] = [pattern(0), pattern(0.05)].map((data) => blockOf({ width, height, channels: 1, data }));
    assert.ok(one && two);
    const points = pointsOf(one, { most: 1e6, factor: 1 });
    const still: Similarity = { scale: 1, angle: 0, shift: [0, 0] };
    const solved = solveMotion([{ points, ...compare(points, two, { transform: still, difference: roomFor(points) }) }], { width, height });
    assert.ok(solved);
    const { a, b, x, y } = solved.small;
    assert.ok(Math.abs(x - 0.05) < 0.005 && Math.abs(y + 0.1) < 0.005, `${x}, ${y}`);
    assert.ok(Math.abs(a - 1) < 1e-3 && Math.abs(b) < 1e-3, `${a}, ${b}`);
  });
});
