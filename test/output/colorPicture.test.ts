import assert from "node:assert/strict";
import { test } from "node:test";
import { depthMap } from "../../src/image/depthMap.ts";
import { canvas, drawText, fillRectangle, textWidth } from "../../src/output/canvas.ts";
import { colorAt } from "../../src/output/colorMap.ts";
import { DARKEST_SHADE, drawColorPicture, paintDepth } from "../../src/output/colorPicture.ts";
import type { DepthResult } from "../../src/output/result.ts";
import { scaleBar } from "../../src/output/scaleBar.ts";
import { displayUnit, niceStep, ticks } from "../../src/output/ticks.ts";

test("the maps pass through their published colours", () => {
  const near = (actual: readonly number[], expected: readonly number[], tolerance: number): void => {
    for (const [i, value] of expected.entries())
      assert.ok(Math.abs((actual[i] as number) - value) <= tolerance, `${actual.join()} ≠ ${expected.join()}`);
  };
  near(colorAt("turbo", 0), [48, 18, 59], 35); // the published polynomial is a little off the published table
  near(colorAt("turbo", 0.5), [164, 252, 60], 22);
  near(colorAt("turbo", 1), [122, 4, 3], 30);
  near(colorAt("viridis", 0), [68, 1, 84], 3);
  near(colorAt("viridis", 0.5), [33, 145, 140], 3);
  near(colorAt("viridis", 1), [253, 231, 37], 5);
  assert.deepEqual(colorAt("turbo", -3), colorAt("turbo", 0));
});

test("near is the warm end whatever the unit, unknown is black, beyond the range is held", () => {
  const depth = depthMap({ width: 4, height: 1, values: Float32Array.of(1, 3, NaN, 9), space: "depth" });
  const colors = (result: Pick<DepthResult, "depth" | "range">): number[][] => {
    const { data } = paintDepth(result, { map: "viridis" });
    return [0, 1, 2, 3].map((i) => [...data.subarray(3 * i, 3 * i + 3)]);
  };
  const [near, far] = [colorAt("viridis", 1), colorAt("viridis", DARKEST_SHADE / 255)];
  assert.deepEqual(colors({ depth, range: [1, 3] }), [near, far, [0, 0, 0], far]);
  assert.deepEqual(colors({ depth: { ...depth, space: "disparity" }, range: [1, 3] }), [far, near, [0, 0, 0], near]);
  const flat = depthMap({ width: 2, height: 2, values: Float32Array.of(2, 2, 2, 2), space: "depth" });
  assert.deepEqual(colors({ depth: flat })[0], colorAt("viridis", 134 / 255));
});

test("grey is bright far away, near-white is bright nearby and black at the far end, and flipping exchanges the two ends", () => {
  const depth = depthMap({ width: 3, height: 1, values: Float32Array.of(1, 3, NaN), space: "depth" });
  const greys = (coloring: Parameters<typeof paintDepth>[1]): number[] => {
    const { data } = paintDepth({ depth }, coloring);
    assert.ok([0, 1, 2].every((i) => data[3 * i] === data[3 * i + 1] && data[3 * i] === data[3 * i + 2]));
    return [0, 1, 2].map((i) => data[3 * i] as number);
  };
  assert.deepEqual(greys({ map: "grey" }), [DARKEST_SHADE, 255, 0]);
  assert.deepEqual(greys({ map: "grey", flip: true }), [255, DARKEST_SHADE, 0]);
  assert.deepEqual(greys({ map: "near-white" }), [255, 0, 0]);
  assert.deepEqual(greys({ map: "near-white", flip: true }), [0, 255, 0]);
});

test("without its legend the picture has the map's size", () => {
  const depth = depthMap({ width: 3, height: 2, values: Float32Array.of(1, 2, 3, 4, 5, 6), space: "depth" });
  const { width, height, data } = drawColorPicture({ depth, unit: "m" }, { map: "near-white", legend: false });
  assert.deepEqual([width, height], [3, 2]);
  assert.deepEqual(Uint8Array.from(data), paintDepth({ depth }, { map: "near-white" }).data);
});

