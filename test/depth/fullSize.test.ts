import assert from "node:assert/strict";
import { test } from "node:test";

import { createStackFusion } from "../../src/depth/allInFocus/stackFusion.ts";
import type { DepthEstimate } from "../../src/depth/estimate.ts";
import { finishDepth } from "../../src/depth/finish.ts";
import { fullSize, type FullSizeOptions } from "../../src/depth/fullSize.ts";
import { depthMap } from "../../src/image/depthMap.ts";
import type { Image, Size } from "../../src/image/image.ts";
import { encodeOutputs } from "../../src/output/outputs.ts";
import type { DepthResult } from "../../src/output/result.ts";
import { arraySource } from "../helpers/arraySource.ts";
import { assertClose } from "../helpers/close.ts";

const waves = ({ width, height }: Size): Image => ({
  ...{ width, height, channels: 1 },
  data: Float32Array.from({ length: width * height }, (_, i) => 0.5 + 0.1 * Math.sin(i)),
});

/** Depth 1 m left of the middle and 2 m right of it, measured surely between planes at 1 m and 2 m. */
function estimateOf({ width, height }: Size): DepthEstimate {
  const map = (value: number): Float32Array => new Float32Array(width * height).fill(value);
  const values = map(1).map((value, i) => (i % width < width / 2 ? value : 2));
  return {
    ...{ depth: depthMap({ width, height, values, space: "depth" }), error: map(0.01), confidence: map(0.99), spread: map(0) },
    ...{ unfounded: map(0), unrest: map(0), beyond: new Int8Array(width * height) },
    ...{ probability: { planes: 2, width, height, values: new Float32Array(2 * width * height).fill(0.5) }, invalidFocusTrend: 0 },
    allInFocus: waves({ width, height }),
  };
}

const enlarged = (estimate: DepthEstimate, files: Size, finished: FullSizeOptions["finished"]): Promise<DepthResult> =>
  fullSize(arraySource({ images: [waves(files), waves(files)], focusDistances: [1, 2], space: "depth" }), {
    ...{ estimate, finished, focusChange: true, aligned: undefined, planes: [0, 1], prefer: undefined },
    ...{ createFusion: createStackFusion, onStage: () => undefined, signal: new AbortController().signal },
  });

test("a working size that differs from the files in one side only gives maps and pictures in the files' size", async () => {
  const files = { width: 40, height: 70 };
  for (const working of [
    { width: 40, height: 71 },
    { width: 39, height: 70 },
  ]) {
    const estimate = estimateOf(working);
    for (const finished of [finishDepth(estimate), undefined]) {
      const result = await enlarged(estimate, files, finished);
      const names = ["depth", "aif", "confidence", "beyond", "index"] as const;
      for await (const { name, bytes } of encodeOutputs(result, names)) assert.ok(bytes.length > 0, name);
      assertClose(result.allInFocus?.data ?? [], waves(files).data, 1e-5);
      for (let y = 0; y < files.height; y++)
        for (const x of [5, 34]) assert.ok(Math.abs((result.depth.values[y * files.width + x] as number) - (x < 20 ? 1 : 2)) < 1e-6);
    }
  }
});

test("the plane nearest to the depth is that of the finished depth, numbered among all images, those left out included", async () => {
  const size = { width: 12, height: 8 };
  const images = [0, 1, 2].map(() => waves(size));
  const estimate = estimateOf(size); // 1 m and 2 m
  const { planeIndex } = await fullSize(arraySource({ images, focusDistances: [1, 1.4, 2], space: "depth" }), {
    ...{ estimate, finished: undefined, focusChange: true, aligned: undefined, planes: [0, 2], prefer: undefined },
    ...{ createFusion: createStackFusion, onStage: () => undefined, signal: new AbortController().signal },
  });
  assert.deepEqual([planeIndex?.[0], planeIndex?.[size.width - 1]], [0, 2]);
});
