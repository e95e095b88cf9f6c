import assert from "node:assert/strict";
import { test } from "node:test";

import type { Tensor } from "../../src/engine/engine.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { focalTrendLoss, focalVariationalLoss } from "../../src/losses/focalVariational.ts";
import { sharpnessWeight } from "../../src/losses/sharpnessWeight.ts";
import { smoothL1 } from "../../src/losses/smoothL1.ts";
import { areaWeights, spatialVariationalLoss, type SpatialOptions } from "../../src/losses/spatialVariational.ts";
import { dfvLoss, paperLoss, totalLoss, type LossConfig } from "../../src/losses/total.ts";
import type { Prediction } from "../../src/model/network.ts";
import { createRandom } from "../../src/random.ts";
import { presets } from "../../src/train/presets.ts";
import { applyVariant, type Variant } from "../../src/train/variants.ts";
import { assertClose, directionalError } from "../helpers/close.ts";

const engine = createTorchEngine();
const f64 = (values: ArrayLike<number>, ...shape: number[]): Tensor => engine.constant(values, { shape, dtype: "f64" });
const read = (tensor: Tensor): number[] => Array.from(engine.read(tensor) as Float64Array);
const normals = (count: number, seed: number): Float64Array => {
  const random = createRandom(seed);
  return Float64Array.from({ length: count }, () => random.normal());
};
const focal = (p: number[]): number =>
  engine.item(focalVariationalLoss({ focusProbability: f64(p, 1, p.length, 1, 1), valid: f64([1], 1, 1, 1, 1) }));

/** Checks ∂loss/∂x at `at` in float64 along three random directions. */
function checkGradient(loss: (x: Tensor) => Tensor, at: Float64Array, shape: readonly number[]): void {
  const input = engine.requireGradient(f64(at, ...shape));
  engine.backward(loss(input));
  const gradient = engine.read(engine.gradient(input) as Tensor) as Float64Array;
  for (const seed of [11, 12, 13]) {
    const error = directionalError((x) => engine.item(loss(f64(x, ...shape))), { at, direction: normals(at.length, seed), gradient });
    assert.ok(error < 1e-6, `gradient differs by ${error}`);
  }
}

test("q of three planes at 1, 2, 4 m for a point at 2 m is softmax(−1, 0, −2)", () => {
  const q = read(sharpnessWeight({ focusDistances: f64([1, 2, 4], 1, 3, 1, 1), trueDepth: f64([2], 1, 1, 1, 1) }));
  const sum = Math.exp(-1) + 1 + Math.exp(-2);
  assertClose(q, [Math.exp(-1) / sum, 1 / sum, Math.exp(-2) / sum], 1e-12);
});

test("q sums to 1, does not change when f and D* shift together, and sharpens as τ falls", () => {
  const depth = normals(12, 1).map((value) => 3 + value);
  const q = (shift: number, temperature = 1): number[] =>
    read(
      sharpnessWeight(
        {
          focusDistances: f64([1 + shift, 2 + shift, 3.5 + shift, 5 + shift], 1, 4, 1, 1),
          trueDepth: f64(
            depth.map((d) => d + shift),
            1,
            1,
            3,
            4,
          ),
        },
        { temperature },
      ),
    );
  const plain = q(0);
  for (let i = 0; i < 12; i++) assert.ok(Math.abs([0, 1, 2, 3].reduce((sum, n) => sum + (plain[n * 12 + i] as number), 0) - 1) < 1e-12);
  assertClose(q(7), plain, 1e-9);
  assert.ok(Math.max(...q(0, 0.1)) > Math.max(...plain));
});

test("L_fv is 0.04 for p = (0.4, 0.2, 0.4) and 0 for every unimodal p", () => {
  assert.ok(Math.abs(focal([0.4, 0.2, 0.4]) - 0.04) < 1e-15); // the first maximum counts: only the rise 0.2 → 0.4 is wrong
  for (const p of [
    [0.1, 0.2, 0.4, 0.2, 0.1],
    [0.7, 0.2, 0.1],
    [0.1, 0.2, 0.7],
    [0.25, 0.25, 0.25, 0.25],
    [0.1, 0.4, 0.4, 0.1],
  ])
    assert.equal(focal(p), 0, p.join(" "));
});

