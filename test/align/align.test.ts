import assert from "node:assert/strict";
import test from "node:test";
import { alignStack } from "../../src/align/align.ts";
import { inspectStack } from "../../src/check/checkStack.ts";
import { DualFocusError } from "../../src/errors.ts";
import { formatAlignment, parseAlignment, resizeAlignment } from "../../src/align/alignment.ts";
import { distance, IDENTITY, type Similarity } from "../../src/align/similarity.ts";
import { laplacianDepth } from "../../src/classical/modifiedLaplacian.ts";
import type { Image } from "../../src/image/image.ts";
import { absoluteRelativeError } from "../../src/metrics/depthErrors.ts";
import type { FocalStack } from "../../src/stack/focalStack.ts";
import { texture } from "../helpers/texturedStack.ts";
import { type Moved, movedStack, PLANES, SIZE } from "./motion.ts";

const cache = new Map<string, Moved>();

/** Rendering takes seconds; each stack is rendered once. */
function rendered(seed: number, theme: "desk" | "macro" | "clutter", amount = 1): Moved {
  const key = `${seed} ${amount}`;
  const found = cache.get(key) ?? movedStack(seed, { amount, theme });
  cache.set(key, found);
  return found;
}

const replaced = (stack: FocalStack, plane: number, image: Image): FocalStack => ({
  ...stack,
  images: stack.images.map((old, n) => (n === plane ? image : old)),
});

const black = (): Image => ({ ...SIZE, channels: 3, data: new Float32Array(SIZE.width * SIZE.height * 3) });

for (const [seed, theme] of [
  [1, "desk"],
  [2, "macro"],
  [3, "clutter"],
] as const)
  test(`4 % of breathing, 8 pixels of drift and half a degree are found to 0.3 pixels (${theme})`, async () => {
    const { stack, motion, exposure } = rendered(seed, theme);
    const { transforms, report } = await alignStack(stack);
    const errors = transforms.map((transform, n) => distance(transform, motion[n] as Similarity, SIZE));
    const mean = errors.reduce((sum, error) => sum + error, 0) / PLANES;
    assert.ok(mean <= 0.3, `mean error ${mean.toFixed(3)}: ${errors.map((error) => error.toFixed(2)).join(" ")}`);
    report.forEach(({ gain, ok }, n) => {
      assert.ok(ok);
      for (const channel of gain) assert.ok(Math.abs(channel * (exposure[n] as number) - 1) < 0.03, `plane ${n}: ${String(gain)}`);
    });
  });

test("a stack that has not moved is left alone, to the very same pictures", async () => {
  for (const [seed, theme] of [
    [1, "desk"],
    [2, "macro"],
  ] as const) {
    const { stack } = rendered(seed, theme, 0);
    const aligned = await alignStack(stack);
    aligned.transforms.forEach((transform) => {
      assert.deepEqual(transform, IDENTITY);
    });
    aligned.stack.images.forEach((image, n) => {
      assert.equal(image, stack.images[n]);
    });
    assert.ok(aligned.valid.every((valid) => valid === 1));
  }
});

test("depth from an aligned stack is as good as from one that never moved", async () => {
  const [moved, still] = [rendered(1, "desk"), rendered(1, "desk", 0)];
  const { stack, valid } = await alignStack(moved.stack);
  const trueDepth = { ...still.depth, valid: still.depth.valid.map((known, i) => known & (valid[i] as number)) };
  const error = (of: FocalStack): number => absoluteRelativeError({ depth: laplacianDepth(of).depth, trueDepth });
  const [after, ideal, before] = [error(stack), error(still.stack), error(moved.stack)];
  assert.ok(after <= 1.05 * ideal, `${after} against ${ideal}`);
  assert.ok(before > 1.2 * ideal, `the motion does no harm here: ${before} against ${ideal}`);
});

test("a frame that cannot be aligned is named and left out, and the others are aligned without it", async () => {
  const { stack, motion } = rendered(1, "desk");
  const others: [string, Image][] = [
    ["black", black()],
    ["another scene", texture({ ...SIZE, seed: 9 })],
  ];
  for (const [name, image] of others) {
    const { planes, report, transforms, stack: aligned } = await alignStack(replaced(stack, 1, image));
    assert.deepEqual(planes, [0, 2, 3, 4], name);
    assert.deepEqual(aligned.focusDistances, [0, 2, 3, 4].map((n) => stack.focusDistances[n])); // prettier-ignore
    assert.equal(report[1]?.ok, false);
    assert.match(report[1].reason ?? "", /detail|neighbour|moved/);
    for (const n of planes) assert.ok(distance(transforms[n] as Similarity, motion[n] as Similarity, SIZE) < 0.5, `${name}: plane ${n}`);
  }
});

