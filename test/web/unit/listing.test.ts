import assert from "node:assert/strict";
import { test } from "node:test";

import { nameOf, pickedFiles } from "../../../web/src/droppedFiles.ts";
import { listUserFiles } from "../../../web/src/worker/listing.ts";
import type { UserFile } from "../../../web/src/worker/protocol.ts";

const given = (...paths: string[]): UserFile[] => paths.map((path) => ({ path, file: new File([""], path) }));

test("pictures dropped one by one are listed in natural order", async () => {
  const { files, notes } = await listUserFiles("Stack", given("p10.png", "p2.png", "notes.pdf"));
  assert.deepEqual(files, ["p2.png", "p10.png"]);
  assert.deepEqual(notes, ["not part of the stack and ignored: notes.pdf"]);
});

test("ignored files are named, three at most; the list of distances is not one of them", async () => {
  const folder = given("d/a.png", "d/b.png", "d/1.pdf", "d/2.pdf", "d/3.pdf", "d/old/c.png", "d/distances.csv");
  const { notes } = await listUserFiles("d", folder);
  assert.deepEqual(notes, ["not part of the stack and ignored: d/1.pdf, d/2.pdf, d/3.pdf and 1 more"]);
});

test("a folder's own list of distances and its results are told from its pictures", async () => {
  const listing = await listUserFiles("desk", given("desk/a.png", "desk/b.png", "desk/depth.png", "desk/distances.csv"));
  assert.deepEqual(listing.files, ["desk/a.png", "desk/b.png"]);
  assert.equal(listing.distanceFile, "desk/distances.csv");
});

test("stack.json rules: it names the pictures", async () => {
  const json = new File([JSON.stringify({ unit: "m", focus: [1, 2], files: ["b.png", "a.png"] })], "stack.json");
  const listing = await listUserFiles("desk", [
    ...given("desk/a.png", "desk/b.png", "desk/c.png"),
    { path: "desk/stack.json", file: json },
  ]);
  assert.deepEqual(listing.files, ["desk/b.png", "desk/a.png"]);
  assert.deepEqual(listing.json?.content.focus, [1, 2]);
});

test("a stack.json that names what was not dropped says which", async () => {
  const json = new File([JSON.stringify({ unit: "m", focus: [1, 2], files: ["a.png", "z.png"] })], "stack.json");
  await assert.rejects(listUserFiles("desk", [...given("a.png"), { path: "stack.json", file: json }]), /stack\.json names z\.png/);
});

test("one TIFF may hold the whole stack", async () => {
  assert.deepEqual((await listUserFiles("cells", given("cells.ome.tif"))).files, ["cells.ome.tif"]);
});

test("the folder that was dropped counts, not the folders in it; two stacks at once are refused", async () => {
  const { files } = await listUserFiles("desk", given("desk/a.png", "desk/b.png", "desk/old/c.png", "desk/old/d.png"));
  assert.deepEqual(files, ["desk/a.png", "desk/b.png"]);
  await assert.rejects(
    listUserFiles("all", given("all/x/a.png", "all/x/b.png", "all/y/a.png", "all/y/b.png")),
    /2 folders: all\/x, all\/y/,
  );
});

test("nothing to work on is said in words", async () => {
  await assert.rejects(listUserFiles("none", []), /no files/);
  await assert.rejects(listUserFiles("docs", given("docs/a.pdf", "docs/b.pdf")), /docs: no images/);
});

test("hidden files are not seen, and a stack is named after its folder", () => {
  const files = pickedFiles([new File([""], ".DS_Store"), new File([""], "a.png")]);
  assert.deepEqual(
    files.map(({ path }) => path),
    ["a.png"],
  );
  assert.equal(nameOf(given("desk/a.png", "desk/b.png")), "desk");
  assert.equal(nameOf(given("cells.ome.tif")), "cells.ome");
  assert.equal(nameOf(given("IMG_2047.jpg", "IMG_2041.jpg")), "IMG_2041–2047");
  assert.equal(nameOf(given("IMG_9.jpg", "IMG_10.jpg")), "IMG_9–10");
  assert.equal(nameOf(given("near.jpg", "far.jpg")), "far–near");
});