test("L_fv adds the squared wrong steps on both sides of the peak, and is positive for every p with two humps", () => {
  assert.ok(Math.abs(focal([0.2, 0.1, 0.4, 0.05, 0.25]) - (0.1 ** 2 + 0.2 ** 2)) < 1e-15);
  const random = createRandom(5);
  for (let k = 0; k < 50; k++) {
    const p = [0.3 + 0.1 * random.uniform(), 0.1 * random.uniform(), 0.3 + 0.1 * random.uniform(), 0.05];
    assert.ok(focal(p) > 0, p.join(" "));
  }
});

test("L_fv leaves out invalid pixels", () => {
  const p = f64([0.4, 0.1, 0.2, 0.8, 0.4, 0.1], 1, 3, 1, 2); // the first pixel is 0.4 0.2 0.4, the second unimodal
  const loss = (valid: number[]): number => engine.item(focalVariationalLoss({ focusProbability: p, valid: f64(valid, 1, 1, 1, 2) }));
  assert.ok(Math.abs(loss([1, 1]) - 0.02) < 1e-15);
  assert.equal(loss([0, 1]), 0);
});

test("the trend term adds how far log p goes the wrong way, but not at the steps beside the peak", () => {
  const trend = (p: number[], valid = 1): number =>
    engine.item(focalTrendLoss({ focusProbability: f64(p, 1, p.length, 1, 1), valid: f64([valid], 1, 1, 1, 1) }));
  const log = (value: number): number => Math.log(value + 1e-6);
  assertClose([trend([0.6, 0.3, 0.05, 0.1])], [0.05 + log(0.1) - log(0.05) + 0], 1e-12); // 0.05 → 0.1 rises; 0.3 → 0.05 falls enough
  assertClose([trend([0.999, 1e-4, 2e-4])], [0.05 + log(2e-4) - log(1e-4)], 1e-12); //      L_fv is 1e-8 here
  assert.equal(trend([0.2, 0.4, 0.4]), 0); //                                              even beside the peak, 0.2 → 0.4 touches it
  assert.equal(trend([0.01, 0.1, 0.6, 0.2, 0.05]), 0);
  assert.equal(trend([0.4, 0.2, 0.4], 0), 0); //                                           an invalid pixel
});

test("smooth L1 is e²/2β inside β and |e| − β/2 outside, over valid pixels only", () => {
  const pair = { depth: f64([1, 2, 5, 9], 1, 1, 2, 2), trueDepth: f64([1.5, 2, 2, 0], 1, 1, 2, 2), valid: f64([1, 1, 1, 0], 1, 1, 2, 2) };
  assertClose([engine.item(smoothL1(pair))], [(0.125 + 0 + 2.5) / 3], 1e-12);
  assertClose([engine.item(smoothL1(pair, { beta: 0.1 }))], [(0.45 + 0 + 2.95) / 3], 1e-12);
  assert.equal(engine.item(smoothL1({ ...pair, valid: f64([0, 0, 0, 0], 1, 1, 2, 2) })), 0, "nothing known, nothing lost");
});

/** θ_grad(z*) on a 2×2 grid for two planes; D* = 4×4 pixels whose 2×2 cells hold 1, 3 / 2, 8. */
const cells = [1, 1, 3, 3, 1, 1, 3, 3, 2, 2, 8, 8, 2, 2, 8, 8];
const field = (values: number[]): Tensor => f64(values, 1, 2, 2, 2);
const fields = {
  gradientField: { x: f64(new Float64Array(16).fill(1), 1, 2, 2, 2, 2), y: f64(new Float64Array(16), 1, 2, 2, 2, 2) },
  surface: f64(new Float64Array(16), 1, 2, 2, 2, 2),
  surfaceGradient: { x: field([2, 9, 6, 9, 1, 9, 1, 9]), y: field([1, 5, 9, 9, 0, 0, 9, 9]) },
};
const truth = (valid: Float64Array = new Float64Array(16).fill(1)) => ({
  trueDepth: f64(cells, 1, 1, 4, 4),
  valid: f64(valid, 1, 1, 4, 4),
  focusDistances: f64([1, 3], 1, 2),
});
const spatial = (options: Partial<SpatialOptions> = {}, valid?: Float64Array): number =>
  engine.item(spatialVariationalLoss(fields, truth(valid), options));

