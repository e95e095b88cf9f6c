import assert from "node:assert/strict";
import { test } from "node:test";
import { decode } from "fast-png";
import { depthMap } from "../../src/image/depthMap.ts";
import { encodeGlb } from "../../src/io/glb.ts";
import { encodePly } from "../../src/io/ply.ts";
import { depthMesh, encodeMesh, encodePoints } from "../../src/output/model.ts";
import { DEFAULT_FIELD_OF_VIEW, projectionOf } from "../../src/output/projection.ts";
import type { DepthResult } from "../../src/output/result.ts";
import { assertClose } from "../helpers/close.ts";
import { readGlb, readPly } from "./readers.ts";

const camera = { focalLength: 0.05, fNumber: 2, pixelPitch: 0.005 }; // 10 pixels
const picture = { width: 2, height: 2, channels: 3 as const, data: Float32Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1) };
const map = (values: readonly number[], width = 2): DepthResult["depth"] =>
  depthMap({ width, height: values.length / width, values: Float32Array.from(values), space: "depth" });
const four: DepthResult = { depth: map([2, 2, 4, NaN]), unit: "m", camera, allInFocus: picture };

test("points lie where the pinhole puts them, in the picture's colours, unknown pixels left out", () => {
  const { vertices, comments } = readPly(encodePoints(four));
  const rounded = vertices.map((vertex) => Object.values(vertex).map((value) => Number(value.toFixed(6))));
  assert.deepEqual(rounded, [
    [-0.1, 0.1, -2, 255, 0, 0],
    [0.1, 0.1, -2, 0, 255, 0],
    [-0.2, -0.2, -4, 0, 0, 255],
  ]);
  assert.match(comments.join(), /focal length 10\.0 pixels \(from the camera\); metres/);
});

test("an unknown camera is assumed and said so; a microscope has no perspective; plane numbers make a relief", () => {
  const without: DepthResult = { depth: four.depth, unit: "m", allInFocus: picture };
  const assumed = projectionOf(without);
  assert.ok(assumed.kind === "pinhole" && assumed.assumed);
  assertClose([2 * Math.atan(1 / assumed.focalLength) * (180 / Math.PI)], [DEFAULT_FIELD_OF_VIEW], 1e-9);
  assert.match(readPly(encodePoints(without)).comments.join(), /assumed: 60 degrees/);
  const flat = readPly(encodePoints({ ...without, pixelSize: 1e-3 })).vertices[2];
  assertClose([flat?.["x"] ?? 0, flat?.["y"] ?? 0, flat?.["z"] ?? 0], [-0.5e-3, -0.5e-3, -4], 1e-6);
  const slide = { ...map([0, 3e-6, 6e-6, 6e-6]), space: "position" } as const;
  const above = readPly(encodePoints({ ...without, depth: slide, pixelSize: 1e-6 }));
  assertClose(
    above.vertices.map(({ z }) => z ?? NaN),
    [0, -3e-6, -6e-6, -6e-6],
    1e-6,
  );
  assert.match(above.comments.join(), /0 at the middle of the image and at depth 0,no perspective, 0\.000001 metres per pixel/);
  assert.equal(projectionOf({ ...four, depth: slide }).kind, "relief", "where the camera is, nobody knows");
  const relief = readPly(encodePoints({ ...four, unit: "index", depth: { ...map([0, 3, 6, 6]), space: "index" } })).vertices;
  assertClose(
    relief.map(({ z }) => z ?? NaN),
    [0, -0.125, -0.25, -0.25],
    1e-6,
  );
  assertClose([relief[0]?.["x"] ?? 0, relief[0]?.["y"] ?? 0], [-0.25, 0.25], 1e-6);
});

test("dioptres become metres, and what is as good as infinitely far is left out", () => {
  const { vertices } = readPly(encodePoints({ ...four, unit: "dpt", depth: { ...map([2, 0.5, 0.001, 0]), space: "disparity" } }));
  assertClose(
    vertices.map(({ z }) => z ?? NaN),
    [-0.5, -2],
    1e-6,
  );
});

test("a smooth surface becomes two triangles a cell, facing the viewer, with the picture on it", () => {
  const smooth: DepthResult = { ...four, depth: map([2, 2.01, 2.02, 2, 2.01, 2.02], 3) };
  const bytes = encodeMesh(smooth) ?? new Uint8Array();
  const glb = readGlb(bytes);
  assert.equal(glb.positions.length, 6 * 3);
  assert.equal(glb.indices.length, 4 * 3);
  for (let triangle = 0; triangle < 4; triangle++) {
    const [a, b, c] = [0, 1, 2].map((corner) => {
      const vertex = glb.indices[3 * triangle + corner] as number;
      return [glb.positions[3 * vertex] as number, glb.positions[3 * vertex + 1] as number];
    }) as [number[], number[], number[]];
    const [ax, ay, bx, by] = [b[0], b[1], c[0], c[1]].map((value, i) => (value as number) - (a[i % 2] as number)) as [
      number,
      number,
      number,
      number,
    ];
    assert.ok(ax * by - ay * bx > 0, "anticlockwise seen from +z");
  }
  const first = glb.indices.indexOf(0) >= 0 ? [glb.textureCoordinates[0], glb.textureCoordinates[1]] : [];
  assertClose(first as number[], [0.5 / 3, 0.25], 1e-6);
  const image = decode(glb.image);
  assert.deepEqual([glb.json.images[0]?.mimeType, [...image.data]], ["image/png", [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]]);
  assert.match(String(glb.json.scenes[0]?.extras["projection"]), /pinhole camera/);
});

