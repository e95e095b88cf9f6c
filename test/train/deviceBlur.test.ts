import { test } from "node:test";
import { scope } from "../../src/engine/scope.ts";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { gatherBlur } from "../../src/optics/synthesize/gather.ts";
import { createRandom } from "../../src/random.ts";
import { gatherBlurs } from "../../src/train/deviceBlur.ts";
import { assertClose } from "../helpers/close.ts";

const engine = createTorchEngine({ threads: 1 });

/** [3, H, W] of interleaved pixels. */
const planar = (data: Float32Array, pixels: number): number[] =>
  Array.from({ length: 3 * pixels }, (_, i) => data[3 * (i % pixels) + Math.floor(i / pixels)] as number);

for (const { window, exponent } of [
  { window: 7, exponent: 2 },
  { window: 15, exponent: 9 },
])
  test(`a window of ${window} with exponent ${exponent} blurs on the device as the plain version does`, () => {
    const random = createRandom(3);
    const [width, height, planes] = [19, 17, 2];
    const pixels = width * height;
    const data = Float32Array.from({ length: 3 * pixels }, () => random.uniform());
    const radii = Float32Array.from({ length: planes * pixels }, () => 6 * random.uniform()); // some below 1: copied
    const blurred = scope(() => {
      const picture = engine.constant(planar(data, pixels), { shape: [1, 3, height, width] });
      const blurRadius = engine.constant(radii, { shape: [1, planes, height, width] });
      return engine.read(gatherBlurs(engine, { picture, blurRadius, exponent: engine.full([1], exponent) }, { window }));
    });
    const expected = [0, 1].flatMap((plane) => {
      const blurRadius = radii.slice(plane * pixels, (plane + 1) * pixels);
      return planar(gatherBlur({ image: { width, height, channels: 3, data }, blurRadius }, { window, exponent }).data, pixels);
    });
    assertClose(blurred as Float32Array, expected, 1e-5);
  });
