import assert from "node:assert/strict";
import { test } from "node:test";
import { naturalOrder, orderPlanes, parseStackJson, planeFiles, type StackPlane, type Unit } from "../../src/stack/stackFormat.ts";
import { assertClose } from "../helpers/close.ts";

const planes = (...values: number[]): StackPlane[] => values.map((value, n) => ({ file: `${n}.jpg`, value, source: "stack.json" }));

test("numbers in names count as numbers", () => {
  assert.deepEqual(naturalOrder(["plane_10.png", "plane_2.png", "Plane_1.png"]), ["Plane_1.png", "plane_2.png", "plane_10.png"]);
});

test("every unit becomes metres near to far, whatever the order of the files", () => {
  const cases: [Unit, number[], number[]][] = [
    ["m", [3, 1, 2], [1, 2, 3]],
    ["mm", [300, 100, 200], [0.1, 0.2, 0.3]],
    ["um", [5, 7, 6], [5e-6, 6e-6, 7e-6]],
    ["dpt", [0.5, 4, 2], [0.25, 0.5, 2]],
  ];
  for (const [unit, focus, metres] of cases) {
    const ordered = orderPlanes(planes(...focus), unit);
    assert.equal(ordered.space, "depth");
    assertClose(ordered.focusDistances, metres, 1e-12);
    assert.equal(ordered.planes[0]?.value, unit === "dpt" ? 4 : Math.min(...focus));
  }
});

test("disparity falls and the plane index rises from near to far; a plane at infinity keeps the stack in dioptres", () => {
  const falling = orderPlanes(planes(-1, 2), "disparity");
  assert.deepEqual(
    [falling.space, falling.focusDistances, falling.planes.map(({ file }) => file)],
    ["disparity", [2, -1], ["1.jpg", "0.jpg"]],
  );
  assert.deepEqual(orderPlanes(planes(1, 0), "index").focusDistances, [0, 1]);
  const { space, unit, focusDistances } = orderPlanes(planes(0, 2), "dpt");
  assert.deepEqual({ space, unit, focusDistances }, { space: "disparity", unit: "dpt", focusDistances: [2, 0] });
});

test("positions with an arbitrary zero count from the first plane, and may be negative but not equal", () => {
  const { space, focusDistances, planes: ordered } = orderPlanes(planes(3, -1, 0), "mm", { arbitraryZero: true });
  assert.deepEqual([space, ordered.map(({ value }) => value)], ["position", [-1, 0, 3]]);
  assertClose(focusDistances, [0, 0.001, 0.004], 1e-12);
  assert.throws(() => orderPlanes(planes(-1, -1), "mm", { arbitraryZero: true }), /have the same focus distance, -1 mm/);
});

test("results beside the images are not taken for planes", () => {
  assert.deepEqual(planeFiles(["plane_2.png", "plane_10.png", "aif.png", "depth.png"]), ["plane_2.png", "plane_10.png"]);
  assert.deepEqual(planeFiles(["IMG_1.JPG", "error.tif", "beyond.png", "filled.png", "aif.jpg", "depth16.png"]), ["IMG_1.JPG"]);
  assert.deepEqual(planeFiles(["IMG_2.JPG", "IMG_1.JPG", "depth.png", "notes.txt", "color.png"]), ["IMG_1.JPG", "IMG_2.JPG"]);
});

test("what is wrong is named", () => {
  assert.throws(() => orderPlanes(planes(1, 1), "m"), /0\.jpg and 1\.jpg have the same focus distance, 1 m/);
  assert.throws(() => orderPlanes(planes(-1, 2), "mm"), /0\.jpg: -1 mm is not a focus distance/);
  assert.throws(() => parseStackJson('{ "unit": "feet", "focus": [1, 2] }', "stack.json"), /^FormatError: stack\.json: .*unit/);
  assert.throws(() => parseStackJson("{", "stack.json"), /^FormatError: stack\.json: .*expected \{ "unit"/);
});
