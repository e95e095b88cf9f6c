import assert from "node:assert/strict";
import test from "node:test";
import { IDENTITY } from "../../src/align/similarity.ts";
import { checkStack } from "../../src/check/checkStack.ts";
import { checkMotion } from "../../src/check/motion.ts";
import type { Finding, FindingCode } from "../../src/check/finding.ts";
import { boxMean } from "../../src/image/boxFilter.ts";
import type { Image } from "../../src/image/image.ts";
import { createRandom } from "../../src/random.ts";
import type { FocalStack } from "../../src/stack/focalStack.ts";
import { gaussianBlur, slantedStack, texture } from "../helpers/texturedStack.ts";
import { applyGain, warpImage } from "../helpers/warp.ts";

const SIZE = { width: 208, height: 144 };
const PLANES = 7;

/** A slanted textured plane, in focus from left to right, with the noise of a camera. */
const good: FocalStack = (() => {
  const { stack } = slantedStack({ ...SIZE, planes: PLANES, blurPerPlane: 0.7 });
  const random = createRandom(4);
  const images = stack.images.map((image) => ({ ...image, data: image.data.map((v) => 0.1 + 0.8 * v + 0.002 * random.normal()) }));
  return { ...stack, images };
})();

const picture = (plane: number): Image => good.images[plane] as Image;
const withPicture = (plane: number, image: Image): FocalStack => ({ ...good, images: good.images.with(plane, image) });
const inOrder = (order: readonly number[]): FocalStack => ({
  ...good,
  images: order.map(picture),
  focusDistances: order.map((_, n) => n + 1),
});
const flat = (value: number): Image => ({ ...picture(0), data: picture(0).data.map(() => value) });

const codes = (findings: readonly Finding[]): FindingCode[] => findings.map(({ code }) => code);

/** The one finding with this code; every finding must say what to do. */
async function found(stack: FocalStack, code: FindingCode): Promise<Finding> {
  const findings = await checkStack(stack);
  const finding = findings.find((each) => each.code === code);
  assert.ok(finding, `${code} not among ${codes(findings).join(", ") || "none"}`);
  assert.ok(findings.every(({ message, remedy }) => message.length > 10 && remedy.length > 10));
  return finding;
}

test("a good stack has nothing wrong with it", async () => {
  assert.deepEqual(await checkStack(good), []);
});

test("too few planes: one is an error, two a warning, four worth a note", async () => {
  for (const [planes, severity] of [
    [1, "error"],
    [2, "warning"],
    [4, "note"],
  ] as const)
    assert.equal((await found(inOrder([1, 2, 3, 4].slice(0, planes)), "too-few-planes")).severity, severity);
});

test("pictures of different sizes are named with both sizes", async () => {
  const finding = await found(withPicture(2, texture({ width: 64, height: 48 })), "mixed-sizes");
  assert.deepEqual([finding.severity, finding.plane], ["error", 2]);
  assert.match(finding.message, /plane 2 is 64×48, plane 0 is 208×144/);
});

test("distances that are missing, equal, backwards or too few are told apart", async () => {
  assert.equal((await found({ ...good, space: "index" }, "missing-distances")).severity, "note");
  const equal = await found({ ...good, focusDistances: good.focusDistances.with(3, 3) }, "contradictory-distances");
  assert.match(equal.message, /plane 2 and plane 3 have the same focus distance, 3/);
  assert.match((await found({ ...good, focusDistances: good.focusDistances.with(3, 2) }, "contradictory-distances")).message, /2 after 3/);
  assert.match((await found({ ...good, focusDistances: [1, 2] }, "contradictory-distances")).message, /7 images but 2/);
});

test("a picture that occurs twice is found, wherever it is", async () => {
  const { plane, message } = await found(withPicture(5, picture(1)), "duplicate");
  assert.equal(plane, 5);
  assert.match(message, /plane 5 is the same image as plane 1/);
});