test("no triangle spans a depth edge or touches an unknown pixel", () => {
  const [width, height] = [80, 80];
  const values = Float32Array.from({ length: width * height }, (_, i) => (i % width < 40 ? 1 : 2));
  values[5] = NaN;
  const step: DepthResult = { depth: depthMap({ width, height, values, space: "depth" }), unit: "m", camera };
  const mesh = depthMesh(step, { projection: projectionOf(step) });
  assert.equal(mesh.indices.length / 3, 2 * 78 * 79 - 3); // two cells wide less the cut column; three triangles touch pixel 5
  for (let i = 0; i < mesh.indices.length; i += 3) {
    const z = [0, 1, 2].map((corner) => mesh.positions[3 * (mesh.indices[i + corner] as number) + 2]);
    assert.ok(z.every((value) => value === z[0]));
  }
});

test("a ramp of a few pixels at a depth edge is cut in two, and specks beside it are left out; a slope stays whole", () => {
  const [width, height] = [100, 100];
  const across = [1, 1.2, 1.5, 1.9, 2]; // from one wall to the other over three pixels
  const values = Float32Array.from({ length: width * height }, (_, i) => across[Math.min(Math.max((i % width) - 48, 0), 4)] as number);
  for (const pixel of [20 * width + 80, 20 * width + 81, 21 * width + 80, 21 * width + 81]) values[pixel] = 1.45; // floats between the walls
  const step: DepthResult = { depth: depthMap({ width, height, values, space: "depth" }), unit: "m", pixelSize: 0.01 };
  const mesh = depthMesh(step, { projection: projectionOf(step) });
  const heights = new Set(Array.from({ length: mesh.positions.length / 3 }, (_, i) => -(mesh.positions[3 * i + 2] as number)));
  assert.deepEqual([...heights].sort(), [1, 2]);
  assert.equal(
    mesh.indices.length / 3,
    2 * 98 * 99 - 16,
    "every cell but the column that is cut and the triangles at the four floating points",
  );
  const slope: DepthResult = {
    ...step,
    depth: depthMap({ width, height, values: values.map((_, i) => 1 + (i % width) / 100), space: "depth" }),
  };
  const whole = depthMesh(slope, { projection: projectionOf(slope) });
  assert.equal(whole.indices.length / 3, 2 * 99 * 99);
  assert.equal(new Set(whole.positions.filter((_, i) => i % 3 === 2)).size, width);
});

test("a large map is thinned to the vertices asked for, keeping its extent", () => {
  const [width, height] = [200, 100];
  const ramp: DepthResult = {
    depth: depthMap({
      width,
      height,
      values: Float32Array.from({ length: width * height }, (_, i) => 1 + (i % width) / 1e4),
      space: "depth",
    }),
    unit: "m",
    camera,
  };
  const glb = readGlb(encodeMesh(ramp, { maxVertices: 1250 }) ?? new Uint8Array());
  assert.equal(glb.positions.length / 3, 50 * 25);
  assertClose([Math.max(...glb.textureCoordinates)], [(196 + 0.5) / 200], 1e-6);
});

test("a JPEG texture is embedded as it is", () => {
  const bytes = Uint8Array.of(255, 216, 255, 217, 7);
  const glb = readGlb(
    encodeMesh({ ...four, depth: map([2, 2, 2, 2]) }, { texture: { bytes, mimeType: "image/jpeg" } }) ?? new Uint8Array(),
  );
  assert.deepEqual([glb.json.images[0]?.mimeType, glb.image], ["image/jpeg", bytes]);
});

test("wrong arrays are refused", () => {
  assert.throws(() => encodePly({ positions: new Float32Array(4), colors: new Uint8Array(4) }), /do not make points/);
  const texture = { bytes: new Uint8Array(), mimeType: "image/png" as const };
  const mesh = { positions: new Float32Array(9), textureCoordinates: new Float32Array(5), indices: new Uint32Array(3), texture };
  assert.throws(() => encodeGlb(mesh), /5 texture coordinates/);
  assert.throws(() => encodeGlb({ ...mesh, indices: new Uint32Array() }), /at least one triangle/);
});