test("a stack of which nothing can be aligned is an error that says why", async () => {
  const { stack } = rendered(1, "desk");
  const dark = { ...stack, images: stack.images.map(black) };
  await assert.rejects(alignStack(dark), (error: unknown) => {
    assert.ok(error instanceof DualFocusError);
    assert.deepEqual([error.code, error.facts], ["too-few-aligned", { aligned: 1, frames: 5 }]);
    assert.match(error.message, /only 1 of 5 frames could be aligned; plane \d: it has too little detail/);
    return true;
  });
});

test("a saved alignment reads back, and applies without estimating again", async () => {
  const { stack } = rendered(1, "desk");
  const first = await alignStack(stack);
  const alignment = parseAlignment(formatAlignment(first.alignment));
  assert.deepEqual(alignment, first.alignment);
  const again = await alignStack(stack, { alignment });
  assert.deepEqual(again.stack, first.stack);
  assert.deepEqual(again.valid, first.valid);
});

test("images that have been aligned already are not aligned again: by the stack check, then by the alignment itself", async () => {
  const { stack } = rendered(1, "desk");
  const first = await alignStack(stack);
  const { alignment } = first;
  const placed = stack.images.map((_, n) => first.stack.images[first.planes.indexOf(n)]);
  const again = await alignStack(stack, { alignment, aligned: placed });
  assert.ok(again.stack.images.length > 1 && again.stack.images.every((image, n) => image === first.stack.images[n]));
  const report = await inspectStack(stack, { alignment });
  assert.deepEqual(await inspectStack(stack, { alignment, aligned: placed }), report);
  const others = placed.map(() => black());
  assert.notDeepEqual((await inspectStack(stack, { alignment, aligned: others })).planes, report.planes);
});

test("an alignment for another stack, or a file that is none, is refused", async () => {
  const { stack } = rendered(1, "desk");
  const frames = Array.from({ length: 3 }, () => ({ transform: IDENTITY, gain: [1, 1, 1], ok: true }));
  await assert.rejects(
    alignStack(stack, { alignment: { ...SIZE, reference: 0, frames } }),
    /for 3 planes of 256×192, the stack has 5 of 256×192/,
  );
  const grey = stack.images.map(() => ({ transform: IDENTITY, gain: [1.2], ok: true }));
  await assert.rejects(alignStack(stack, { alignment: { ...SIZE, reference: 0, frames: grey } }), (error: unknown) => {
    assert.ok(error instanceof DualFocusError);
    assert.equal(error.code, "alignment-mismatch");
    assert.equal(error.message, "the alignment: is for images of 1 channel, the stack has images of 3");
    return true;
  });
  assert.throws(() => parseAlignment("{", "a.json"), /a\.json: not JSON/);
  assert.throws(() => parseAlignment(`{"version":1}`, "a.json"), /a\.json: not a saved alignment.*width/s);
  assert.throws(() => parseAlignment(formatAlignment({ ...SIZE, reference: 3, frames })), /reference must be one of the frames/);
});

test("an alignment estimated on small copies serves the originals", async () => {
  const { alignment } = await alignStack(rendered(1, "desk").stack);
  const large = resizeAlignment(alignment, { width: 4 * SIZE.width, height: 4 * SIZE.height });
  const [small, original] = [alignment.frames[0]?.transform, large.frames[0]?.transform];
  assert.deepEqual(original, { ...small, shift: small?.shift.map((pixels) => 4 * pixels) });
  assert.deepEqual([large.width, large.height, large.reference], [1024, 768, alignment.reference]);
});

test("aligning can be watched and stopped", async () => {
  const { stack } = rendered(1, "desk");
  const shares: number[] = [];
  const stop = new AbortController();
  const work = alignStack(stack, {
    signal: stop.signal,
    onProgress: (share) => {
      shares.push(share);
      if (shares.length === 2) stop.abort();
    },
  });
  await assert.rejects(work, { name: "AbortError" });
  assert.equal(shares.length, 2);
  assert.ok((shares[0] as number) > 0 && (shares[1] as number) < 1);
});

test("exposure can be left as it is", async () => {
  const { stack } = rendered(1, "desk", 0);
  const darker = { ...(stack.images[0] as Image), data: (stack.images[0] as Image).data.map((value) => 0.8 * value) };
  const changed = replaced(stack, 0, darker);
  const [kept, equalized] = [await alignStack(changed, { equalizeExposure: false }), await alignStack(changed)];
  assert.equal(kept.stack.images[0], darker);
  assert.notEqual(equalized.stack.images[0], darker);
});