test("a black frame is an error, is reported once, and does not hide what is right", async () => {
  const findings = await checkStack(withPicture(2, flat(0)));
  assert.deepEqual(codes(findings), ["blank-frame"]);
  assert.match((findings[0] as Finding).message, /plane 2 is blank \(black\)/);
  assert.equal(findings[0]?.severity, "error");
});

test("clipped highlights are found", async () => {
  const image = picture(3);
  const data = image.data.map((value, i) => (i < 0.3 * image.data.length ? 1 : value));
  const { plane, message } = await found(withPicture(3, { ...image, data }), "clipped");
  assert.equal(plane, 3);
  assert.match(message, /30 % of the image is clipped/);
});

test("an exposure jump is found where it happens, and drift of a percent is not", async () => {
  const brighter = withPicture(3, applyGain(picture(3), [1.3, 1.3, 1.3]));
  const jumps = (await checkStack(brighter)).filter(({ code }) => code === "exposure-jump");
  assert.deepEqual(jumps.map(({ plane }) => plane), [3, 4]); // prettier-ignore
  assert.match((jumps[0] as Finding).message, /plane 3 is 0\.4 stops brighter than plane 2/); // log₂ 1.3
  const drift = { ...good, images: good.images.map((image, n) => applyGain(image, [1 + n / 100, 1 + n / 100, 1 + n / 100])) };
  assert.deepEqual(codes(await checkStack(drift)), []);
});

test("shake is found, in pixels of the original pictures", async () => {
  const shaken = withPicture(4, warpImage(picture(4), { scale: 1, angle: 0, shift: [3, 0] }));
  const [finding] = (await checkStack(shaken, { enlargement: 4 })).filter(({ code }) => code === "shake");
  assert.match(finding?.message ?? "", /by up to 12 pixels/);
  assert.equal(finding?.severity, "note");
});

test("breathing is measured, and a picture that grows with distance is doubted", async () => {
  const breathing = (sign: number): FocalStack => ({
    ...good,
    images: good.images.map((image, n) => warpImage(image, { scale: 1 + sign * 0.005 * (n - 3), angle: 0, shift: [0, 0] })),
  });
  const natural = await checkStack(breathing(1)); // the warp shows a larger scale's picture smaller
  assert.deepEqual(codes(natural), ["scale-change"]);
  assert.match((natural[0] as Finding).message, /changes by (2\.9|3\.0|3\.1) %/);
  assert.deepEqual(codes(await checkStack(breathing(-1))), ["reversed", "scale-change"]);
});

test("a frame of another scene is a warning, and pictures that share nothing are an error", async () => {
  const { plane, severity } = await found(withPicture(3, texture({ ...SIZE, seed: 77 })), "unaligned");
  assert.deepEqual([plane, severity], [3, "warning"]);
  const strangers = { ...good, images: good.images.map((_, n) => texture({ ...SIZE, seed: 50 + n })) };
  assert.equal((await found(strangers, "unaligned")).severity, "error");
});

test("a scene whose parts move is found", async () => {
  const image = picture(3);
  const moved = warpImage(image, { scale: 1, angle: 0, shift: [2, 0] });
  const data = image.data.map((value, i) => (Math.floor(i / 3) % SIZE.width < SIZE.width / 2 ? value : (moved.data[i] as number)));
  const { message, severity, remedy } = await found(withPicture(3, { ...image, data }), "scene-moved");
  assert.match(message, /parts of the image moved differently/);
  assert.equal(severity, "note"); // a pixel of 192
  assert.match(remedy, /where something moved/);
});

test("motion of a few working pixels is worth a warning, of about one a note, of less nothing", () => {
  const still = { transform: IDENTITY, gain: [1], ok: true };
  const findings = (residual: number): readonly Finding[] =>
    checkMotion(
      { width: 3000, height: 2000, reference: 0, frames: [still, { ...still, residual }] },
      { nameOf: String, space: "depth", known: [] },
    );
  assert.deepEqual(findings(0.8), []); // of 3600 pixels of diagonal
  assert.equal(findings(4)[0]?.severity, "note");
  assert.equal(findings(6)[0]?.severity, "warning"); // 1.5 of 768
  assert.match(findings(6)[0]?.remedy ?? "", /all-in-focus image may show outlines twice; use a tripod/);
});