test("a scale bar is a round length, at most a quarter of what is in view, at the middle depth", () => {
  const depth = depthMap({ width: 2, height: 1, values: Float32Array.of(1, 3), space: "depth" });
  const camera = { focalLength: 0.05, fNumber: 2, pixelPitch: 5e-5 }; // 1000 pixels focal length: 2 mm per pixel at 2 m
  const bar = (known: Partial<DepthResult>, within: number): string => {
    const { pixels = NaN, label = "" } = scaleBar({ depth, unit: "m", ...known }, { within }) ?? {};
    return `${pixels.toFixed(6)}: ${label}`;
  };
  assert.equal(bar({ camera }, 1000), "250.000000: 500 mm at 2 m");
  assert.equal(bar({ camera }, 100), "25.000000: 50 mm at 2 m");
  assert.equal(bar({ pixelSize: 1e-6 }, 100), "20.000000: 20 µm");
  assert.equal(scaleBar({ depth, unit: "m" }, { within: 100 }), undefined, "an assumed camera measures nothing");
});

test("the legend stands below the untouched picture and runs through all colours", () => {
  const [width, height] = [300, 100];
  const values = Float32Array.from({ length: width * height }, (_, i) => 0.5 + (i % width) / width);
  const result: DepthResult = { depth: depthMap({ width, height, values, space: "depth" }), unit: "m" };
  const png = drawColorPicture(result);
  assert.ok(png.width === width && png.height > height + 20);
  assert.deepEqual(Uint8Array.from(png.data.subarray(0, width * height * 3)), paintDepth(result).data);
  const at = (x: number, y: number): number[] => [...png.data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)];
  const bar = height + 8;
  assert.deepEqual(at(6, bar), colorAt("turbo", 1));
  assert.deepEqual(at(width - 7, bar), colorAt("turbo", DARKEST_SHADE / 255));
  const white = (top: number, bottom: number): number => {
    let count = 0;
    for (let y = top; y < bottom; y++) for (let x = 0; x < width; x++) if (at(x, y).every((value) => value === 255)) count++;
    return count;
  };
  assert.ok(white(height + 17, png.height) > 60, "numbers are written");
  const measured = drawColorPicture({ ...result, camera: { focalLength: 0.05, fNumber: 2, pixelPitch: 1e-4 } });
  assert.ok(measured.height > png.height, "a known camera adds a bar of known length");
});

test("tiny, flat and unknown maps have a legend too", () => {
  for (const [width, height, value] of [
    [1, 1, 2],
    [3, 2, NaN],
    [40, 30, 0],
    [2000, 10, 1e-5],
  ] as const) {
    const values = new Float32Array(width * height).fill(value);
    const png = drawColorPicture({ depth: depthMap({ width, height, values, space: "index" }), unit: "index" });
    assert.equal(png.width, width);
  }
});

test("ticks are round, within the range, and no more than asked for", () => {
  assert.deepEqual(
    ticks([0.48, 1.31], 5).map(({ label }) => label),
    ["0.6", "0.8", "1.0", "1.2"],
  );
  assert.deepEqual(
    ticks([0, 6], 6).map(({ label }) => label),
    ["0", "1", "2", "3", "4", "5", "6"].slice(0, 7),
  );
  assert.deepEqual(
    ticks([-3, 2], 3).map(({ label }) => label),
    ["-2", "0", "2"],
  );
  assert.deepEqual(
    ticks([2, 2], 5).map(({ label }) => label),
    ["2"],
  );
  assert.deepEqual([niceStep(0.3), niceStep(7), niceStep(1), niceStep(0)], [0.2, 5, 1, 1]);
  assert.deepEqual(
    ["m", "mm", "µm"],
    [2, 0.3, 4e-4].map((largest) => displayUnit("m", largest).name),
  );
  assert.equal(displayUnit("index", 6).name, "plane");
});

test("letters are drawn dot by dot and cut off at the edge", () => {
  const board = canvas(11, 7);
  drawText(board, "1.", { x: 0, y: 0, scale: 1, color: [255, 255, 255] });
  const rows = Array.from({ length: 7 }, (_, y) =>
    Array.from({ length: 11 }, (__, x) => (board.data[(y * 11 + x) * 3] ? "#" : " ")).join(""),
  );
  assert.deepEqual(rows, ["  #        ", " ##        ", "  #        ", "  #        ", "  #        ", "  #    ##  ", " ###   ##  "]);
  assert.equal(textWidth("1."), 11);
  fillRectangle(board, { x: -5, y: -5, w: 100, h: 100, color: [1, 2, 3] });
  assert.deepEqual([...board.data.subarray(-3)], [1, 2, 3]);
});
