import assert from "node:assert/strict";
import { rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { listDataset } from "../../src/data/dataset.ts";
import { markOf } from "../../src/data/mark.ts";
import { openDataset } from "../../src/data/open.ts";
import { put, putDepthMm, putPicture, randomSample, temporaryFolder } from "./files.ts";

const root = temporaryFolder();

test("a mark stays while nothing changes, and follows the item, a file's size and its time of change", async () => {
  const [file, other] = [join(root, "one", "a.bin"), join(root, "one", "b.bin")];
  put(file, "abc");
  const first = await markOf("a", [file]);
  assert.match(first, /^[0-9a-f]{16}$/);
  assert.equal(await markOf("a", [file]), first);
  assert.notEqual(await markOf("b", [file]), first);
  utimesSync(file, 1, 2);
  const earlier = await markOf("a", [file]);
  assert.notEqual(earlier, first);
  put(file, "abcd");
  utimesSync(file, 1, 2);
  assert.notEqual(await markOf("a", [file]), earlier);
  const folder = await markOf("a", [join(root, "one")]);
  put(other, "");
  assert.notEqual(await markOf("a", [join(root, "one")]), folder);
  rmSync(other);
  assert.equal(await markOf("a", [join(root, "one")]), folder);
  assert.match(await markOf("a", [other]), /^[0-9a-f]{16}$/); // missing: told by the reader, with the layout
});

test("a set marks its samples by what they are, not by where they stand", async () => {
  const about = { name: "memory", split: "all", protocol: "", licence: "" } as const;
  const set = (...items: string[]): ReturnType<typeof listDataset> => listDataset(about, items, () => Promise.resolve(randomSample()));
  assert.equal(await set("a", "c").mark(1), await set("a", "b", "c").mark(2));
  assert.notEqual(await set("a", "c").mark(1), await set("a", "c").mark(0));
  await assert.rejects(() => set("a").mark(1), /there is no sample 1/);
});

test("nyu pairs are marked by picture and depth, each by itself", async () => {
  const [folder, size] = [join(root, "nyu"), { width: 10, height: 10 }];
  for (const name of ["a", "b"]) {
    await putPicture(join(folder, "rgb", `${name}.png`), size);
    putDepthMm(join(folder, "depth_mm", `${name}.png`), size, (x) => 1000 + x);
  }
  const marks = async (): Promise<string[]> => {
    const set = await openDataset("nyu", folder);
    return [await set.mark(0), await set.mark(1)];
  };
  const before = await marks();
  utimesSync(join(folder, "depth_mm", "b.png"), 1, 2);
  const after = await marks();
  assert.deepEqual([after[0] === before[0], after[1] === before[1]], [true, false]);
});
