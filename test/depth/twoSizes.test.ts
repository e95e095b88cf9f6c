import assert from "node:assert/strict";
import { test } from "node:test";

import { estimateDepth } from "../../src/depth/estimate.ts";
import { combineSizes, reducedStack, reducedWeights, type Look } from "../../src/depth/twoSizes.ts";
import type { Image } from "../../src/image/image.ts";
import { resize } from "../../src/image/resize.ts";
import type { DepthNetwork } from "../../src/network/depthNetwork.ts";
import { byCue, type ErrorModel } from "../../src/network/facts.ts";
import type { FocusProbability, PredictOptions } from "../../src/network/focusProbability.ts";
import { createRandom } from "../../src/random.ts";
import type { FocalStack } from "../../src/stack/focalStack.ts";
import { assertClose } from "../helpers/close.ts";
import { gaussianBlur, texture } from "../helpers/texturedStack.ts";

/** The same p at every pixel. */
function level(p: readonly number[], width: number, height = width): FocusProbability {
  const values = new Float32Array(p.length * width * height);
  p.forEach((value, n) => values.fill(value, n * width * height, (n + 1) * width * height));
  return { planes: p.length, width, height, values };
}

const weights = (value: number, pixels: number): Float32Array => new Float32Array(pixels).fill(value);

function randomProbability(planes: number, side: number, seed: number): FocusProbability {
  const random = createRandom(seed);
  const pixels = side * side;
  const values = Float32Array.from({ length: planes * pixels }, () => random.uniform());
  for (let i = 0; i < pixels; i++) {
    const total = Array.from({ length: planes }, (_, n) => values[n * pixels + i] as number).reduce((sum, value) => sum + value, 0);
    for (let n = 0; n < planes; n++) values[n * pixels + i] = (values[n * pixels + i] as number) / total;
  }
  return { planes, width: side, height: side, values };
}

const copyOf = (p: FocusProbability): FocusProbability => ({ ...p, values: p.values.slice() });

test("p of two sizes is between them by the weight: ½ of the way from 0.9, 0.1 to 0.2, 0.8", () => {
  const found = combineSizes(level([0.9, 0.1], 8), level([0.2, 0.8], 4), weights(0.5, 64));
  assertClose(found.values, level([0.55, 0.45], 8).values, 1e-6);
});

test("each pixel goes as far as its own weight says", () => {
  const each = weights(0, 64).fill(1, 32);
  const { values } = combineSizes(level([0.9, 0.1], 8), level([0.2, 0.8], 4), each);
  assertClose([values[0] as number, values[63] as number], [0.9, 0.2], 1e-6);
});

test("a p that the reduced images agree with keeps every detail, whatever the weights", () => {
  const whole = randomProbability(3, 16, 1);
  const small = [0, 1, 2].map((n) => {
    const data = whole.values.subarray(n * 256, (n + 1) * 256);
    return resize({ width: 16, height: 16, channels: 1, data }, { width: 8, height: 8, filter: "linear" }).data;
  });
  const reduced = { planes: 3, width: 8, height: 8, values: Float32Array.from(small.flatMap((data) => [...data])) };
  assertClose(combineSizes(copyOf(whole), reduced, weights(0.7, 256)).values, whole.values, 1e-6);
});

test("the combination is a probability: nowhere below 0, and 1 in sum", () => {
  const { values } = combineSizes(randomProbability(4, 12, 2), randomProbability(4, 6, 3), weights(1, 144));
  assert.ok(values.every((p) => p >= 0));
  for (let i = 0; i < 144; i++) {
    const sum = [0, 1, 2, 3].reduce((total, n) => total + (values[n * 144 + i] as number), 0);
    assert.ok(Math.abs(sum - 1) < 1e-6, `pixel ${i}: ${sum}`);
  }
});

const picture = (width: number, height: number, value: number): Image => ({
  width,
  height,
  channels: 3,
  data: new Float32Array(3 * width * height).fill(value),
});

function stackOf(width: number, height: number): FocalStack {
  return { images: [0.2, 0.4, 0.6].map((value) => picture(width, height, value)), focusDistances: [1, 2, 4], space: "depth" };
}

test("images are reduced to 384 pixels, or a third if that is more, and not at all below 576", () => {
  const reduced = (width: number, height: number): (number | undefined)[] => {
    const image = reducedStack(stackOf(width, height))?.images[0];
    return [image?.width, image?.height];
  };
  assert.deepEqual(reduced(575, 400), [undefined, undefined]);
  assert.deepEqual(reduced(576, 432), [384, 288]);
  assert.deepEqual(reduced(400, 800), [192, 384]);
  assert.deepEqual(reduced(1536, 96), [512, 32]);
  assert.deepEqual(reduced(3072, 64), [undefined, undefined], "panoramas keep the least side of what the network sees");
});

/** Claims a plane where it has a standard deviation of one, next to nothing where p is on one plane. */
const spreadAlone: ErrorModel = {
  planes: 1,
  ...byCue((cue) => (cue === "spread" ? { at: [0, 1], factor: [0.001, 1] } : { at: [1], factor: [1] })),
  stack: { at: [0], factor: [1] },
  mismatch: { at: [0], factor: [1] },
};

const seenWith = (p: readonly number[], side: number, evidence: number): Look => ({
  probability: level(p, side),
  signs: { evidence: new Float32Array(side ** 2).fill(evidence), sharpest: new Uint16Array(side ** 2), mismatch: 0 },
});

