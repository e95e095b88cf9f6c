import assert from "node:assert/strict";
import { test } from "node:test";

import { runDepth } from "../../src/depth/run.ts";
import { resize } from "../../src/image/resize.ts";
import { arraySource } from "../helpers/arraySource.ts";
import { texture } from "../helpers/texturedStack.ts";
import { fakeSession, networkOf } from "../network/fakeSession.ts";

test("without a change of focus the images in working size are not fused, since nobody looks at the result", async () => {
  const image = texture({ width: 96, height: 64 });
  const whole = arraySource({ images: [image, image, image], focusDistances: [1, 2, 4], space: "depth" });
  const source = { ...whole, readScaled: () => Promise.resolve(resize(image, { width: 48, height: 32, filter: "linear" })) };
  const { estimate, result } = await runDepth(source, { network: networkOf(fakeSession()), align: "off", workingSide: 48 });
  assert.ok(estimate.error.every((each) => each === 1.5)); // half of the distance between the ends: nothing was measured
  assert.equal(result.allInFocus?.width, 96);
  assert.equal(Object.getOwnPropertyDescriptor(estimate, "allInFocus")?.value, undefined, "it is computed when it is read");
  assert.equal(estimate.allInFocus.width, 48);
});
