import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { createOnnxSession } from "../../src/network/node/onnxSession.ts";
import type { Session } from "../../src/network/session.ts";
import { base, configs, dfv, fine, small, type DualFocusConfig, type NetworkConfig } from "../../src/model/config.ts";
import { recordGraph } from "../../src/model/graph.ts";
import { createNetwork, type Network } from "../../src/model/network.ts";
import { countParameters } from "../../src/model/state.ts";
import { createParameters } from "../../src/nn/module.ts";
import type { Weights } from "../../src/io/safetensors.ts";
import { createRandom } from "../../src/random.ts";
import { randomImages, randomWeights, tiny, tinyWithImages } from "../helpers/network.ts";

const engine = createTorchEngine({ threads: 1 });

type Size = { readonly N: number; readonly H: number; readonly W: number };

/** p as torch computes it. */
function torchProbability(
  network: Network,
  { data, distances }: Record<"data" | "distances", Float32Array>,
  { N, H, W }: Size,
): Float32Array {
  return engine.noGradient(() =>
    scope(() => {
      const images = engine.constant(data, { shape: [1, N, 3, H, W] });
      const focusDistances = engine.constant(distances, { shape: [1, N] });
      return engine.read(network.forward({ images, focusDistances }).focusProbability) as Float32Array;
    }),
  );
}

/** Holds ONNX Runtime's p to torch's at each of these sizes. */
async function compare(
  t: TestContext,
  config: NetworkConfig,
  sizes: readonly Size[],
  graphOf: (weights: Weights, size: Size) => Uint8Array,
): Promise<void> {
  const weights = randomWeights(engine, config);
  const tree = createParameters(engine, { weights });
  const network = createNetwork(tree.source, config);
  let opened: { readonly graph: Uint8Array; readonly session: Session } | undefined;
  for (const size of sizes) {
    const { N, H, W } = size;
    const [data, distances] = [randomImages({ B: 1, ...size }), Float32Array.from({ length: N }, (_, n) => n)];
    const expected = torchProbability(network, { data, distances }, size);
    const graph = graphOf(weights, size);
    if (opened?.graph !== graph) {
      await opened?.session.dispose();
      opened = { graph, session: await createOnnxSession(graph, { threads: 1 }) };
    }
    const { probability, depth } = await opened.session.run({
      images: { data, shape: [1, N, 3, H, W] },
      focusDistances: { data: distances, shape: [1, N] },
    });
    assert.deepEqual(depth?.shape, [1, 1, H, W]);
    assert.ok(new Set(expected.map((p) => Math.round(p * 1000))).size > 50, "p varies, so that agreement means something");
    const worst = (probability?.data as Float32Array).reduce((most, p, i) => Math.max(most, Math.abs(p - (expected[i] as number))), 0);
    t.diagnostic(`${JSON.stringify(size)}: ${worst}`);
    assert.ok(worst < LIMIT, `${JSON.stringify(size)}: ${worst}`);
  }
  await opened?.session.dispose();
  for (const tensor of tree.state.values()) tensor.dispose();
}

const LIMIT = 1e-3;
const counted = <C extends NetworkConfig>(config: C): C => ({ ...config, encoder: { ...config.encoder, classifier: true } });

test("base has the paper's 27.09 M parameters and DFV its 19.50 M, to the last one; small stays under 4 M", () => {
  assert.equal(countParameters(counted(base)), 27_093_643);
  assert.equal(countParameters(base), 26_580_643);
  assert.equal(countParameters(counted(dfv)), 19_501_484);
  assert.equal(countParameters(dfv), 18_988_484);
  assert.ok(countParameters(small) <= 4e6);
});

test("fine is base and three parts more, each of the size that its widths give", () => {
  const { detail, planeContext, convexUpsampling, ...rest } = fine;
  assert.deepEqual(rest, base);
  const cost = (parts: Partial<DualFocusConfig>): number => countParameters({ ...base, ...parts }) - countParameters(base);
  const stages = 256 + 128 + 64; // channels of the three fusion stages
  assert.equal(cost({ detail }), 8 * 27 + 3 * 8 * (27 + 1) * stages); // filters; 3·8 channels more into the first convolution and the skip of each stage
  assert.equal(cost({ planeContext }), (2 * 32 + 32) * stages + 3 * 2 * 32); // squeeze, expand; a norm for each stage
  assert.equal(cost({ convexUpsampling }), 64 * (64 + 48) * 9 + 2 * 64 + 144 * 64 + 144); // mix, its norm, weigh, start
  assert.equal(countParameters(fine), 26_999_115);
});

const COUNTS = [2, 3, 5, 10];
const [TINY, CROP, PADDED] = [
  { H: 64, W: 64 },
  { H: 224, W: 224 },
  { H: 384, W: 576 },
] as const; // PADDED holds DDFF's 383×552
const everyCount = (size: { H: number; W: number }) => COUNTS.map((N) => ({ N, ...size }));

/** Every count of planes, upright and lying pictures, and what else is given; with DUALFOCUS_EVERY_SIZE=1 every count at every size, in minutes. */
const sizes = (...more: readonly Size[]): readonly Size[] =>
  process.env["DUALFOCUS_EVERY_SIZE"] === "1"
    ? [TINY, CROP, PADDED].flatMap(everyCount)
    : [...everyCount(TINY), { N: 3, H: 96, W: 160 }, { N: 2, H: 160, W: 64 }, ...more];

