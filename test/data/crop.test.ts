import assert from "node:assert/strict";
import { test } from "node:test";
import { padSample } from "../../src/data/ddff12.ts";
import { cropDepth, cropImage } from "../../src/image/crop.ts";
import type { Image } from "../../src/image/image.ts";
import { randomSample } from "./files.ts";

test("cropping what was padded gives the sample back; the padding mirrors and is invalid", () => {
  const sample = randomSample({ width: 5, height: 4 });
  const padded = padSample(sample, { width: 8, height: 6 });
  const window = { left: 0, top: 0, width: 5, height: 4 };
  assert.deepEqual(
    padded.stack.images.map((image) => cropImage(image, window)),
    sample.stack.images,
  );
  assert.deepEqual(cropDepth(padded.trueDepth, window), sample.trueDepth);
  const { data } = padded.stack.images[0] as Image;
  assert.equal(data[5 * 3], data[3 * 3]); // column 5 is column 3 again
  assert.equal(padded.trueDepth.valid[5], 0);
});
