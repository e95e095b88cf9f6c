import { test } from "node:test";
import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import type { DepthMap } from "../../src/image/depthMap.ts";
import type { Image } from "../../src/image/image.ts";
import { presetCamera } from "../../src/optics/synthesize/cameras.ts";
import { synthesize } from "../../src/optics/synthesize/synthesize.ts";
import { createRandom } from "../../src/random.ts";
import { gathered } from "../../src/train/gatheredStacks.ts";
import { assertClose } from "../helpers/close.ts";

const engine = createTorchEngine({ threads: 1 });
const [side, planes] = [24, 5];
const pixels = side * side;

test("through the protocol's lens a scene is blurred as NYU's stacks are, whatever its own unit", () => {
  const random = createRandom(8);
  const metres = Float32Array.from({ length: pixels }, (_, i) => 1.2 + 4 * ((i % side) / (side - 1)) ** 2);
  const data = Float32Array.from({ length: 3 * pixels }, () => random.uniform());
  const image: Image = { width: side, height: side, channels: 3, data };
  const depth: DepthMap = { width: side, height: side, values: metres, valid: new Uint8Array(pixels).fill(1), space: "depth" };
  const { stack } = synthesize({ image, depth }, { camera: presetCamera("nyu", image), focus: { kind: "linear", planes } });

  const [units, batch] = scope(() => {
    const pictures = engine.constant(planar(data), { shape: [1, 3, side, side] });
    const scene = engine.constant(
      metres.map((value) => value / 10), // as if it were modelled at a tenth of its size
      { shape: [1, side, side] },
    );
    const made = gathered(engine, { pictures, depth: scene, planes, random: [random], kind: "gaussian", nearest: [1.2, 1.2] });
    return [engine.read(made.focusDistances) as Float32Array, engine.read(made.images.cast("f32")) as Float32Array];
  });
  assertClose(
    units.map((distance) => 10 * distance),
    stack.focusDistances,
    1e-6,
  );
  const expected = stack.images.flatMap((plane) => planar(plane.data)).map((value) => Math.round(255 * value));
  assertClose(batch, expected, 1 / 254); // bytes, which may be rounded either way
});

/** [3, H, W] of interleaved pixels. */
const planar = (data: ArrayLike<number>): number[] =>
  Array.from({ length: 3 * pixels }, (_, i) => data[3 * (i % pixels) + Math.floor(i / pixels)] as number);
