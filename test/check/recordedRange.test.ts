import assert from "node:assert/strict";
import { test } from "node:test";

import { IDENTITY } from "../../src/align/similarity.ts";
import { recordedRange, withoutBrighter } from "../../src/check/recordedRange.ts";
import { encodeSrgb } from "../../src/image/srgb.ts";

const frames = (...gains: number[][]) => gains.map((gain) => ({ transform: IDENTITY, gain, ok: true }));

test("by hand: the white of the most exposed frame bounds the range above, what rounding leaves of the least exposed below; equal exposures have no bounds", () => {
  const range = recordedRange([...frames([2, 2, 1], [1, 1, 1], [0.5, 0.5, 1]), { transform: IDENTITY, gain: [9, 9, 9], ok: false }]);
  assert.ok(range);
  assert.deepEqual(range.brightest.map((value) => Number(value.toFixed(3))), [0.72, 0.72, 0.98]); // prettier-ignore
  assert.equal(range.darkest, encodeSrgb(1.5 * 0.002)); // 0.038, about ten of 255
  assert.equal(recordedRange(frames([1, 1, 1], [1, 1, 1])), undefined);
});

test("what is brighter is cut channel by channel, and nothing else changes", () => {
  const image = { width: 1, height: 2, channels: 3, data: Float32Array.of(0.9, 0.5, 0.9, 0.2, 0.8, 1) } as const;
  const { data } = withoutBrighter(image, { darkest: 0.1, brightest: [0.75, 0.75, 1] });
  assert.deepEqual([...data], [...Float32Array.of(0.75, 0.5, 0.9, 0.2, 0.75, 1)]);
});