test("where nothing shows focus p goes 0.7 of the way, elsewhere as far as the claimed errors say", () => {
  const [sure, unsure] = [
    [1, 0, 0],
    [0.5, 0, 0.5],
  ];
  const weight = (p: readonly number[], other: readonly number[], evidence: number): number =>
    reducedWeights(seenWith(p, 32, evidence), seenWith(other, 16, evidence), spreadAlone)[500] as number;
  assertClose([weight(sure, unsure, 0)], [0.7]);
  // Equal claims: 1 / (1 + ½²) of 0.7.
  assertClose([weight(unsure, unsure, 1)], [0.56]);
  assert.ok(weight(sure, unsure, 1) < 0.01);
  assert.ok(weight(unsure, sure, 1) > 0.69);
  // Half of the evidence: half way between 0.7 and what the claims say.
  assertClose([weight(unsure, unsure, 0.3)], [0.63]);
});

test("weights follow the evidence around a pixel, not its own", () => {
  const [side, half] = [64, 32];
  const looks = [seenWith([1, 0, 0], side, 0), seenWith([0.5, 0, 0.5], half, 0)] as const;
  for (let i = 0; i < side ** 2; i++) looks[0].signs.evidence[i] = i % side < half ? (i + Math.floor(i / side)) % 2 : 0; // every second pixel of one half
  const weights = reducedWeights(...looks, spreadAlone);
  const at = (x: number): number => weights[half * side + x] as number;
  const [near, next] = [at(10), at(11)];
  assert.ok(Math.abs(near - next) < 0.05, `${near} and ${next}: neighbours with evidence 1 and 0`);
  assertClose([near], [0.7 * (1 - 0.5 / 0.6)], 0.2); // the mean evidence is ½, and the claims are for the whole images
  assertClose([at(50)], [0.7]);
});

/** A network that finds the last plane in reduced images and the second in whole ones, and calls `onRun` at each run with the width of what it sees. */
function twoMinded({ runs = 1, onRun }: { runs?: number; onRun?: (width: number) => void }): DepthNetwork {
  const predict = ({ images: [first] }: FocalStack, { signal, onProgress }: PredictOptions = {}): Promise<FocusProbability> =>
    Promise.resolve().then(() => {
      const { width, height } = first as Image;
      for (let done = 1; done <= runs; done++) {
        signal?.throwIfAborted();
        onRun?.(width);
        onProgress?.(done, runs);
      }
      return level(width === 384 ? [0, 0, 1] : [0, 1, 0], width, height);
    });
  return { average: "metres", errorModel: spreadAlone, predict } as unknown as DepthNetwork;
}

test("a network sees a large stack twice, reduced and whole, and a small one once", async () => {
  const sizes: number[] = [];
  const network = twoMinded({ onRun: (width) => sizes.push(width) });
  const steps: [number, number][] = [];
  const onProgress = (done: number, of: number): void => void steps.push([done, of]);
  const large = await estimateDepth(stackOf(640, 64), { network, onProgress });
  assert.deepEqual(sizes, [384, 640]);
  // 384×38 of the 384×38 + 640×64 pixels
  assert.deepEqual(
    steps,
    [
      [26, 100],
      [100, 100],
    ],
    "both sizes in proportion to their pixels",
  );
  assertClose([large.depth.values[0] as number], [0.3 * 2 + 0.7 * 4]); // flat images show nothing of focus
  const small = await estimateDepth(stackOf(320, 32), { network });
  assert.deepEqual(sizes, [384, 640, 320]);
  assertClose([small.depth.values[0] as number], [2]);
});

test("the progress of both sizes rises from 1 to exactly 100 percent, however many runs they take", async () => {
  for (const runs of [3, 24])
    for (const width of [576, 592, 608, 624, 640, 656, 672, 688, 704]) {
      const told: number[] = [];
      await estimateDepth(stackOf(width, 64), { network: twoMinded({ runs }), onProgress: (done) => told.push(done) });
      assert.equal(told.length, 2 * runs);
      assert.deepEqual(told, [...told].sort((a, b) => a - b)); // prettier-ignore
      assert.ok((told[0] as number) >= 1, `${runs} runs, ${width}: begins at ${told[0]}`);
      assert.deepEqual(told.filter((done) => done >= 100), [100], `${runs} runs, ${width}`); // prettier-ignore
      assert.equal(told.at(-1), 100);
    }
});

test("where focus changes the whole images count more than where nothing shows it", async () => {
  const [width, height] = [640, 96];
  const sharp = texture({ width, height });
  const images = [0, 1.5, 3].map((blur) => {
    const { data } = gaussianBlur(sharp, () => blur);
    return { ...sharp, data: data.map((value, i) => ((i / 3) % width < width / 2 ? value : 0.5)) };
  });
  const { depth } = await estimateDepth({ images, focusDistances: [1, 2, 4], space: "depth" }, { network: twoMinded({}) });
  const at = (x: number): number => depth.values[(height / 2) * width + x] as number;
  // Both sizes claim next to nothing: 0.56 of the way, 1 / (1 + ½²) of 0.7.
  assertClose([at(160)], [2 + 2 * 0.56], 0.02);
  assertClose([at(520)], [2 + 2 * 0.7], 1e-3);
});

test("a stop while the reduced images are seen starts no run of the whole ones", async () => {
  for (const runs of [1, 2]) {
    const [stop, reason, sizes] = [new AbortController(), new Error("the user left"), [] as number[]];
    const onRun = (width: number): void => {
      sizes.push(width);
      stop.abort(reason);
    };
    await assert.rejects(estimateDepth(stackOf(640, 64), { network: twoMinded({ runs, onRun }), signal: stop.signal }), reason);
    assert.deepEqual(sizes, [384], `${runs} runs in each size`);
  }
});
