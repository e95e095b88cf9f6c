import assert from "node:assert/strict";
import test from "node:test";
import { withAlignedRows } from "../../src/align/alignedRows.ts";
import { commonArea } from "../../src/align/apply.ts";
import { exposureGain } from "../../src/align/exposure.ts";
import { applyToPoint, IDENTITY, type Similarity } from "../../src/align/similarity.ts";
import { workingFrame } from "../../src/align/workingFrame.ts";
import type { Image } from "../../src/image/image.ts";
import { OVERRUN } from "../../src/image/rows.ts";
import { workspace } from "../../src/image/simd/workspace.ts";
import { decodeSrgb } from "../../src/image/srgb.ts";
import { texture } from "../helpers/texturedStack.ts";
import { applyGain, warpImage } from "../helpers/warp.ts";

const size = { width: 80, height: 60 };

/** Waves longer than Lanczos can miss, evaluated anywhere; pixels from the centre. */
const wave = (x: number, y: number): number => 0.5 + 0.2 * Math.sin(0.5 * x + 0.3 * y) + 0.2 * Math.cos(0.4 * y - 0.2 * x);

function painted(at: (x: number, y: number) => number): Image {
  const data = Float32Array.from({ length: 80 * 60 }, (_, i) => at((i % 80) - 39.5, Math.floor(i / 80) - 29.5));
  return { ...size, channels: 1, data };
}

test("a whole-pixel shift takes the very pixels", () => {
  const image = painted(wave);
  const moved = warpImage(image, { ...IDENTITY, shift: [3, -2] });
  for (const [x, y] of [
    [10, 10],
    [40, 30],
    [70, 55],
  ] as const)
    // prettier-ignore
    assert.ok(Math.abs((moved.data[y * 80 + x] as number) - (image.data[(y - 2) * 80 + x + 3] as number)) < 1e-5);
});

test("a turned, scaled and shifted frame comes back onto the reference to 0.2 % of its contrast", () => {
  const transform: Similarity = { scale: 1.03, angle: 0.05, shift: [2.3, -1.7] };
  // The frame shows at T(p) what the reference shows at p.
  const frame = painted((u, v) => {
    const [x, y] = [u - 2.3, v + 1.7];
    const [cos, sin] = [Math.cos(0.05) / 1.03, Math.sin(0.05) / 1.03];
    return wave(cos * x + sin * y, cos * y - sin * x);
  });
  const back = warpImage(frame, transform);
  const area = commonArea([transform], size);
  let [worst, inside] = [0, 0];
  for (let y = 5; y < 55; y++)
    for (let x = 5; x < 75; x++)
      if (area[y * 80 + x]) {
        worst = Math.max(worst, Math.abs((back.data[y * 80 + x] as number) - wave(x - 39.5, y - 29.5)));
        inside++;
      }
  assert.ok(inside > 3000);
  assert.ok(worst < 0.004, `worst ${worst}`);
});

test("colours stay apart, and values stay in range at hard edges", () => {
  const data = Float32Array.from({ length: 80 * 60 * 3 }, (_, i) => (i % 3 === 1 && Math.floor(i / 3) % 80 > 40 ? 1 : 0));
  const moved = warpImage({ ...size, channels: 3, data }, { ...IDENTITY, shift: [0.5, 0] });
  assert.ok(moved.data.every((value, i) => value >= 0 && value <= 1 && (i % 3 === 1 || value === 0)));
});

test("the common area is where every frame has a picture", () => {
  const transforms: Similarity[] = [IDENTITY, { scale: 1.04, angle: 0.01, shift: [4, 0] }, { scale: 0.97, angle: -0.02, shift: [-3, 5] }];
  for (const margin of [0, 14]) {
    const area = commonArea(transforms, size, margin);
    for (let i = 0; i < area.length; i++) {
      const p: [number, number] = [(i % 80) - 39.5, Math.floor(i / 80) - 29.5];
      const inside = transforms.every((t) => {
        const [x, y] = applyToPoint(t, p);
        return Math.abs(x) <= 40 - margin && Math.abs(y) <= 30 - margin;
      });
      assert.equal(area[i], inside ? 1 : 0, `pixel ${String(p)}, margin ${margin}`);
    }
    assert.ok(area.includes(0) && area.includes(1));
  }
  assert.ok(commonArea([{ ...IDENTITY, shift: [0.3, 0.3] }], size, 50).every((valid) => valid === 0));
  assert.ok(commonArea([{ ...IDENTITY, shift: [500, 0] }], size).every((valid) => valid === 0));
});