test("one graph of small gives torch's p for every plane count and size", async (t) => {
  let graph: Uint8Array | undefined;
  const all = sizes({ N: 5, ...CROP }, { N: 2, ...PADDED });
  await compare(t, small, all, (weights) => (graph ??= recordGraph({ config: small, weights })));
});

for (const [name, config] of Object.entries({ base, fine }))
  test(`one graph of ${name} gives torch's p for every plane count and size`, async (t) => {
    let graph: Uint8Array | undefined;
    await compare(t, config, sizes(), (weights) => (graph ??= recordGraph({ config, weights })));
  });

test("our additions give torch's p in one graph and in that for CPUs: detail, plane context and convex upsampling", async (t) => {
  const config = tinyWithImages;
  let graph: Uint8Array | undefined;
  await compare(t, config, sizes(), (weights) => (graph ??= recordGraph({ config, weights })));
  await compare(t, config, [{ N: 4, H: 64, W: 96 }], (weights, { N }) =>
    recordGraph({ config, weights, size: { planes: N }, forCpu: true }),
  );
});

test("DFV's graph, recorded for one size at a time, gives torch's p", async (t) => {
  await compare(t, dfv, sizes(), (weights, { N, H, W }) => recordGraph({ config: dfv, weights, size: { planes: N, height: H, width: W } }));
});

test("every ablation is a configuration that runs: no surface, C₂, grids, native grid, solvers, per-plane norm", () => {
  const surface = base.surface as NonNullable<DualFocusConfig["surface"]>;
  const variants: Partial<typeof surface>[] = [
    { channels: 1 },
    { channels: 8 },
    ...[10, 14, 20, 28].map((grid) => ({ grid })),
    { grid: "native" },
    { solver: "dense" },
    { solver: "confidence" },
    { norm: "perPlane" },
  ];
  for (const change of [undefined, ...variants])
    scope(() => {
      const config = { ...tiny, surface: change && { ...surface, ...change } };
      const network = createNetwork(createParameters(engine, { random: createRandom(1) }).source, config);
      const images = engine.constant(randomImages({ B: 2, N: 3, H: 64, W: 96 }), { shape: [2, 3, 3, 64, 96] });
      const focusDistances = engine.constant([1, 2, 3, 1, 2, 3], { shape: [2, 3] });
      const { depth, focusProbability, spatial } = network.forward({ images, focusDistances });
      assert.deepEqual(depth.shape, [2, 1, 64, 96]);
      const sums = engine.read(focusProbability.sum([1])) as Float32Array;
      assert.ok(
        sums.every((sum) => Math.abs(sum - 1) < 1e-5),
        "Σ p = 1",
      );
      const values = engine.read(depth) as Float32Array;
      assert.ok(
        values.every((value) => value >= 1 && value <= 3),
        "min f ≤ D̂ ≤ max f",
      );
      const grid = change?.grid ?? 14;
      const expected = change && [2, change.channels ?? 16, 3, ...(grid === "native" ? [2, 3] : [grid, grid])];
      assert.deepEqual(spatial?.surface.shape, expected);
    });
});

test("Γ, z* and θ_grad(z*) can be had from the graph", async () => {
  const weights = randomWeights(engine, small);
  const session = await createOnnxSession(recordGraph({ config: small, weights, fields: true }), { threads: 1 });
  const result = await session.run({
    images: { data: randomImages({ B: 1, N: 2, H: 64, W: 64 }), shape: [1, 2, 3, 64, 64] },
    focusDistances: { data: Float32Array.of(1, 2), shape: [1, 2] },
  });
  await session.dispose();
  assert.deepEqual(result["surface"]?.shape, [1, 16, 2, 14, 14]);
  assert.deepEqual(result["gradientX"]?.shape, [1, 16, 2, 14, 14]);
  assert.deepEqual(result["surfaceGradientY"]?.shape, [1, 2, 14, 14]);
});

test("one plane, none, and sizes that do not divide by 32 are refused in words", () => {
  const network = createNetwork(createParameters(engine, { random: createRandom(1) }).source, configs.small);
  const run =
    (...shape: number[]) =>
    () =>
      scope(() => network.forward({ images: engine.full(shape, 0.5), focusDistances: engine.full([1, shape[1] ?? 1], 1) }));
  assert.throws(run(1, 1, 3, 64, 64), /at least 2 planes, got 1/);
  assert.throws(run(1, 0, 3, 64, 64), /at least 2 planes, got 0/);
  assert.throws(run(1, 5, 3, 65, 64), /height must be a multiple of 32, got 65/);
  assert.throws(run(1, 5, 3, 64, 40), /width must be a multiple of 32, got 40/);
  assert.throws(run(1, 5, 4, 64, 64), /expected \[B, N, 3, H, W\], got \[1, 5, 4, 64, 64\]/);
});

test("weights that are missing, too many or of another shape are named", () => {
  const weights = new Map(randomWeights(engine, small));
  const name = "decoder.logit.weight";
  const kept = weights.get(name);
  weights.delete(name);
  assert.throws(() => recordGraph({ config: small, weights }), /decoder.logit.weight \[1, 16, 3, 3, 3\] is missing/);
  weights.set(name, { shape: [1, 16, 3, 3], data: new Float32Array(144) });
  assert.throws(() => recordGraph({ config: small, weights }), /decoder.logit.weight is \[1, 16, 3, 3\], not \[1, 16, 3, 3, 3\]/);
  weights.set(name, kept as NonNullable<typeof kept>);
  weights.set("stray", { shape: [1], data: new Float32Array(1) });
  assert.throws(() => recordGraph({ config: small, weights }), /stray is not a tensor/);
});
