import assert from "node:assert/strict";
import { test } from "node:test";

import { focusSigns } from "../../src/check/evidence.ts";
import { fillDepth, fillSurface } from "../../src/depth/fill.ts";
import { depthMaps } from "../../src/depth/maps.ts";
import { boxMean } from "../../src/image/boxFilter.ts";
import { depthMap } from "../../src/image/depthMap.ts";
import type { Image } from "../../src/image/image.ts";
import { DEFAULT_ERROR_MODEL } from "../../src/network/facts.ts";
import { createRandom } from "../../src/random.ts";

const grey = (width: number, height: number, at: (x: number, y: number) => number): Image => ({
  width,
  height,
  channels: 1,
  data: Float32Array.from({ length: width * height }, (_, i) => at(i % width, Math.floor(i / width))),
});
const map = (image: Image): Float32Array => image.data;

/** The equations of Σ k (Σ_j a_j z_{o_j} − d)², one sum a line, as rows of a matrix with the right side as its last column. */
function equations(
  n: number,
  lines: Iterable<{ k: number; at: readonly (readonly [pixel: number, tap: number])[]; d?: number }>,
): number[][] {
  const rows = Array.from({ length: n }, () => new Array<number>(n + 1).fill(0));
  for (const { k, at, d = 0 } of lines)
    for (const [i, a] of at) {
      const row = rows[i] as number[];
      for (const [j, b] of at) row[j] = (row[j] as number) + k * a * b;
      row[n] = (row[n] as number) + k * a * d;
    }
  return rows;
}

test("the surface is the thin plate that elimination finds", () => {
  const [width, height] = [11, 8];
  const random = createRandom(11);
  const values = map(grey(width, height, () => random.uniform()));
  const weights = map(grey(width, height, () => (random.uniform() < 0.4 ? 3 * random.uniform() : 0)));
  const guide = grey(width, height, () => 0.02 * random.uniform());
  const found = fillSurface({ width, height, values, weights, guide });

  const reach = 0.08 * height;
  const stiff = (i: number, j: number): number => 1 / (1 + (((guide.data[i] as number) - (guide.data[j] as number)) / 0.01) ** 4);
  const lines = Array.from(values, (d, i) => ({ k: weights[i] as number, at: [[i, 1]] as [number, number][], d }));
  const add = (k: number, at: [number, number][]): unknown => lines.push({ k, at, d: 0 });
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [i, r, b] = [y * width + x, y * width + x + 1, y * width + x + width];
      const [hasRight, hasBelow] = [x + 1 < width, y + 1 < height];
      if (hasRight) add((reach / 10) ** 2 * Math.max(stiff(i, r), 1e-5), [[i, 1], [r, -1]]); // prettier-ignore
      if (hasBelow) add((reach / 10) ** 2 * Math.max(stiff(i, b), 1e-5), [[i, 1], [b, -1]]); // prettier-ignore
      if (x > 0 && hasRight) add(reach ** 4 * Math.min(stiff(i - 1, i), stiff(i, r)), [[i - 1, 1], [i, -2], [r, 1]]); // prettier-ignore
      if (y > 0 && hasBelow) add(reach ** 4 * Math.min(stiff(i - width, i), stiff(i, b)), [[i - width, 1], [i, -2], [b, 1]]); // prettier-ignore
      if (hasRight && hasBelow)
        add(2 * reach ** 4 * Math.min(stiff(i, r), stiff(i, b), stiff(r, b + 1), stiff(b, b + 1)), [[i, 1], [r, -1], [b, -1], [b + 1, 1]]); // prettier-ignore
    }
  const exact = eliminate(equations(width * height, lines));
  found.forEach((value, i) => {
    assert.ok(Math.abs(value - (exact[i] as number)) < 1e-4, `pixel ${i}: ${value}, elimination gives ${exact[i]}`);
  });
});

/** Gauss–Jordan with the last column as the right side. */
function eliminate(rows: number[][]): number[] {
  rows.forEach((row, i) => {
    const pivot = row[i] as number; // positive definite: no exchange of rows is needed
    for (let k = i; k < row.length; k++) row[k] = (row[k] as number) / pivot;
    rows.forEach((other, j) => {
      const factor = other[i] as number;
      if (j !== i) for (let k = i; k < row.length; k++) other[k] = (other[k] as number) - factor * (row[k] as number);
    });
  });
  return rows.map((row) => row.at(-1) as number);
}

