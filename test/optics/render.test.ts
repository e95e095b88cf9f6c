import assert from "node:assert/strict";
import { test } from "node:test";
import { boxMean, type Plane } from "../../src/image/boxFilter.ts";
import type { Image } from "../../src/image/image.ts";
import { luminance } from "../../src/image/luminance.ts";
import { quantile } from "../../src/image/quantile.ts";
import { renderScene } from "../../src/optics/render/render.ts";
import { decodeGamma, encodeGamma } from "../../src/optics/render/shade.ts";
import { randomScene } from "../../src/optics/scene/random.ts";
import type { Scene } from "../../src/optics/scene/scene.ts";
import { generateTextures } from "../../src/optics/texture/texture.ts";
import { circleOfConfusion } from "../../src/optics/lens/thinLens.ts";
import { LENS, diskDiameter, glowing, lightScene, moments, sceneOf, testTextures } from "./lightScene.ts";

const textures = testTextures();
const planeOf = (images: readonly Image[], n: number): Image => images[n] as Image;
const facing = [1, 0, 0, 0] as const;
const near = (actual: number, expected: number, share: number, what: string): void => {
  assert.ok(Math.abs(actual - expected) <= share * Math.abs(expected), `${what}: ${actual} is not within ${100 * share} % of ${expected}`);
};

test("gamma decoding has its inverse and the end points of sRGB", () => {
  for (let v = 0; v <= 1; v += 1 / 64) assert.ok(Math.abs(encodeGamma(decodeGamma(v)) - v) < 1e-6, `at ${v}`);
  assert.ok(Math.abs(decodeGamma(0.5) - 0.214) < 1e-3); // sRGB's own curve gives 0.21404
});

test("a point light's blur disk has the diameter of eq. 9 across depths and focus distances", () => {
  const focusDistances = [0.6, 1, 2.5];
  for (const [depth, size] of [
    [0.8, 80],
    [1.5, 112],
    [4, 144],
  ] as const) {
    const scene = lightScene({ focusDistances, depth, radius: 3, size });
    const { stack } = renderScene(scene, { textures, samples: 384 });
    focusDistances.forEach((focusDistance, n) => {
      const measured = diskDiameter(moments(planeOf(stack.images, n)).spread, 3);
      near(measured, circleOfConfusion(LENS, { focusDistance, depth }), 0.02, `focus ${focusDistance}, depth ${depth}`);
    });
  }
});

test("eq. 9 holds in pixels when the focus breathes too, and the picture grows with the image distance", () => {
  const focusDistances = [0.5, 1, 3];
  const scene = lightScene({ focusDistances, depth: 1.3, at: [24, -10], radius: 2, size: 96, breathing: 1 });
  const { stack, depth } = renderScene(scene, { textures, samples: 384 });
  const imageDistance = (s: number): number => (s * LENS.focalLength) / (s - LENS.focalLength);
  focusDistances.forEach((focusDistance, n) => {
    const scale = imageDistance(focusDistance) / imageDistance(1);
    const { x, y, spread } = moments(planeOf(stack.images, n));
    near(x, 24 * scale, 0.01, "x");
    near(y, -10 * scale, 0.01, "y");
    near(diskDiameter(spread, 2 * scale), circleOfConfusion(LENS, { focusDistance, depth: 1.3 }), 0.02, `focus ${focusDistance}`);
  });
  assert.ok(Math.abs((depth.values[(48 - 10) * 96 + 48 + 24] as number) - 1.3) < 1e-6, "depth belongs to the middle plane");
});

test("blurring moves light but neither makes nor loses any", () => {
  const scene = lightScene({ focusDistances: [0.7, 1.2, 2], depth: 1.2, radius: 3, size: 96 });
  const { stack, allInFocus } = renderScene(scene, { textures, samples: 384 });
  const expected = moments(allInFocus).total;
  near(expected, Math.PI * 9, 0.02, "the disk's area in pixels");
  for (const picture of stack.images) near(moments(picture).total, expected, 0.02, "total light");
});

test("a constant picture stays constant in every plane", () => {
  const wall = { kind: "plane", centre: [0, 0, 1], rotation: facing, material: glowing(0.4) } as const;
  const { stack, allInFocus, depth } = renderScene(sceneOf([wall], { focusDistances: [0.5, 1, 4], size: 20 }), { textures, samples: 16 });
  for (const { data } of [...stack.images, allInFocus]) for (const value of data) assert.ok(Math.abs(value - encodeGamma(0.4)) < 1e-6);
  assert.ok(depth.values.every((value) => Math.abs(value - 1) < 1e-6));
});

test("a fronto-parallel plane in focus equals its all-in-focus picture, out of focus it does not", () => {
  const painted = generateTextures({ count: 1 });
  const surface = glowing(1, { textureSize: (256 / 500) * 1.5 }); // a texel is 1.5 pixels
  const wall = { kind: "plane", centre: [0, 0, 1], rotation: facing, material: surface } as const;
  const { stack, allInFocus } = renderScene(sceneOf([wall], { focusDistances: [0.8, 1], size: 48 }), { textures: painted, samples: 192 });
  const rms = (a: Image, b: Image): number =>
    Math.sqrt(a.data.reduce((sum, value, i) => sum + (value - (b.data[i] as number)) ** 2, 0) / a.data.length);
  const noise = rms(planeOf(stack.images, 1), allInFocus);
  const blurred = rms(planeOf(stack.images, 0), allInFocus);
  assert.ok(noise < 0.02 && blurred > 4 * noise, `in focus ${noise}, out of focus ${blurred}`);
});

