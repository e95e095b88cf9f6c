import assert from "node:assert/strict";
import { test } from "node:test";
import type { Image } from "../../src/image/image.ts";
import { renderScene } from "../../src/optics/render/render.ts";
import { compressLikeJpeg } from "../../src/optics/render/jpeg.ts";
import { decodeGamma } from "../../src/optics/render/shade.ts";
import type { Imperfections } from "../../src/optics/scene/scene.ts";
import { LENS, diskDiameter, glowing, lightScene, moments, sceneOf, testTextures } from "./lightScene.ts";

const textures = testTextures();
const near = (actual: number, expected: number, share: number, what: string): void => {
  assert.ok(Math.abs(actual - expected) <= share * Math.abs(expected), `${what}: ${actual} is not within ${100 * share} % of ${expected}`);
};
const first = ({ stack }: { stack: { images: readonly Image[] } }): Image => stack.images[0] as Image;

/** A light at 1.5 m with the focus at 1 m, the picture taken with `imperfections`. */
const flawed = (imperfections: Imperfections, at: readonly [number, number] = [0, 0]): Image =>
  first(renderScene(lightScene({ focusDistances: [1], depth: 1.5, at, radius: 2, size: 80, imperfections }), { textures, samples: 512 }));

/** Blur diameter in pixels for a defocus in dioptres: (f / N) (v / pitch) |…|, with v for a focus at 1 m. */
const diameter = (dioptres: number): number =>
  (LENS.focalLength / LENS.fNumber) * (LENS.focalLength / (1 - LENS.focalLength) / LENS.pixelPitch) * Math.abs(dioptres);

test("a bladed aperture is a polygon with the area of the round one", () => {
  const blades = 5;
  const { spread } = moments(flawed({ blades, bladeAngle: 0.3 }));
  const radius = diameter(1 - 1 / 1.5) / 2;
  const corner2 = (radius ** 2 * 2 * Math.PI) / (blades * Math.sin((2 * Math.PI) / blades));
  const polygon = (corner2 * (2 + Math.cos((2 * Math.PI) / blades))) / 6; // mean squared distance of a regular polygon
  near(spread, polygon + 2 + 1 / 6, 0.02, "mean squared distance");
});

test("a light field shows a light out of focus once for each view, on a square with the area of the round aperture", () => {
  const views = 3;
  const scene = lightScene({ focusDistances: [1], depth: 5, radius: 1, size: 80 });
  const picture = first(renderScene({ ...scene, camera: { ...scene.camera, views } }, { textures, samples: 512 }));
  const half = (diameter(1 - 1 / 5) / 2) * (Math.sqrt(Math.PI) / 2);
  near(moments(picture).spread, 2 * (2 / 3) * half ** 2 + 1 / 2 + 1 / 6, 0.02, "mean squared distance"); // two of three columns are `half` away
  const at = (x: number, y: number): number => picture.data[(Math.round(40 + y) * 80 + Math.round(40 + x)) * 3] as number;
  for (const x of [-half, 0, half]) for (const y of [-half, 0, half]) assert.ok(at(x - 0.5, y - 0.5) > 0.1, `light at ${x}, ${y}`);
  assert.equal(at(half / 2, half / 2), 0, "nothing between the views");
});

test("chromatic shift focuses blue nearer and red farther than green", () => {
  const picture = flawed({ chromaticShift: 0.08 });
  const defocus = 1 - 1 / 1.5;
  [-0.08, 0, 0.08].forEach((shift, channel) => {
    near(diskDiameter(moments(picture, channel).spread, 2), diameter(defocus + shift), 0.03, `channel ${channel}`);
  });
});

test("field curvature is nothing in the middle and its full amount in the corner", () => {
  near(diskDiameter(moments(flawed({ fieldCurvature: 0.2 })).spread, 2), diameter(1 - 1 / 1.5), 0.03, "middle");
  const shifted = flawed({ fieldCurvature: -0.2 }, [20, 20]); // half-way to the corner: a quarter of it
  near(diskDiameter(moments(shifted).spread, 2), diameter(1 - 1 / 1.5 - 0.05), 0.05, "half-way out");
});

test("misalignment moves, turns and magnifies what a plane shows, not the depth", () => {
  const imperfections = { misalignment: [{ shift: [2.5, -1.5] as const, angle: 0.1, scale: 1.05 }] };
  const scene = lightScene({ focusDistances: [1], depth: 1, at: [15, 0], radius: 2, size: 64, imperfections });
  const rendering = renderScene(scene, { textures, samples: 256 });
  const { x, y } = moments(first(rendering));
  near(x, 15 * 1.05 * Math.cos(0.1) + 2.5, 0.005, "x");
  assert.ok(Math.abs(y - (15 * 1.05 * Math.sin(0.1) - 1.5)) < 0.05, `y is ${y}`);
  near(moments(rendering.allInFocus).x, 15, 0.005, "the all-in-focus picture");
});

test("noise has the deviation asked for in linear light, exposure drift its factor", () => {
  const wall = { kind: "plane", centre: [0, 0, 1], rotation: [1, 0, 0, 0], material: glowing(0.4) } as const;
  const imperfections = { readNoise: 0.01, shotNoise: 0.03, exposureDrift: [1, 1.5] };
  const { stack, allInFocus } = renderScene(sceneOf([wall], { focusDistances: [1, 2], size: 64, imperfections }), { textures, samples: 4 });
  stack.images.forEach(({ data }, n) => {
    const values = Float64Array.from(data, decodeGamma);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    const light = 0.4 * (n === 0 ? 1 : 1.5);
    near(mean, light, 0.005, "mean");
    near(Math.sqrt(variance), Math.sqrt(0.01 ** 2 + 0.03 ** 2 * light), 0.05, "deviation");
  });
  assert.ok(
    allInFocus.data.every((value) => Math.abs(decodeGamma(value) - 0.4) < 1e-6),
    "the all-in-focus picture is clean",
  );
});

test("JPEG keeps a flat picture, is close at quality 100, and the coarser the lower the quality", () => {
  const [width, height] = [19, 13];
  const picture = (value: (x: number, y: number, c: number) => number): Image => ({
    width,
    height,
    channels: 3,
    data: Float32Array.from({ length: 3 * width * height }, (_, i) => value(Math.floor(i / 3) % width, Math.floor(i / 3 / width), i % 3)),
  });
  const flat = picture((_x, _y, c) => [0.2, 0.4, 0.6][c] as number);
  compressLikeJpeg(flat, 90).data.forEach((value, i) => {
    assert.ok(Math.abs(value - (flat.data[i] as number)) < 0.02);
  });
  const busy = picture((x, y, c) => 0.5 + 0.4 * Math.sin(1.3 * x + 0.7 * y + c));
  const errors = [100, 75, 30, 8].map(
    (quality) =>
      compressLikeJpeg(busy, quality).data.reduce((sum, value, i) => sum + Math.abs(value - (busy.data[i] as number)), 0) /
      busy.data.length,
  );
  assert.ok((errors[0] as number) < 0.006, `quality 100: ${errors[0] ?? NaN}`);
  errors.slice(1).forEach((error, i) => {
    assert.ok(error > (errors[i] as number), `errors ${errors.join(", ")}`);
  });
});