test("between two known columns a plain wall is a ramp, over several levels of the pyramid", () => {
  const [width, height] = [200, 120];
  const isKnown = (x: number): boolean => x === 0 || x === width - 1;
  const random = createRandom(5);
  const values = map(grey(width, height, (x) => (isKnown(x) ? x / (width - 1) : random.uniform())));
  const weights = map(grey(width, height, (x) => (isKnown(x) ? 1e3 : 0)));
  const found = fillSurface({ width, height, values, weights, guide: grey(width, height, () => 0.4) });
  found.forEach((value, i) => {
    assert.ok(Math.abs(value - (i % width) / (width - 1)) < 0.02, `pixel ${i}: ${value}`);
  });
});

test("values are carried to the image's edges and not across them, and trusted values stay", () => {
  const [width, height] = [128, 96];
  const left = (x: number): boolean => x < 60;
  const seeds = (x: number, y: number): boolean => y % 24 === 5 && (x === 10 || x === 110);
  const values = map(grey(width, height, (x, y) => (seeds(x, y) ? (left(x) ? 1 : 3) : 9)));
  const weights = map(grey(width, height, (x, y) => (seeds(x, y) ? 100 : 0)));
  const found = fillSurface({ width, height, values, weights, guide: grey(width, height, (x) => (left(x) ? 0.2 : 0.9)) });
  found.forEach((value, i) => {
    const expected = left(i % width) ? 1 : 3;
    assert.ok(Math.abs(value - expected) < 0.2, `pixel ${i % width}, ${Math.floor(i / width)}: ${value}, not ${expected}`);
    if ((weights[i] as number) > 0) assert.ok(Math.abs(value - expected) < 0.01);
  });
});

test("a plain wall takes the depth of its textured frame, and founded depth is untouched", () => {
  const [width, height] = [160, 120];
  const random = createRandom(7);
  const isWall = (x: number, y: number): boolean => x >= 30 && x < 130 && y >= 20 && y < 100;
  const texture = grey(width, height, (x, y) => (isWall(x, y) ? 0.5 : 0.5 + 0.3 * (random.uniform() - 0.5)));
  const planes = [3, 1, 0, 2].map((radius) => ({ width, height, values: boxMean({ width, height, values: texture.data }, radius) }));
  const isFar = (x: number, y: number): boolean => isWall(x - 12, y - 12) && isWall(x + 12, y + 12); // no texture within sight
  // The third plane, and on the wall one at random; the network is sure everywhere.
  const chosen = Array.from({ length: width * height }, (_, i) =>
    isFar(i % width, Math.floor(i / width)) ? Math.floor(4 * random.uniform()) : 2,
  );
  const values = Float32Array.from({ length: 4 * width * height }, (_, at) => (chosen[at % (width * height)] === Math.floor(at / (width * height)) ? 1 : 0)); // prettier-ignore
  const stack = { focusDistances: [0, 1, 2, 3], space: "index" } as const;
  const options = { average: "dioptres", errorModel: DEFAULT_ERROR_MODEL, signs: focusSigns(planes) } as const;
  const maps = depthMaps({ planes: 4, width, height, values }, stack, options);
  const depth = depthMap({ width, height, values: maps.depth, space: "index" });
  const { depth: found, filled } = fillDepth({ ...maps, depth, allInFocus: texture });
  for (let i = 0; i < found.values.length; i++) {
    const [x, y] = [i % width, Math.floor(i / width)];
    if (x > 56 && x < 104 && y > 46 && y < 74) {
      assert.equal(filled[i], 1, `${x}, ${y} is not marked`);
      assert.ok(Math.abs((found.values[i] as number) - 2) < 0.25, `wall ${x}, ${y}: plane ${found.values[i]}`);
    }
    if (!isWall(x - 8, y - 8) && !isWall(x + 8, y + 8) && !isWall(x, y)) {
      assert.equal(filled[i], 0, `${x}, ${y} is marked`);
    }
    if (maps.unfounded[i] === 0) assert.equal(found.values[i], depth.values[i], `${x}, ${y} is changed`);
  }
});

test("where nothing is unfounded, or no frame covers anything, the depth is returned as it is", () => {
  const none = new Float32Array(12);
  const depth = depthMap({ width: 4, height: 3, values: none.map((_, i) => 1 + i), space: "index" });
  const source = { depth, confidence: none, unfounded: none, unrest: none, allInFocus: grey(4, 3, () => 0.5) };
  assert.equal(fillDepth(source).depth, depth);
  assert.equal(fillDepth({ ...source, unfounded: none.map(() => 1) }, new Uint8Array(12)).depth, depth);
});