test("a turn beyond any alignment is refused", () => {
  assert.throws(() => warpImage(painted(wave), { ...IDENTITY, angle: 2 }), /115° is too large for an alignment/);
});

test("the light of a cell is the mean of its pixels' linear light, unknown where one of them is clipped", () => {
  const [width, height] = [386, 6]; // cells of 3 pixels, 128 across, from column 1 on
  for (const channels of [1, 3] as const) {
    const data = Float32Array.from({ length: width * height * channels }, (_, i) => ((i * 37) % 97) / 100);
    data[(1 * width + 5) * channels] = 0.985; // in the second cell
    const { light } = workingFrame({ width, height, channels, data });
    assert.deepEqual([light.cell, light.columns, light.rows], [3, 128, 2]);
    const mean = (column: number, row: number, c: number): number => {
      let sum = 0;
      for (let k = 0; k < 9; k++) {
        const [x, y] = [1 + 3 * column + (k % 3), 3 * row + Math.floor(k / 3)];
        sum += decodeSrgb(data[(y * width + x) * channels + c] as number) / 9;
      }
      return sum;
    };
    for (let c = 0; c < channels; c++)
      for (const [column, row] of [
        [0, 0],
        [2, 0],
        [127, 1],
      ] as const)
        // prettier-ignore
        assert.ok(Math.abs((light.values[(row * 128 + column) * channels + c] as number) - mean(column, row, c)) < 1e-6);
    assert.ok(Number.isNaN(light.values[1 * channels]));
    if (channels === 3) assert.ok((light.values[4] as number) > 0, "the other channels are not clipped");
  }
});

test("gains per channel are recovered and undone, and clipped pictures give none", () => {
  const image = texture({ width: 192, height: 128 });
  const dim: Image = { ...image, data: image.data.map((value) => 0.3 + 0.4 * value) };
  const wanted = [1.2, 0.9, 0.7];
  const changed = applyGain(dim, wanted);
  const found = exposureGain({ reference: workingFrame(dim).light, frame: workingFrame(changed).light }, IDENTITY);
  found?.forEach((gain, c) => {
    assert.ok(Math.abs(gain * (wanted[c] as number) - 1) < 0.002, String(found));
  });
  assert.equal(found?.length, 3);
  const back = applyGain(changed, found);
  assert.ok(back.data.every((value, i) => Math.abs(value - (dim.data[i] as number)) < 0.003));
  const white: Image = { ...image, data: image.data.map(() => 1) };
  assert.equal(exposureGain({ reference: workingFrame(dim).light, frame: workingFrame(white).light }, IDENTITY), undefined);
});

test("a stretch of a row is what the whole picture has there, in any order, turned and brightened", () => {
  const image = texture({ width: 200, height: 60 });
  const frame = { transform: { scale: 1.02, angle: -0.04, shift: [2.3, -1.7] }, gain: [1.1, 0.9, 1], ok: true } as const;
  const whole = applyGain(warpImage(image, frame.transform), frame.gain);
  withAlignedRows(image, frame, (rowAt) => {
    for (const [y, from, to] of [
      [50, 130, 200],
      [50, 0, 10],
      [7, 60, 70],
      [8, 0, 200],
      [59, 3, 64],
    ] as const) {
      const { take, view, scoped } = workspace();
      const row = scoped(() => {
        const address = take(3 * (to - from) + OVERRUN);
        rowAt(y, { from, to }, address);
        return view(address, 3 * (to - from)).slice();
      });
      assert.deepEqual(row, whole.data.slice(3 * (y * 200 + from), 3 * (y * 200 + to)));
    }
  });
});
