import assert from "node:assert/strict";
import { test } from "node:test";
import { Vector3 } from "three";

import { fieldOfView, frameOf, viewpoint } from "../../../web/src/scene3d/framing.ts";
import { assertClose } from "../../helpers/close.ts";
import { createRuler } from "../../../web/src/scene3d/ruler.ts";
import { distanceText } from "../../../web/src/state/measure.ts";

const pinhole = { kind: "pinhole", focalLength: 100, assumed: false } as const;

/** A wall of 200 × 100 pixels at 2 m before a camera of 100 pixels focal length: 4 m × 2 m. */
const wall = Float32Array.from({ length: 3 * 21 * 11 }, (_, i) => {
  const point = Math.floor(i / 3);
  return [((point % 21) - 10) / 5, (Math.floor(point / 21) - 5) / 5, -2][i % 3] as number;
});

test("a wall is brought to the size 2 about its middle, under the camera's angle", () => {
  const { scale, centre, tangents, sample } = frameOf(wall, { projection: pinhole, width: 200, height: 100 });
  assert.deepEqual([scale, [...centre], [...tangents]], [0.5, [0, 0, -2], [1, 0.5]]);
  assert.deepEqual([...sample.subarray(0, 3)].map(Math.fround), [-1, -0.5, 0]);
});

test("from straight ahead the wall is seen whole from where it was photographed, but for a little air", () => {
  const frame = frameOf(wall, { projection: pinhole, width: 200, height: 100 });
  const fov = fieldOfView(frame.tangents, 2);
  assert.ok(Math.abs(fov - 53.13) < 0.01, "2 · atan(1/2)");
  const { distance, target } = viewpoint(frame, { azimuth: 0, polar: 0, fov, aspect: 2 });
  assert.ok(Math.abs(distance - 1.05) < 1e-5, `${distance}: tangent 1 at distance 1 spans 2`);
  assert.ok(Math.hypot(...target) < 1e-6, `${target.join()}: symmetric`);
  assert.ok(Math.abs(fieldOfView(frame.tangents, 0.5) - 126.87) < 0.01, "on a tall screen the width decides: 2 · atan(1 / 0.5)");
});

test("turned by a quarter the wall is a line, whose near end needs room", () => {
  const frame = frameOf(wall, { projection: pinhole, width: 200, height: 100 });
  const { distance } = viewpoint(frame, { azimuth: Math.PI / 2, polar: 0, fov: 90, aspect: 1 });
  assert.ok(Math.abs(distance - 1.05 * 1.5) < 0.15, `${distance}: 1 towards the viewer, half as high`);
});

test("a table that reaches out to one side is in view as a whole, in the middle", () => {
  // Three points by hand, many times, seen from the front with tangent 1: x from -1 to 3 at the same depth. The middle is 1, half the width 2.
  const points = [-1, 0, 0, 3, 0, 0, 1, 0.5, 0];
  const sample = Float32Array.from({ length: 900 }, (_, i) => points[i % 9] as number);
  const { target, distance } = viewpoint({ sample }, { azimuth: 0, polar: 0, fov: 90, aspect: 1 });
  assertClose(target, [1, 0.25, 0], 1e-5);
  assertClose([distance], [1.05 * 2], 1e-5);
  // From any direction every point projects into the view.
  for (const azimuth of [-0.6, 0.35, 1.2]) {
    const seen = viewpoint({ sample }, { azimuth, polar: 0, fov: 60, aspect: 1.4 });
    const eye = [seen.target[0] + seen.distance * Math.sin(azimuth), seen.target[2] + seen.distance * Math.cos(azimuth)] as const;
    for (let i = 0; i < 9; i += 3) {
      const [x, z] = [(sample[i] as number) - eye[0], (sample[i + 2] as number) - eye[1]];
      const [right, ahead] = [x * Math.cos(azimuth) - z * Math.sin(azimuth), -(x * Math.sin(azimuth) + z * Math.cos(azimuth))];
      assert.ok(Math.abs(right) <= 1.4 * Math.tan(Math.PI / 6) * ahead, `${azimuth}: point ${i / 3}`);
    }
  }
});

test("without perspective the longer side spans 2 as well", () => {
  const flat = Float32Array.of(-0.5, 0, 0, 0.5, 0, -0.25);
  assert.equal(frameOf(flat, { projection: { kind: "relief", height: 0.25 }, width: 300, height: 100 }).scale, 2);
  const slide = frameOf(flat, { projection: { kind: "orthographic", pixelSize: 1e-6 }, width: 300, height: 100 });
  assert.ok(Math.abs(slide.scale - 2 / 3e-4) < 1e-9 * slide.scale);
});

test("two points are measured, a third starts over, and clearing removes them", () => {
  const ruler = createRuler(pinhole);
  assert.equal(ruler.add(new Vector3(0, 0, -1)), undefined);
  assert.equal(ruler.add(new Vector3(0.3, 0.4, -1)), "500 mm");
  assert.equal(ruler.add(new Vector3(1, 1, 1)), undefined);
  ruler.clear();
  assert.equal(ruler.add(new Vector3(1, 1, 1)), undefined);
  ruler.dispose();
});

test("a length says its unit, and what it rests on", () => {
  assert.equal(distanceText(1.2345, pinhole), "1.23 m");
  assert.equal(distanceText(4.2e-5, { kind: "orthographic", pixelSize: 1e-6 }), "42 µm");
  assert.match(distanceText(2, { ...pinhole, assumed: true }), /^2 m \(camera unknown/);
  assert.match(distanceText(0.5, { kind: "relief", height: 0.25 }), /^0\.5 × the image's longer side \(no common unit is known\)$/);
});
