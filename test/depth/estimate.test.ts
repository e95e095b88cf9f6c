import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { createRenderer } from "../../src/cli/renderHost.ts";
import { type ImageMetrics, measureImage } from "../../src/evaluate/imageMetrics.ts";
import { networkPredictor } from "../../src/evaluate/predictor.ts";
import { openRendered } from "../../src/evaluate/renderedSet.ts";
import { meanMetrics } from "../../src/metrics/meter.ts";
import { byCue } from "../../src/network/facts.ts";
import { packageFolder } from "../../src/system/packageFolder.ts";
import { readImage } from "../../src/stack/node/diskFiles.ts";
import type { Image } from "../../src/image/image.ts";
import { estimateDepth } from "../../src/depth/estimate.ts";
import type { DepthNetwork } from "../../src/network/depthNetwork.ts";
import { openNetwork } from "../../src/network/node/openNetwork.ts";
import { decodeNpy } from "../../src/io/npy.ts";
import type { FocalStack } from "../../src/stack/focalStack.ts";
import { assertClose } from "../helpers/close.ts";
import { fakeSession, networkOf } from "../network/fakeSession.ts";

let small: DepthNetwork;
before(async () => {
  small = await openNetwork("small", { device: "cpu", threads: 2 });
});
after(() => small.dispose());

const EXAMPLES = join(packageFolder(), "examples");

async function example(name: string, focusDistances: readonly number[]): Promise<{ stack: FocalStack; truth: ArrayLike<number> }> {
  const images = await Promise.all(focusDistances.map((_, n) => readImage(join(EXAMPLES, name, `plane_0${n}.png`))));
  const file = join(EXAMPLES, name, "depth.npy");
  return { stack: { images, focusDistances, space: "depth" }, truth: decodeNpy(readFileSync(file), file).data };
}

const DESK = [0.5, 0.57, 0.66, 0.78, 0.96, 1.25, 1.75];
const MACRO = [0.06, 0.0615, 0.063, 0.0645, 0.066, 0.0675];

/** Mean of |found − true| / true where `counts`. */
function absRel(found: Float32Array, truth: ArrayLike<number>, counts: (i: number) => boolean): number {
  let [sum, pixels] = [0, 0];
  found.forEach((value, i) => {
    const wanted = truth[i] as number;
    if (!(wanted > 0 && counts(i))) return;
    sum += Math.abs(value - wanted) / wanted;
    pixels += 1;
  });
  return sum / pixels;
}

test("with p known, depth, error and the all-in-focus picture are those worked out by hand", async () => {
  // Red is 0.25, 0.75, 0 over the planes: p = ¼, ¾, 0 at 1, 2 and 4 m.
  const images = [0.25, 0.75, 0].map((red): Image => ({ width: 1, height: 1, channels: 3, data: Float32Array.of(red, 0.5, 1) }));
  const errorModel = {
    planes: 1,
    ...byCue(() => ({ at: [1], factor: [1] })),
    stack: { at: [0], factor: [1] },
    mismatch: { at: [0], factor: [1] },
  };
  const network = networkOf(fakeSession(), { average: "dioptres", errorModel });
  const found = await estimateDepth({ images, focusDistances: [1, 2, 4], space: "depth" }, { network });
  assertClose(found.depth.values, [1 / (0.25 / 1 + 0.75 / 2)], 1e-6); // 1.6 m
  assertClose(found.error, [0.5 * 1.6 ** 2], 1e-6);
  assertClose(found.spread, [Math.sqrt(0.25 * 0.6 ** 2 + 0.75 * 0.4 ** 2)], 1e-6);
  assert.deepEqual([found.beyond[0], found.invalidFocusTrend], [0, 0]);
  const [near, sharp] = [0.25 ** 2, 0.75 ** 2];
  assertClose(found.allInFocus.data, [(near * 0.25 + sharp * 0.75) / (near + sharp), 0.5, 1], 1e-5);
});

test("the shipped small network finds the depth of the macro example within 1 %", async () => {
  const { stack, truth } = await example("macro", MACRO);
  const { depth } = await estimateDepth(stack, { network: small });
  const error = absRel(depth.values, truth, () => true);
  assert.ok(error < 0.01, `AbsRel ${error}`);
});

test("on the desk example without its last plane what lies behind the others is marked, and the rest is within 3 %", async () => {
  const { stack, truth } = await example("desk", DESK.slice(0, -1));
  const { depth, beyond } = await estimateDepth(stack, { network: small });
  const error = absRel(depth.values, truth, (i) => beyond[i] === 0);
  assert.ok(error <= 0.03, `AbsRel ${error}`);
  const behind = Array.from(beyond.keys()).filter((i) => (truth[i] as number) > 1.25);
  const marked = behind.filter((i) => beyond[i] === 1).length / behind.length;
  assert.ok(marked > 0.5, `${marked} of what lies behind 1.25 m is marked`);
});

test("about 68 % of the pixels of rendered scenes lie within the error claimed for them, and it orders them better than the spread of p", async () => {
  const set = await openRendered({ planes: 5, scenes: 5, size: 224, samples: 24, createRenderer });
  const predictor = networkPredictor(small, { name: "small", fingerprint: "" });
  const measured: ImageMetrics[] = [];
  for (let i = 0; i < set.size; i++) {
    const sample = await set.sample(i);
    measured.push(measureImage(sample, await predictor.predict(sample.stack), (comparison) => comparison));
  }
  const { withinError, sparsification, sparsificationBySpread } = meanMetrics(measured);
  assert.ok(withinError > 0.55 && withinError < 0.8, `${withinError}`);
  assert.ok(sparsification < 0.95 * sparsificationBySpread, `${sparsification}, by the spread ${sparsificationBySpread}`);
});