test("L_sv on a 2×2 grid is the value worked by hand", () => {
  // ∇ₓD* = (2, 6), ∇ᵧD* = (1, 5); plane 1 predicts both exactly, plane 2 (1, 1) and (0, 0): errors 1, 5 along x and 1, 5 along y
  const q2 = (d: number): number => Math.exp(-Math.abs(3 - d)) / (Math.exp(-Math.abs(3 - d)) + Math.exp(-Math.abs(1 - d)));
  const expected = (q2(1) * (1 + 1) + q2(3) * 5 + q2(2) * 5 + q2(8) * 0) / 4; // the lower right cell has no neighbour
  assertClose([spatial()], [expected], 1e-12);
  assertClose([spatial({ planeWeight: "even" })], [(0.5 * (2 + 5 + 5)) / 4], 1e-12);
  assertClose([spatial({ planeWeight: "blur" })], [((1 - q2(1)) * 2 + (1 - q2(3)) * 5 + (1 - q2(2)) * 5) / 4], 1e-12);
});

test("direct supervision compares Γ itself", () => {
  // Γˣ = 1 and Γʸ = 0 on both planes: errors 1, 5 along x, 1, 5 along y, and Σ q = 1
  assertClose([spatial({ supervise: "gradientField" })], [(2 + 5 + 5) / 4], 1e-12);
});

test("a cell counts as much as its pixels do", () => {
  const below = Float64Array.from(cells, (_, i) => (i < 8 ? 1 : 0.1)); // the lower two cells count a tenth
  assertClose([spatial({ planeWeight: "even" }, below)], [(0.5 * (2 + 5) + 0.1 * 0.5 * 5) / 2.2], 1e-12);
});

test("cells average their valid pixels; a cell without any has no gradient and does not count", () => {
  const oneKnown = Float64Array.from(cells, (_, i) => (i < 8 && i !== 0 ? 1 : i === 10 ? 1 : 0)); // upper cells, and one pixel of the lower right
  const loss = spatial({ planeWeight: "even" }, oneKnown);
  // x: cells (0,0)-(0,1) only, error 1 on plane 2; y: cells (0,1)-(1,1), error 5 on plane 2; three known cells
  assertClose([loss], [(0.5 * 1 + 0.5 * 5) / 3], 1e-12);
});

test("area weights share pixels between cells in proportion, also where they do not divide", () => {
  assertClose(areaWeights(3, 2), [2 / 3, 1 / 3, 0, 0, 1 / 3, 2 / 3], 1e-12);
  const odd = {
    ...truth(),
    trueDepth: f64(
      Float64Array.from({ length: 15 }, (_, i) => i % 5),
      1,
      1,
      3,
      5,
    ),
    valid: f64(new Float64Array(15).fill(1), 1, 1, 3, 5),
  };
  const flat = { ...fields, surfaceGradient: { x: field(new Array<number>(8).fill(2.4)), y: field(new Array<number>(8).fill(0)) } };
  assert.ok(
    engine.item(spatialVariationalLoss(flat, odd, { planeWeight: "even" })) < 1e-12,
    "pixels 0 … 4 in two cells: 2 / 2.5 and 8 / 2.5, which differ by 2.4",
  );
});

test("a grid that does not divide the picture costs no copy from the host after the first time, as a captured step demands", (context) => {
  const uneven = {
    trueDepth: f64(normals(25, 31), 1, 1, 5, 5),
    valid: f64(new Float64Array(25).fill(1), 1, 1, 5, 5),
    focusDistances: f64([1, 2], 1, 2),
  };
  const first = engine.item(spatialVariationalLoss(fields, uneven));
  const constants = context.mock.method(engine, "constant");
  assert.equal(engine.item(spatialVariationalLoss(fields, uneven)), first);
  assert.equal(constants.mock.callCount(), 0);
});

