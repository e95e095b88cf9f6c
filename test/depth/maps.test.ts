import assert from "node:assert/strict";
import { test } from "node:test";

import { depthMaps, errorCues, type DepthMaps, type MapOptions } from "../../src/depth/maps.ts";
import { byCue, CUES, expectedErrors, type ErrorModel } from "../../src/network/facts.ts";
import { assertClose } from "../helpers/close.ts";

/** Pixels in one row, each with its p. */
function row(pixels: readonly (readonly number[])[]) {
  const planes = pixels[0]?.length ?? 0;
  const values = Float32Array.from({ length: planes * pixels.length }, (_, i) => pixels[i % pixels.length]?.[Math.floor(i / pixels.length)] as number); // prettier-ignore
  return { planes, width: pixels.length, height: 1, values };
}

const NONE = { at: [0], factor: [1] };
const MODEL: ErrorModel = { planes: 1, ...byCue(() => NONE), spread: { at: [0.5, 1], factor: [0.2, 1] }, stack: NONE, mismatch: NONE };
const IN_DIOPTRES = { errorModel: MODEL, average: "dioptres" } as const;
const IN_METRES = { errorModel: MODEL, average: "metres" } as const;

/** The maps of images that show nothing. */
function mapsOf(p: ReturnType<typeof row>, stack: Parameters<typeof depthMaps>[1], options: Omit<MapOptions, "signs">): DepthMaps {
  const signs = { evidence: new Float32Array(p.width), sharpest: new Uint16Array(p.width), mismatch: 0.25 };
  return depthMaps(p, stack, { ...options, signs });
}

test("metres are averaged in dioptres: half of p at 0.5 m and half at 1 m is 2/3 m", () => {
  const maps = mapsOf(row([[0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5]]), { focusDistances: [0.5, 1, 2], space: "depth" }, IN_DIOPTRES); // prettier-ignore
  assertClose(maps.depth, [2 / 3, 1, 4 / 3], 1e-6);
  // √(½ (1/6)² + ½ (1/3)²) and √(½ (1/3)² + ½ (2/3)²)
  assertClose(maps.spread, [Math.sqrt(5 / 72), 0, Math.sqrt(5 / 18)], 1e-6);
});

test("a network that averages metres has the arithmetic mean (eq. 6), and their error is in planes there", () => {
  const stack = { focusDistances: [0.5, 1, 2], space: "depth" } as const;
  const maps = mapsOf(row([[0.5, 0.5, 0], [0, 0.5, 0.5]]), stack, IN_METRES); // prettier-ignore
  assertClose(maps.depth, [0.75, 1.5], 1e-6);
  assertClose(maps.spread, [0.25, 0.5], 1e-6);
  assertClose(maps.error, [0.2 * 0.5, 0.2 * 1], 1e-6);
});

test("positions, disparities and plane indices are averaged as they are", () => {
  const p = row([[0.25, 0.75, 0]]);
  for (const options of [IN_DIOPTRES, IN_METRES]) {
    assertClose(mapsOf(p, { focusDistances: [0.28, 0.2, 0.1], space: "disparity" }, options).depth, [0.22], 1e-6);
    assertClose(mapsOf(p, { focusDistances: [0, 1, 2], space: "index" }, options).depth, [0.75], 1e-6);
    // A microscope: ¾ of the way from the first plane to the second, whatever the zero of its z is. In dioptres from one step away it was 1/0.625 - 1 = 0.6.
    const microscope = mapsOf(p, { focusDistances: [0, 2e-6, 4e-6], space: "position" }, options);
    assertClose(microscope.depth, [1.5e-6], 1e-6);
  }
});

test("the error is the model's planes times the planes' distance there", () => {
  // Spread of ½ and ½ on neighbours: ½ plane, so 0.2 planes. Around 2/3 m planes are 1 dpt apart: 0.2 · 1 · (2/3)² metres.
  const metric = mapsOf(row([[0.5, 0.5, 0], [0, 0.5, 0.5]]), { focusDistances: [0.5, 1, 2], space: "depth" }, IN_DIOPTRES); // prettier-ignore
  assertClose(metric.error, [0.2 * (2 / 3) ** 2, 0.2 * 0.5 * (4 / 3) ** 2], 1e-6);
  assertClose(metric.confidence, [1 / 1.16, 1 / 1.16], 1e-6);
  // Half on the first and half on the third: spread 1 plane, 1 plane of error, confidence 1 / (1 + 2²).
  const falling = mapsOf(row([[0.5, 0, 0.5]]), { focusDistances: [0.3, 0.2, 0.1], space: "disparity" }, IN_DIOPTRES);
  assertClose(falling.error, [0.1], 1e-5);
  assertClose(falling.confidence, [0.2], 1e-6);
});