/** Whole pixels by which the camera moves. */
const SHAKE = [[0, 0], [2, -2], [4, 0], [-2, 4], [0, -4]] as const; // prettier-ignore

/** What a camera that shakes takes of a larger picture. */
function shaken(pictures: readonly Image[]): FocalStack {
  const images = SHAKE.map(([x, y], n): Image => {
    const { width, data } = pictures[n % pictures.length] as Image;
    const from = (i: number): number => (Math.floor(i / 3 / SIZE.width) + 8 + y) * width + (Math.floor(i / 3) % SIZE.width) + 8 + x;
    return { ...SIZE, channels: 3, data: picture(0).data.map((_, i) => data[3 * from(i) + (i % 3)] as number) };
  });
  return { images, focusDistances: [1, 2, 3, 4, 5], space: "depth" };
}

test("photos that differ by hand shake alone show no change of focus: the borders that alignment repeats are no evidence", async () => {
  const size = { width: SIZE.width + 16, height: SIZE.height + 16 };
  const plain = (i: number): boolean => Math.abs(Math.floor(i / 3 / size.width) - size.height / 2) < 20; // shows how little noise there is
  const sharp: Image = { ...size, channels: 3, data: texture(size).data.map((value, i) => (plain(i) ? 0.5 : value)) };
  assert.deepEqual(codes(await checkStack(shaken([sharp]))), ["no-focus-change"]);
  const soft = gaussianBlur(sharp, () => 1.5);
  const findings = await checkStack(shaken([sharp, soft]));
  assert.ok(!codes(findings).includes("no-focus-change"), codes(findings).join());
});

/** One picture taken at these factors of exposure, white where it is too bright, in eight bits. */
const exposed = (pictures: readonly Image[], factors: readonly number[]): FocalStack => ({
  images: factors.map((factor, n): Image => {
    const { data, ...rest } = applyGain(pictures[n % pictures.length] as Image, [factor, factor, factor]);
    return { ...rest, data: data.map((value) => Math.round(255 * value) / 255) };
  }),
  focusDistances: factors.map((_, n) => n + 1),
  space: "depth",
});

test("photos that differ by exposure alone show no change of focus: what is white or black in some of them is no evidence in the others", async () => {
  const random = createRandom(11);
  const plain = (i: number): boolean => Math.abs(Math.floor(i / 3 / SIZE.width) - SIZE.height / 2) < 20; // shows how little noise there is
  const tones = texture(SIZE).data.map((value, i) =>
    plain(i) ? 0.5 : (i / 3) % SIZE.width < SIZE.width / 2 ? 0.5 + value / 2 : value / 8,
  );
  const sharp: Image = { ...SIZE, channels: 3, data: tones }; // bright on the left, dark on the right
  const noisy = [0, 1, 2, 3, 4].map(() => ({ ...sharp, data: sharp.data.map((value) => value + 0.004 * random.normal()) }));
  for (const pictures of [[sharp], noisy])
    for (const factors of [
      [0.5, 0.7, 1, 1.4, 2],
      [0.25, 0.5, 1, 1, 1],
      [1, 1.06],
    ])
      // prettier-ignore
      assert.ok(codes(await checkStack(exposed(pictures, factors))).includes("no-focus-change"), factors.join());
});