test("the gradient of every loss passes a float64 check", () => {
  const random = normals(5 * 12, 21);
  checkGradient(
    (x) => focalVariationalLoss({ focusProbability: x.softmax(1), valid: f64(new Float64Array(12).fill(1), 1, 1, 3, 4) }),
    random,
    [1, 5, 3, 4],
  );
  checkGradient(
    (x) => focalTrendLoss({ focusProbability: x.softmax(1), valid: f64(new Float64Array(12).fill(1), 1, 1, 3, 4) }),
    random,
    [1, 5, 3, 4],
  );
  const pair = { trueDepth: f64(normals(12, 22), 1, 1, 3, 4), valid: f64([1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1], 1, 1, 3, 4) };
  checkGradient((depth) => smoothL1({ depth, ...pair }, { beta: 0.7 }), normals(12, 23), [1, 1, 3, 4]);
  for (const options of [{}, { planeWeight: "blur" }, { temperature: 0.3 }] as const)
    checkGradient(
      (x) => spatialVariationalLoss({ ...fields, surfaceGradient: { x, y: x.mul(0.5) } }, truth(), options),
      normals(8, 24),
      [1, 2, 2, 2],
    );
  checkGradient(
    (x) => spatialVariationalLoss({ ...fields, gradientField: { x, y: x.mul(-1) } }, truth(), { supervise: "gradientField" }),
    normals(16, 25),
    [1, 2, 2, 2, 2],
  );
  checkGradient(
    (trueDepth) =>
      sharpnessWeight({ focusDistances: f64([1, 2, 4], 1, 3, 1, 1), trueDepth })
        .square()
        .sum(),
    normals(4, 26),
    [1, 1, 2, 2],
  );
});

const prediction = (coarser: number): Prediction => {
  const p = f64(
    [0.4, 0.2, 0.4].flatMap((value) => new Array<number>(16).fill(value)),
    1,
    3,
    4,
    4,
  );
  const depth = f64(
    cells.map((d) => d + 2),
    1,
    1,
    4,
    4,
  );
  return { depth, focusProbability: p, spatial: fields, coarser: Array.from({ length: coarser }, () => ({ depth, focusProbability: p })) };
};

test("the total is L_depth + 20 L_sv + 100 L_fv, and each ablation drops its part", () => {
  const parts = (config: LossConfig): Record<string, number> =>
    Object.fromEntries(
      Object.entries(totalLoss(prediction(0), truth(), config)).map(([name, value]) => [name, engine.item(value as Tensor)]),
    );
  const { total, depth, spatial: surface, focal: trend } = parts(paperLoss) as Record<"total" | "depth" | "spatial" | "focal", number>;
  assertClose([depth, surface, trend], [1.5, spatial(), 0.04], 1e-12);
  assertClose([total], [1.5 + 20 * surface + 100 * 0.04], 1e-12);
  const without = (variant: Variant): Record<string, number> => parts(applyVariant(presets.nyu, variant).loss);
  assert.equal(without("noSpatial-noFocal")["total"], 1.5);
  assertClose([without("noFocal")["total"] as number], [1.5 + 20 * surface], 1e-12);
  assertClose([without("noSpatial")["total"] as number], [5.5], 1e-12);
  assertClose([without("noSharpness")["spatial"] as number], [spatial({ planeWeight: "even" })], 1e-12);
  assertClose([without("blurWeight")["spatial"] as number], [spatial({ planeWeight: "blur" })], 1e-12);
  assertClose([without("directGradient")["spatial"] as number], [3], 1e-12);
});

test("DFV's four levels weigh 8, 4, 2 and 1 fifteenths", () => {
  assertClose([engine.item(totalLoss(prediction(3), truth(), dfvLoss).total)], [1.5], 1e-12);
  assertClose([engine.item(totalLoss(prediction(1), truth(), dfvLoss).total)], [(1.5 * 12) / 15], 1e-12);
});
