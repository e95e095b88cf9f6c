import assert from "node:assert/strict";
import { basename, join } from "node:path";
import { test } from "node:test";
import { describeStack, naturalOrder, readStack } from "../../src/stack/stackFolder.ts";
import type { Unit } from "../../src/stack/stackFolder.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { assertClose } from "../helpers/close.ts";

const root = temporaryFolder();
const grey = { width: 1, height: 1, channels: 1, data: Float32Array.of(0.5) } as const;

function stackFolder(name: string, { files, json }: { files: readonly string[]; json?: object | string }): string {
  const folder = join(root, name);
  for (const file of files) put(join(folder, file), "");
  if (json !== undefined) put(join(folder, "stack.json"), typeof json === "string" ? json : JSON.stringify(json));
  return folder;
}

test("numbers in names count as numbers", () => {
  assert.deepEqual(naturalOrder(["plane_10.png", "plane_2.png", "Plane_1.png"]), ["Plane_1.png", "plane_2.png", "plane_10.png"]);
});

test("every unit becomes metres near to far, whatever the order of the files", async () => {
  const cases: [Unit, number[], number[]][] = [
    ["m", [3, 1, 2], [1, 2, 3]],
    ["mm", [300, 100, 200], [0.1, 0.2, 0.3]],
    ["um", [5, 7, 6], [5e-6, 6e-6, 7e-6]],
    ["dpt", [0.5, 4, 2], [0.25, 0.5, 2]],
  ];
  for (const [unit, focus, metres] of cases) {
    const folder = stackFolder(unit, { files: ["a.jpg", "b.jpg", "c.jpg"], json: { unit, focus } });
    const { focusDistances, space, planes } = await describeStack(folder);
    assert.equal(space, "depth");
    assertClose(focusDistances, metres, 1e-12);
    assert.equal(planes[0]?.value, unit === "dpt" ? 4 : Math.min(...focus));
    assert.equal(planes[0].source, "stack.json");
  }
});

test("disparity falls and plane numbers rise from near to far", async () => {
  const files = ["p1.png", "p2.png"];
  const falling = await describeStack(stackFolder("disparity", { files, json: { unit: "disparity", focus: [-1, 2] } }));
  assert.deepEqual(
    [falling.space, falling.focusDistances, falling.planes.map(({ file }) => basename(file))],
    ["disparity", [2, -1], ["p2.png", "p1.png"]],
  );
  const unknown = await describeStack(stackFolder("unknown", { files }));
  assert.deepEqual([unknown.space, unknown.unit, unknown.focusDistances], ["index", "index", [0, 1]]);
});

test("a plane at infinity keeps the stack in dioptres", async () => {
  const folder = stackFolder("infinity", { files: ["a.jpg", "b.jpg"], json: { unit: "dpt", focus: [0, 2] } });
  const { space, unit, focusDistances } = await describeStack(folder);
  assert.deepEqual({ space, unit, focusDistances }, { space: "disparity", unit: "dpt", focusDistances: [2, 0] });
});

test("results lying beside the pictures are not taken for planes", async () => {
  const folder = stackFolder("mixed", { files: ["plane_2.png", "plane_10.png", "aif.png", "depth.png"] });
  assert.deepEqual(
    (await describeStack(folder)).planes.map(({ file }) => basename(file)),
    ["plane_2.png", "plane_10.png"],
  );
  const photos = stackFolder("photos", { files: ["IMG_2.JPG", "IMG_1.JPG", "depth.png", "notes.txt", "color.png"] });
  assert.deepEqual(
    (await describeStack(photos)).planes.map(({ file }) => basename(file)),
    ["IMG_1.JPG", "IMG_2.JPG"],
  );
});

test("distances given by the caller win over stack.json", async () => {
  const folder = stackFolder("given", { files: ["a.jpg", "b.jpg"], json: { unit: "m", focus: [1, 2] } });
  const { focusDistances, planes } = await describeStack(folder, { distances: [50, 20], unit: "mm" });
  assertClose(focusDistances, [0.02, 0.05], 1e-12);
  assert.equal(planes[0]?.source, "argument");
});

test("the pictures are read in the order of the planes and the camera is kept", async () => {
  const camera = { focalLength: 0.05, fNumber: 2, pixelPitch: 4e-6 };
  const folder = stackFolder("camera", {
    files: ["x.jpg", "y.jpg"],
    json: { unit: "m", focus: [1, 2], files: ["y.jpg", "x.jpg"], camera },
  });
  const description = await describeStack(folder);
  const read: string[] = [];
  const stack = await readStack(description, (file) => {
    read.push(basename(file));
    return Promise.resolve(grey);
  });
  assert.deepEqual([read, stack.focusDistances, description.camera], [["y.jpg", "x.jpg"], [1, 2], camera]);
});

test("what is wrong is named", async () => {
  const files = ["a.jpg", "b.jpg"];
  const rejects = async (name: string, json: object | string, pattern: RegExp): Promise<void> =>
    assert.rejects(describeStack(stackFolder(name, { files, json })), pattern);
  await rejects("twins", { unit: "m", focus: [1, 1] }, /a\.jpg and b\.jpg have the same focus distance, 1 m/);
  await rejects("count", { unit: "m", focus: [1, 2, 3] }, /2 pictures but 3 focus distances/);
  await rejects("unit", { unit: "feet", focus: [1, 2] }, /stack\.json.*unit/);
  await rejects("syntax", "{", /stack\.json.*expected \{ "unit"/);
  await rejects("absent", { unit: "m", focus: [1], files: ["c.jpg"] }, /names c\.jpg, which is not in the folder/);
  await rejects("negative", { unit: "mm", focus: [-1, 2] }, /a\.jpg: -1 mm is not a focus distance/);
  await assert.rejects(describeStack(join(root, "nowhere")), /nowhere: not a readable folder/);
  await assert.rejects(describeStack(stackFolder("empty", { files: ["notes.txt"] })), /empty: no pictures/);
});
