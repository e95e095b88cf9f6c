import assert from "node:assert/strict";
import { test } from "node:test";

import { describeRun } from "../../src/depth/document.ts";
import { runDepth } from "../../src/depth/run.ts";
import type { Image } from "../../src/image/image.ts";
import { resize } from "../../src/image/resize.ts";
import { arraySource } from "../helpers/arraySource.ts";
import { slantedStack } from "../helpers/texturedStack.ts";
import { fakeSession, networkOf } from "../network/fakeSession.ts";

test("what is filled in is not beyond the planes, in the summary, and in the map of any size; without filling all of it is", async () => {
  const { stack } = slantedStack({ width: 96, height: 64, planes: 4 });
  const halfPlain = stack.images.map(({ data, ...rest }): Image => ({
    ...rest,
    data: data.map((value, k) => (k % 288 < 144 ? 0.5 : value)),
  }));
  const session = fakeSession();
  session.run = ({ images }) => {
    const [, planes, , height, width] = images?.shape as [number, number, number, number, number];
    const data = new Float32Array(planes * height * width).fill(1, (planes - 1) * height * width); // everything at the last plane
    return Promise.resolve({ probability: { data, shape: [1, planes, height, width] } });
  };
  const network = networkOf(session);
  const whole = arraySource({ ...stack, images: halfPlain });
  const half = (plane: number): Promise<Image> =>
    Promise.resolve(resize(halfPlain[plane] as Image, { width: 48, height: 32, filter: "linear" }));
  for (const source of [whole, { ...whole, readScaled: half }])
    for (const fill of [true, false]) {
      const run = await runDepth(source, { network, align: "off", workingSide: 96, fill });
      const { beyond, filled = 0 } = describeRun(run, { model: "small", network, align: "off", seconds: {} });
      assert.ok(fill ? filled > 0.2 && filled < 0.6 : filled === 0, String(filled));
      assert.ok(beyond.nearer === 0 && Math.abs(beyond.farther + filled - 1) < 1e-9, `${beyond.farther} + ${filled}`);
      assert.ok(run.result.beyond?.every((side, i) => side === (run.result.filled?.[i] ? 0 : 1)));
    }
});
