import assert from "node:assert/strict";
import { test } from "node:test";

import { packImages, unpackImages } from "../../../web/src/worker/packedImages.ts";
import { packed, unpacked } from "../../../web/src/storage/pack.ts";

test("what is stored comes back as it was: numbers, texts, lists, and arrays of every kind", async () => {
  const value = {
    name: "desk",
    planes: [
      { value: 0.5, file: "a.png" },
      { value: Infinity, file: "b.png" },
    ],
    depth: { values: Float32Array.of(1, NaN, -3), valid: Uint8Array.of(1, 0, 1) },
    beyond: Int8Array.of(-1, 0, 1),
    planeIndex: Uint16Array.of(0, 500, 65535),
    missing: undefined,
  };
  const stored = packed(value) as { depth: { values: { bytes: Blob } } };
  assert.ok(stored.depth.values.bytes instanceof Blob);
  assert.equal(stored.depth.values.bytes.size, 12);
  assert.deepEqual(await unpacked(stored), value);
});

test("a part of a larger array is stored alone", async () => {
  const part = Float32Array.of(1, 2, 3, 4).subarray(1, 3);
  assert.deepEqual(await unpacked(packed(part)), Float32Array.of(2, 3));
});

test("images are stored with eight bits per sample", () => {
  const image = { width: 2, height: 1, channels: 1 as const, data: Float32Array.of(0, 0.5) };
  const [back] = unpackImages(packImages([image]));
  assert.deepEqual([...(back?.data ?? [])], [...Float32Array.of(0, 128 / 255)]);
});