test("a near edge out of focus lets the far texture through by the share of the lens it leaves open", () => {
  const size = 48;
  const stripes = glowing(1, { texture: 1, textureSize: 16 * (2 / 500) }); // at 2 m: 8 pixels white, 8 pixels black
  const wall = { kind: "plane", centre: [0, 0, 2], rotation: facing, material: stripes } as const;
  const cover = {
    kind: "quad",
    centre: [-1, 0, 1],
    rotation: facing,
    halfSizes: [1, 1],
    material: glowing(0, { tint: [0, 0, 0] }),
  } as const;
  const { stack } = renderScene(sceneOf([wall, cover], { focusDistances: [2], size }), { textures, samples: 512 });
  const { data } = planeOf(stack.images, 0);
  const light = (x: number, y: number): number => decodeGamma(data[3 * (y * size + x)] as number);
  const radius = circleOfConfusion(LENS, { focusDistance: 2, depth: 1 }) / 2;
  for (const offset of [-0.6, -0.3, 0, 0.3, 0.6]) {
    const x = Math.round(size / 2 + offset * radius - 0.5);
    const u = (x + 0.5 - size / 2) / radius;
    const open = 0.5 + (u * Math.sqrt(1 - u * u) + Math.asin(u)) / Math.PI; // of the disk, what lies beyond the edge
    const column = Array.from({ length: size }, (_, y) => light(x, y));
    near(Math.max(...column) - Math.min(...column), open, 0.08, `contrast at ${offset} radii from the edge`);
  }
});

test("the error against 4096 samples falls as samples grow", () => {
  const painted = generateTextures({ count: 12 });
  const scene = randomScene(11, { width: 24, height: 24, planes: 2, theme: "desk", textures: [0, 1, 2, 4, 5, 7], blur: [4, 6] });
  const take = (samples: number): Float32Array => planeOf(renderScene(scene, { textures: painted, samples }).stack.images, 0).data;
  const reference = take(4096);
  const errors = [4, 16, 64, 256].map((samples) =>
    Math.sqrt(take(samples).reduce((sum, value, i) => sum + (value - (reference[i] as number)) ** 2, 0) / reference.length),
  );
  errors.slice(1).forEach((error, i) => {
    assert.ok(error < 0.7 * (errors[i] as number), `errors ${errors.map((value) => value.toFixed(5)).join(", ")}`);
  });
});

test("the same scene gives the same picture, another seed other noise", () => {
  const painted = generateTextures({ count: 12 });
  const scene = randomScene(3, { width: 16, height: 16, planes: 2, textures: [0, 1, 2] });
  const take = (seed: number): Float32Array =>
    planeOf(renderScene({ ...scene, seed }, { textures: painted, samples: 8 }).stack.images, 0).data;
  assert.deepEqual(take(1), take(1));
  assert.notDeepEqual(take(1), take(2));
});

test("a scene that needs more textures than are loaded is refused with the primitive and the number", () => {
  const wall = { kind: "plane", centre: [0, 0, 1], rotation: facing, material: glowing(1, { texture: 5 }) } as const;
  assert.throws(
    () => renderScene(sceneOf([wall], { focusDistances: [1], size: 8 }), { textures }),
    /primitives\[0\] needs texture 5, but only 2/,
  );
});

test("where a ray meets nothing the depth is marked unknown", () => {
  const { depth } = renderScene(lightScene({ focusDistances: [1], depth: 1, radius: 3, size: 16 }), { textures, samples: 4 });
  assert.equal(depth.valid[0], 0);
  assert.equal(depth.valid[8 * 16 + 8], 1);
});

test("the wall behind a backdrop scene's objects is at most just beyond the planes and shows nothing of focus; with texture it would", () => {
  const [size, reach] = [64, 10]; // pixels; blur of two or three from plane to plane
  const painted = generateTextures({ count: 4 });
  /** Median difference between the two frames, over pixels with nothing but wall around them. */
  const differenceOnWall = (scene: Scene, wall: number): number => {
    const { stack, depth } = renderScene(scene, { textures: painted, samples: 96 }); // 32 rays leave a noise of 0.006 on the wall
    const isWall = depth.values.map((value) => Number(Math.abs(value / wall - 1) < 1e-3));
    const wallAround = boxMean({ width: size, height: size, values: isWall }, reach);
    const [nearer, farther] = stack.images.map(luminance) as [Plane, Plane];
    const differences = nearer.values.map((value, i) => Math.abs(value - (farther.values[i] as number)));
    return quantile(differences.filter((_, i) => (wallAround[i] as number) > 0.999), 0.5); // prettier-ignore
  };
  for (const seed of [1, 2, 3]) {
    const scene = randomScene(seed, { planes: 2, theme: "backdrop", width: size, height: size, textures: [0, 1, 2, 3], blur: [2, 3] });
    const [wall, others] = [scene.primitives.at(-1), scene.primitives.slice(0, -1)];
    assert.ok(wall?.kind === "plane");
    const [from, to] = scene.focusDistances as [number, number];
    const depth = wall.centre[2];
    assert.ok(depth > from && depth < 1.1 * to, `seed ${seed}: ${depth} m, planes at ${from} and ${to}`);
    const textured = { ...wall, material: { ...wall.material, textureSize: wall.material.textureSize / 5e3, texture: 1 } };
    const [bare, shown] = [differenceOnWall(scene, depth), differenceOnWall({ ...scene, primitives: [...others, textured] }, depth)];
    assert.ok(bare < 0.003 && shown > 5 * bare, `seed ${seed}: ${bare}, with texture ${shown}`);
  }
});