test("errors are larger by a factor for the whole stack, by the median of its pixels' errors divided by √(planes / 5)", () => {
  const stack = { focusDistances: [0, 1, 2], space: "index" } as const;
  const pixels = row([[0.5, 0, 0.5], [0.5, 0, 0.5], [0, 1, 0]]); // prettier-ignore
  // Pixels of 1, 1 and 0.2 planes: the median is 1, that is √(5/3) as for five planes, halfway between the knots geometrically.
  const doubt = Math.sqrt(5 / 3);
  const errorModel = { ...MODEL, stack: { at: [doubt - 0.5, doubt + 0.5], factor: [1, 4] } };
  const { error, confidence } = mapsOf(pixels, stack, { ...IN_METRES, errorModel });
  assertClose(error, [2, 2, 0.4], 1e-5);
  assertClose(confidence, [1 / 17, 1 / 17, 1 / 1.64], 1e-5);
});

test("errors are larger by a factor for the mismatch of the stack's planes", () => {
  const stack = { focusDistances: [0, 1, 2], space: "index" } as const;
  const errorModel = { ...MODEL, mismatch: { at: [0, 0.5], factor: [1, 4] } }; // 0.25 lies halfway
  assertClose(mapsOf(row([[0.5, 0, 0.5], [0, 1, 0]]), stack, { ...IN_METRES, errorModel }).error, [2, 0.4], 1e-5); // prettier-ignore
});

test("almost all of p on an end plane marks the pixel as there or beyond; its confidence is that of any other", () => {
  const pixels = [[0.9, 0.1, 0], [0.5, 0.5, 0], [0, 0.05, 0.95], [0.05, 0.9, 0.05]]; // prettier-ignore
  const { beyond, confidence } = mapsOf(row(pixels), { focusDistances: [1, 2, 3], space: "depth" }, IN_DIOPTRES);
  assert.deepEqual([...beyond], [-1, 0, 1, 0]);
  assertClose(confidence, [1 / 1.16, 1 / 1.16, 1 / 1.16, 1 / 1.16], 1e-6); // spreads of at most ½ plane
});

test("the cues of a pixel: spread of p, that times its largest value, unrest, evidence there and around it, and distance from the sharpest plane by evidence", () => {
  const p = row([[1, 0, 0], [0.5, 0, 0.5], [0, 0, 1]]); // prettier-ignore
  const cues = errorCues(p, { evidence: Float32Array.of(0, 0.5, 1), sharpest: Uint16Array.of(2, 2, 1) });
  // The means are 0, 1, 2; the window of three pixels holds two of them at the ends. In an image this small every reach is one pixel.
  for (const [i, [spread, tail, unrest, evidence, surroundings, enclosure, disagreement]] of [
    [0, 0, 0.5, 0, 0.25, 0.25, 0],
    [1, 0.5, Math.sqrt(2 / 3), 0.5, 0.5, 0.25, 0.5],
    [0, 0, 0.5, 1, 0.75, 0.5, 1],
  ].entries()) {
    // prettier-ignore
    const found = CUES.map((cue) => cues[cue][i] as number);
    assertClose(found, [spread, tail, unrest, unrest, evidence, surroundings, surroundings, enclosure, disagreement] as number[], 1e-6);
  }
});

test("of two p with the same spread, the one with a sharp peak and a far tail has the larger tail", () => {
  // Variances of 0.9 · 0.1 · 3² = 0.81 and 0.405 · 2: 0.9 · 0.9 against 0.405 · 0.9.
  const p = row([[0.9, 0, 0, 0.1, 0], [0, 0.405, 0.19, 0.405, 0]]); // prettier-ignore
  const { spread, tail } = errorCues(p, { evidence: new Float32Array(2), sharpest: new Uint16Array(2) });
  assertClose(spread, [0.9, 0.9], 1e-6);
  assertClose(tail, [0.81, 0.3645], 1e-6);
});

test("unrest reaches 1/32 of the shorter side, ripple 1/128", () => {
  const [width, height] = [300, 256]; // 8 pixels, and 2
  const values = Float32Array.from({ length: 2 * width * height }, (_, i) => ((i % width >= 150 ? 1 : 0) === Math.floor(i / (width * height)) ? 1 : 0)); // prettier-ignore
  const none = { evidence: new Float32Array(width * height), sharpest: new Uint16Array(width * height) };
  const cues = errorCues({ planes: 2, width, height, values }, none);
  const at = (x: number): number[] => [cues.unrest, cues.ripple].map((map) => map[128 * width + x] as number);
  const deviation = (beyond: number, of: number): number => Math.sqrt((beyond / of) * (1 - beyond / of));
  assert.deepEqual(at(141), [0, 0]);
  assertClose(at(142), [deviation(1, 17), 0], 1e-4);
  assertClose(at(148), [deviation(7, 17), deviation(1, 5)], 1e-4);
});

