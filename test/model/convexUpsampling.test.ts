import assert from "node:assert/strict";
import { test } from "node:test";

import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import type { Tensor } from "../../src/engine/engine.ts";
import { ConvexUpsampling } from "../../src/model/convexUpsampling.ts";
import { createParameters, type ParameterTree } from "../../src/nn/module.ts";
import { createRandom } from "../../src/random.ts";
import { assertClose } from "../helpers/close.ts";
import { randomImages } from "../helpers/network.ts";

const engine = createTorchEngine({ threads: 1 });
const read = (tensor: Tensor): Float32Array => engine.read(tensor) as Float32Array;
const [N, h, w, C] = [3, 4, 6, 5];

function make(): { readonly upsampling: ConvexUpsampling; readonly tree: ParameterTree } {
  const tree = createParameters(engine, { random: createRandom(3) });
  return { upsampling: new ConvexUpsampling(tree.source, { in: C, width: 8 }), tree };
}

function inputs(): Record<"logits" | "features" | "images", Tensor> {
  const random = createRandom(8);
  const normal = (shape: readonly number[]): Tensor =>
    engine.constant(
      Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => random.normal()),
      { shape },
    );
  return {
    logits: normal([1, 1, N, h, w]),
    features: normal([1, C, N, h, w]),
    images: engine.constant(randomImages({ B: 1, N, H: 4 * h, W: 4 * w }), { shape: [1, N, 3, 4 * h, 4 * w] }),
  };
}

test("it starts as bilinear upsampling, to a hundredth of what the logits span", () => {
  scope(() => {
    const { logits, ...rest } = inputs();
    const upsampled = make().upsampling.forward({ logits, ...rest });
    assert.deepEqual(upsampled.shape, [1, 1, N, 4 * h, 4 * w]);
    assertClose(read(upsampled.squeeze(1)), read(logits.squeeze(1).resize2d([4 * h, 4 * w], "bilinear")), 0.04);
  });
});

test("whatever it has learned, each logit lies within the 3×3 around it, and constant ones stay", () => {
  scope(() => {
    const { upsampling, tree } = make();
    const random = createRandom(9);
    const weigh = tree.parameters.get("weigh.weight") as Tensor;
    engine.write(
      weigh,
      Float32Array.from({ length: 144 * 8 }, () => 3 * random.normal()),
    );
    const { logits, ...rest } = inputs();
    const upsampled = read(upsampling.forward({ logits, ...rest }));
    const bilinear = read(logits.squeeze(1).resize2d([4 * h, 4 * w], "bilinear"));
    assert.ok(
      upsampled.some((value, i) => Math.abs(value - (bilinear[i] as number)) > 0.3),
      "no longer bilinear",
    );
    const given = read(logits);
    upsampled.forEach((value, i) => {
      const [x, y, n] = [Math.floor((i % (4 * w)) / 4), Math.floor(Math.floor(i / (4 * w)) / 4) % h, Math.floor(i / (16 * w * h))];
      const around = [-1, 0, 1].flatMap((dy) =>
        [-1, 0, 1].map((dx) => {
          const [row, column] = [Math.min(h - 1, Math.max(0, y + dy)), Math.min(w - 1, Math.max(0, x + dx))];
          return given[(n * h + row) * w + column] as number;
        }),
      );
      assert.ok(value > Math.min(...around) - 1e-5 && value < Math.max(...around) + 1e-5, `${value} at ${x}, ${y}, plane ${n}`);
    });
    const flat = read(upsampling.forward({ ...rest, logits: engine.full([1, 1, N, h, w], 2) }));
    assertClose(flat, new Float32Array(flat.length).fill(2), 1e-5);
  });
});

test("the weights see the picture: another one moves the logits, in its own cells and their neighbours only", () => {
  scope(() => {
    const { upsampling, tree } = make();
    const random = createRandom(9);
    engine.write(
      tree.parameters.get("weigh.weight") as ReturnType<typeof engine.constant>,
      Float32Array.from({ length: 144 * 8 }, () => random.normal()),
    );
    const { images, ...rest } = inputs();
    const changed = new Float32Array(read(images));
    changed.forEach((_, i) => {
      if (i % (4 * w) < 4) changed[i] = 0; // the first column of cells
    });
    const [before, after] = [images, engine.constant(changed, { shape: images.shape as number[] })].map((given) =>
      read(upsampling.forward({ ...rest, images: given })),
    ) as [Float32Array, Float32Array];
    const moved = (column: number): boolean =>
      before.some((value, i) => i % (4 * w) === column && Math.abs(value - (after[i] as number)) > 1e-4);
    assert.deepEqual([0, 3, 4, 7].map(moved), [true, true, true, true]);
    assert.deepEqual([8, 12, 23].map(moved), [false, false, false]);
  });
});
