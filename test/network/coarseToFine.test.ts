import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { estimateDepth } from "../../src/depth/estimate.ts";
import { overPlanes } from "../../src/network/coarseToFine.ts";
import type { DepthNetwork } from "../../src/network/depthNetwork.ts";
import { openNetwork } from "../../src/network/node/openNetwork.ts";
import { planeWindows, type PlaneWindow } from "../../src/network/planeWindows.ts";
import { choosePlanes, selectPlanes, type FocalStack } from "../../src/stack/focalStack.ts";
import { assertClose } from "../helpers/close.ts";
import { gaussianBlur, slantedStack, texture } from "../helpers/texturedStack.ts";

const PLANES = 19;
const windows = planeWindows(PLANES, 10); // the coarse pass takes every second plane

/** One pixel whose p is all on one plane, or on the end of a window that does not hold it; the coarse pass may see another plane. */
const decode =
  ({ coarse, fine }: { coarse: number; fine: number }) =>
  (window: PlaneWindow): Promise<Float32Array> => {
    const plane = window === windows.sparse ? coarse : Math.min(Math.max(fine, window[0] as number), window.at(-1) as number);
    return Promise.resolve(Float32Array.from(window, (each) => (each === plane ? 1 : 0)));
  };

const merged = (seen: { coarse: number; fine: number }): Promise<Float32Array> =>
  overPlanes(decode(seen), { windows, planes: PLANES, pixels: 1 });

test("where the coarse pass and the windows agree, theirs is the answer", async () => {
  for (const plane of [0, 4, 10, 18]) {
    const p = await merged({ coarse: plane, fine: plane });
    assertClose(p, Array.from({ length: PLANES }, (_, n) => (n === plane ? 1 : 0)), 1e-6); // prettier-ignore
  }
});

test("a step of the coarse pass apart, the fine p is moved by two thirds of it and counts e^-½", async () => {
  const p = await merged({ coarse: 10, fine: 12 });
  const g = Math.exp(-0.5);
  assertClose(p, Array.from({ length: PLANES }, (_, n) => (n === 11 ? (2 * g) / 3 : n === 10 ? g / 3 + 1 - g : 0)), 1e-6); // prettier-ignore
});

test("what a window piles up at its end does not win against the coarse pass", async () => {
  const p = await merged({ coarse: 2, fine: 18 });
  const mean = p.reduce((sum, value, n) => sum + n * value, 0);
  assert.ok(Math.abs(mean - 2) < 0.5, `${mean}`);
});

test("a stack that fits one run is what that run gives", async () => {
  const given = Float32Array.of(0.2, 0.3, 0.5);
  assert.equal(await overPlanes(() => Promise.resolve(given), { windows: planeWindows(3, 10), planes: 3, pixels: 1 }), given);
});

let small: DepthNetwork;
before(async () => {
  small = await openNetwork("small", { device: "cpu", threads: 2 });
});
after(() => small.dispose());

/** A textured ball in front of a plain background behind the last plane, its blur growing with the distance from the focus. */
function ball({ planes, side }: { planes: number; side: number }): { stack: FocalStack; truth: Float32Array } {
  const radius = 0.42 * side;
  const depthAt = (x: number, y: number): number => {
    const share = Math.hypot(x - side / 2, y - side / 2) / radius;
    return share < 1 ? (planes - 1) * (0.9 - 0.8 * Math.sqrt(1 - share ** 2)) : planes + 2;
  };
  const pattern = texture({ width: side, height: side, seed: 7 });
  const sharp = { ...pattern, data: pattern.data.map((value, i) => (isBall(depthAt, i, side, planes) ? value : 0.8)) };
  const images = Array.from({ length: planes }, (_, n) => gaussianBlur(sharp, (x, y) => (6 * Math.abs(depthAt(x, y) - n)) / planes));
  const truth = Float32Array.from({ length: side ** 2 }, (_, i) =>
    isBall(depthAt, i, side, planes) ? depthAt(i % side, Math.floor(i / side)) : NaN,
  );
  return { stack: { images, focusDistances: images.map((_, n) => n), space: "index" }, truth };
}

const isBall = (depthAt: (x: number, y: number) => number, i: number, side: number, planes: number): boolean =>
  depthAt(i % side, Math.floor(i / side)) < planes;

/** Mean error where the truth is known, as a share of the stack's range. */
async function error(stack: FocalStack, truth: Float32Array): Promise<number> {
  const { depth } = await estimateDepth(stack, { network: small });
  const range = (stack.focusDistances.at(-1) as number) - (stack.focusDistances[0] as number);
  const errors = Array.from(truth, (value, i) => Math.abs(value - (depth.values[i] as number)) / range).filter(
    (each) => !Number.isNaN(each),
  );
  return errors.reduce((sum, each) => sum + each, 0) / errors.length;
}

async function compareWithTen({ stack, truth }: { stack: FocalStack; truth: Float32Array }): Promise<void> {
  const every = await error(stack, truth);
  const ten = await error(selectPlanes(stack, choosePlanes(stack.images.length, 10, "round")), truth);
  assert.ok(every < 1.02 * ten && every < 0.16, `${every}; of ten ${ten}`);
}

test("12 planes of a slanted surface give at least the accuracy of ten of them", async () => {
  const { stack, trueDepth } = slantedStack({ width: 96, height: 64, planes: 12, blurPerPlane: 0.5 });
  await compareWithTen({ stack, truth: trueDepth.values });
});

test("24 planes of a single object in front of a plain background give at least the accuracy of ten of them", async () => {
  await compareWithTen(ball({ planes: 24, side: 96 }));
});