test("what not all frames cover is carried on but not marked", () => {
  const [width, height] = [64, 48];
  const values = map(grey(width, height, (x) => (x < 32 ? 1 : 9)));
  const depth = depthMap({ width, height, values, space: "index" });
  const none = new Float32Array(width * height);
  const covered = Uint8Array.from(values, (value) => (value === 1 ? 1 : 0));
  const sure = { depth, confidence: none.map(() => 0.95), unfounded: none, unrest: none, allInFocus: grey(width, height, () => 0.5) };
  const { depth: found, filled } = fillDepth(sure, covered);
  assert.ok(
    filled.every((mark) => mark === 0),
    "its depth is unknown",
  );
  found.values.forEach((value, i) => {
    if (i % width < 32) assert.equal(value, 1);
    else assert.ok(value < 1.001, `pixel ${i}: ${value}`); // plane 9 at 1e-8 of the weight of smoothness
  });
});

const WALL_HEIGHT = 40;

/** Founded depth of plane 0 in the first and last columns, sure to 0.03 planes; between them unfounded depth of plane 1, off by a plane or more. */
function wall(width: number, { unfounded, unrest }: { readonly unfounded: number; readonly unrest: number }) {
  const isBorder = (x: number): boolean => x === 0 || x === width - 1;
  const across = (at: (x: number) => number): Float32Array => map(grey(width, WALL_HEIGHT, at));
  const depth = depthMap({ width, height: WALL_HEIGHT, values: across((x) => (isBorder(x) ? 0 : 1)), space: "index" });
  const { depth: found, filled } = fillDepth({
    depth,
    confidence: across((x) => (isBorder(x) ? 1 : 0.1)), // 1 / (1 + (2 · 1.5)²)
    unfounded: across((x) => (isBorder(x) ? 0 : unfounded)),
    unrest: across(() => unrest),
    allInFocus: grey(width, WALL_HEIGHT, () => 0.5),
  });
  return { row: found.values.slice(width, 2 * width), filled: filled.slice(width, 2 * width) };
}

/** A row of that wall as a beam, by elimination: its guess has this weight. */
function beam(width: number, weight: number): number[] {
  const reach = 0.08 * WALL_HEIGHT;
  const lines = Array.from({ length: width }, (_, x) => {
    const isBorder = x === 0 || x === width - 1;
    return { k: isBorder ? 1 / 0.03 ** 2 : weight, at: [[x, 1]] as [number, number][], d: isBorder ? 0 : 1 };
  });
  for (let x = 0; x + 1 < width; x++) lines.push({ k: (reach / 10) ** 2, at: [[x, 1], [x + 1, -1]], d: 0 }); // prettier-ignore
  for (let x = 1; x + 1 < width; x++) lines.push({ k: reach ** 4, at: [[x - 1, 1], [x, -2], [x + 1, 1]], d: 0 }); // prettier-ignore
  return eliminate(equations(width, lines)).map((z) => Math.min(Math.max(z, 0), 1)); // no depth beyond what was measured
}

test("a calm guess counts by its error: the wall keeps it beyond a few times the reach of what is known around", () => {
  const { row, filled } = wall(100, { unfounded: 1, unrest: 0 });
  const exact = beam(100, 1);
  for (let x = 1; x < 99; x++)
    assert.ok(Math.abs((row[x] as number) - (exact[x] as number)) < 1e-3, `column ${x}: ${row[x]}, not ${exact[x]}`);
  assert.ok((row[1] as number) < 0.5 && (row[10] as number) > 0.9, `${row[1]}, ${row[10]}`);
  assert.deepEqual([row[0], row[99], filled[0], filled[1]], [0, 0, 0, 1]);
});

test("a restless guess does not: the depth of the borders is carried through the wall", () => {
  for (const [unrest, weight] of [
    [0.9, 1e-5],
    [0.45, Math.sqrt(1e-5)],
  ] as const) {
    // prettier-ignore
    const { row } = wall(100, { unfounded: 1, unrest });
    const exact = beam(100, weight);
    for (const x of [5, 20, 50])
      assert.ok(Math.abs((row[x] as number) - (exact[x] as number)) < 0.01, `column ${x}: ${row[x]}, not ${exact[x]}`);
  }
  const [restless, calmer] = [0.9, 0.45].map((unrest) => wall(100, { unfounded: 1, unrest }).row[20] as number) as [number, number];
  assert.ok(restless < 0.2 && calmer > 0.5, `${restless}, ${calmer}`);
});