test("what comes into focus is found beside clipped pixels, and so are lights that are white in all images", async () => {
  const sharp = texture(SIZE);
  const soft = gaussianBlur(sharp, () => 1.5);
  for (const factors of [
    [0.5, 1, 2],
    [1, 1.03, 1.06],
  ])
    // prettier-ignore
    assert.ok(!codes(await checkStack(exposed([sharp, soft], factors))).includes("no-focus-change"), factors.join());
  const lights = { ...sharp, data: sharp.data.map((_, i) => (Math.floor(i / 3) % 24 < 2 && Math.floor(i / 3 / SIZE.width) % 24 < 2 ? 4 : 0.02 + 0.02 * (sharp.data[i] as number))) }; // prettier-ignore
  const blurred = gaussianBlur(lights, () => 3);
  assert.ok(!codes(await checkStack(exposed([blurred, lights], [1, 1, 1]))).includes("no-focus-change"));
  assert.ok(!codes(await checkStack(exposed([blurred, lights], [1, 1.02, 1.04]))).includes("no-focus-change"));
});

test("a little blur that only the images in their own size show is a change of focus", async () => {
  const size = { width: 768, height: 576 }; // more than are looked at first
  const random = createRandom(7);
  const sharp = Float32Array.from({ length: size.width * size.height }, () => random.uniform());
  const stackOf = (planes: readonly Float32Array[]): FocalStack => ({
    images: planes.map((data) => ({ ...size, channels: 1, data: data.map((value) => value + 0.002 * random.normal()) })),
    focusDistances: [1, 2, 3],
    space: "depth",
  });
  const soft = boxMean({ ...size, values: sharp }, 1);
  assert.ok(!codes(await checkStack(stackOf([soft, sharp, soft]))).includes("no-focus-change"));
  assert.ok(codes(await checkStack(stackOf([sharp, sharp, sharp]))).includes("no-focus-change"));
});

test("a plane out of order is named with where it belongs", async () => {
  const { plane, message } = await found(inOrder([0, 2, 3, 4, 1, 5, 6]), "order");
  assert.equal(plane, 4);
  assert.match(message, /belongs between plane 0 and plane 1/);
});

test("a blurred frame is named, whether distances are known or not, and is not taken for a wrong order or a gap", async () => {
  const blurred = withPicture(
    3,
    gaussianBlur(picture(3), () => 3),
  );
  for (const [space, others] of [
    ["depth", []],
    ["index", ["missing-distances", "direction"]],
  ] as const) {
    // prettier-ignore
    const findings = await checkStack({ ...blurred, space });
    assert.deepEqual(codes(findings), ["blurred-frame", ...others]);
    assert.deepEqual([findings[0]?.severity, findings[0]?.plane], ["warning", 3]);
    assert.match(findings[0]?.message ?? "", /^plane 3 is blurred/);
  }
});

test("a missing plane leaves a gap", async () => {
  const steep = slantedStack({ ...SIZE, planes: 9, blurPerPlane: 0.9 }).stack;
  const without = { ...steep, images: steep.images.filter((_, n) => n < 3 || n > 5), focusDistances: [1, 2, 3, 7, 8, 9] };
  assert.deepEqual(codes(await checkStack(steep)), []);
  const { plane, message } = await found(without, "gap");
  assert.equal(plane, 3);
  assert.match(message, /plane 2 and plane 3 are far apart/);
});

test("what no plane shows sharp is found, and where", async () => {
  const steep = slantedStack({ ...SIZE, planes: 9, blurPerPlane: 1.5 }).stack;
  const near = { ...steep, images: steep.images.slice(0, 4), focusDistances: steep.focusDistances.slice(0, 4) };
  const { message } = await found(near, "never-in-focus");
  assert.match(message, /^\d\d % of the detail is never in focus, mostly .*right.*; it seems to lie beyond the last plane$/);
});

test("findings name the file, and come most serious first", async () => {
  const files = good.images.map((_, n) => `photo_${n}.jpg`);
  const findings = await checkStack({ ...withPicture(1, flat(1)), space: "index" }, { files });
  assert.deepEqual(findings.map(({ severity }) => severity), ["error", "note", "note"]); // prettier-ignore
  assert.equal(findings[0]?.file, "photo_1.jpg");
  assert.match(findings[0].message, /photo_1\.jpg is blank \(white\)/);
});