test("surroundings reach 1/16 of the shorter side, the region 1/8", () => {
  const [width, height] = [160, 128]; // 8 pixels, and 16
  const evidence = Float32Array.from({ length: width * height }, (_, i) => (i % width === 80 ? 1 : 0));
  const values = new Float32Array(2 * width * height).fill(0.5);
  const cues = errorCues({ planes: 2, width, height, values }, { evidence, sharpest: new Uint16Array(width * height) });
  const at = (x: number): number[] => [cues.surroundings, cues.region].map((map) => map[64 * width + x] as number);
  assertClose([63, 64, 71, 72, 80, 88, 89, 96, 97].flatMap(at), [0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0].map((one, k) => one / (k % 2 ? 33 : 17)), 1e-5); // prettier-ignore
});

test("a plain spot is enclosed by what is around it, a wall beside an object is not", () => {
  const [width, height] = [120, 100]; // squares of 21 pixels, with their centres 10 pixels away in x and y
  const values = new Float32Array(2 * width * height).fill(0.5);
  const enclosureOf = (isPlain: (x: number, y: number) => boolean): ((x: number, y: number) => number) => {
    const evidence = Float32Array.from({ length: width * height }, (_, i) => (isPlain(i % width, Math.floor(i / width)) ? 0 : 1));
    const { enclosure } = errorCues({ planes: 2, width, height, values }, { evidence, sharpest: new Uint16Array(width * height) });
    return (x, y) => enclosure[y * width + x] as number;
  };
  const spot = enclosureOf((x, y) => Math.abs(x - 60) <= 6 && Math.abs(y - 50) <= 6);
  assertClose([spot(60, 50), spot(40, 50)], [1 - 7 ** 2 / 21 ** 2, 1 - 7 ** 2 / 21 ** 2], 1e-5); // 7×7 plain pixels of each square, and of the two on the right
  const wall = enclosureOf((x) => x >= 60);
  // To the right of x = 60 all squares on the right are bare; they hold d columns of the object when the pixel is d to its left.
  assertClose([wall(70, 50), wall(60, 50), wall(59, 50), wall(50, 50), wall(39, 50)], [0, 0, 1 / 21, 10 / 21, 1], 1e-5);
  const [lowerRight, upperLeft] = [enclosureOf((x, y) => x >= 60 && y >= 50), enclosureOf((x, y) => x < 60 && y < 50)];
  assertClose([lowerRight(59, 49), lowerRight(59, 29)], [1 - 20 ** 2 / 21 ** 2, 1], 1e-5);
  assertClose([upperLeft(60, 50), upperLeft(60, 70)], [1 - 20 ** 2 / 21 ** 2, 1], 1e-5);
});

test("factors are interpolated geometrically between knots and constant outside; the error grows with spreads beyond the last", () => {
  const model = { ...MODEL, planes: 3, evidence: { at: [0, 1], factor: [4, 1] } };
  const at = (spread: number, evidence: number): number => {
    const seen = { ...byCue(() => 9), spread, evidence };
    return expectedErrors(model, byCue((cue) => Float32Array.of(seen[cue])))[0] as number; // prettier-ignore
  };
  assertClose([at(0, 1), at(0.5, 1), at(0.75, 1), at(1, 1), at(3, 1)], [0.6, 0.6, 3 * Math.sqrt(0.2), 3, 9], 1e-5);
  assertClose([at(1, 0), at(1, 0.5), at(1, 2)], [12, 6, 3], 1e-5);
});

test("depth is unfounded by 1 − evidence / 0.03, averaged within 1/16 of the shorter side, whatever the network makes of it", () => {
  const [width, height] = [80, 64];
  const evidence = Float32Array.from({ length: width * height }, (_, i) => (i % width === 40 ? 0.135 : i % width < 20 ? 0.2 : 0));
  const values = Float32Array.from({ length: 2 * width * height }, (_, i) => ((i % width >= 60 ? 1 : 0) === Math.floor(i / (width * height)) ? 1 : 0)); // prettier-ignore
  const options = { ...IN_METRES, signs: { evidence, sharpest: new Uint16Array(width * height), mismatch: 0 } };
  const { unfounded, unrest } = depthMaps({ planes: 2, width, height, values }, { focusDistances: [1, 2], space: "depth" }, options);
  const row = 30 * width;
  // Windows of nine columns: 0.135 / 9 is half of 0.03.
  assertClose([35, 36, 40, 44, 45].map((x) => unfounded[row + x] as number), [1, 0.5, 0.5, 0.5, 1], 1e-5); // prettier-ignore
  assert.equal(unfounded[row + 10], 0);
  // The depth steps at column 60; windows of five columns (1/32) hold 0, 1, 2 of the other side.
  assertClose([57, 58, 59, 60, 61, 62].map((x) => unrest[row + x] as number), [0, 0.4, Math.sqrt(0.24), Math.sqrt(0.24), 0.4, 0], 1e-5); // prettier-ignore
});