test("depth that is half unfounded is halfway between the surface and the guess, and marked as filled only beyond that", () => {
  const { row, filled } = wall(100, { unfounded: 0.5, unrest: 0.9 });
  const exact = beam(100, Math.sqrt(1e-5));
  for (const x of [5, 10, 20]) {
    const expected = (1 + (exact[x] as number)) / 2;
    assert.ok(Math.abs((row[x] as number) - expected) < 0.01, `column ${x}: ${row[x]}, expected ${expected}`);
  }
  assert.equal(filled[10], 0);
  assert.equal(wall(100, { unfounded: 0.51, unrest: 0.9 }).filled[10], 1);
});

test("the blotches of a network's guesses on a slanted wall are smoothed away, and its slope stays", () => {
  const [width, height] = [320, 240];
  const slanted = (x: number, y: number): number => 2 + x / 100 - y / 200;
  const blotches = (x: number, y: number): number => 0.3 * Math.sin(x / 3) * Math.sin(y / 4); // 20 pixels wide, of 240
  const values = map(grey(width, height, (x, y) => slanted(x, y) + blotches(x, y)));
  const found = fillSurface({ width, height, values, weights: values.map(() => 1), guide: grey(width, height, () => 0.5) });
  for (let y = 20; y < 220; y++)
    for (let x = 20; x < 300; x++) {
      const off = Math.abs((found[y * width + x] as number) - slanted(x, y));
      assert.ok(off < 0.03, `${x}, ${y}: ${off} off the wall`);
    }
});

test("a surface of more pixels than are solved keeps the image's edges to the pixel", () => {
  const [width, height] = [1280, 960];
  const isLeft = (x: number): boolean => x < 641; // between two pixels of the coarser level
  const values = map(grey(width, height, (x) => (isLeft(x) ? 1 : 3)));
  const found = fillSurface({
    width,
    height,
    values,
    weights: values.map(() => 1),
    guide: grey(width, height, (x) => (isLeft(x) ? 0.2 : 0.6)),
  });
  for (const x of [0, 300, 638, 643, 1000, 1279]) {
    const value = found[500 * width + x] as number;
    assert.ok(Math.abs(value - (isLeft(x) ? 1 : 3)) < 0.05, `column ${x}: ${value}`);
  }
});

test("a plane stays a plane where nothing is founded, and a value that is not a number counts nothing", () => {
  for (const [width, height] of [
    [47, 47],
    [40, 200],
  ] as const) {
    const values = new Float32Array(width * height).fill(3);
    values[5 * width + 7] = NaN;
    const found = fillSurface({ width, height, values, weights: values.map(() => 2.7e-5), guide: grey(width, height, () => 0.5) });
    found.forEach((value, i) => {
      assert.ok(Math.abs(value - 3) < 1e-4, `${width}×${height}, pixel ${i}: ${value}`);
    });
  }
});

test("sides that do not halve evenly shift neither ramps nor edges", () => {
  const [width, height] = [389, 195]; // 195, 98, 49, and 25 with a cell of one pixel at each end but one
  const isLeft = (x: number): boolean => x < 301;
  const ramp = (x: number, y: number): number => (isLeft(x) ? 1 + x / 400 : 4) + y / 300;
  const values = map(grey(width, height, ramp));
  const guide = grey(width, height, (x) => (isLeft(x) ? 0.2 : 0.6));
  const found = fillSurface({ width, height, values, weights: values.map(() => 1), guide });
  for (const x of [4, 150, 297, 304, 384])
    for (const y of [4, 100, 190]) {
      const off = Math.abs((found[y * width + x] as number) - ramp(x, y));
      assert.ok(off < 0.03, `${x}, ${y}: ${off}`);
    }
});

test("a depth that is not a number is filled in where nothing is founded", () => {
  const [width, height] = [64, 48];
  const values = map(grey(width, height, (x, y) => (x === 30 && y === 20 ? NaN : 2)));
  const ones = new Float32Array(width * height).fill(1);
  const depth = depthMap({ width, height, values, space: "index" });
  const source = { depth, confidence: ones, unfounded: ones, unrest: ones.map(() => 0), allInFocus: grey(width, height, () => 0.5) };
  const value = fillDepth(source).depth.values[20 * width + 30] as number;
  assert.ok(Math.abs(value - 2) < 1e-3, `${value}`);
});
