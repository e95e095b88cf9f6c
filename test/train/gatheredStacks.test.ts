import { test } from "node:test";
import { createTorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { createRandom } from "../../src/random.ts";
import { sensorPictures } from "../../src/train/gatheredStacks.ts";
import { assertClose } from "../helpers/close.ts";

const engine = createTorchEngine({ threads: 1 });
const gather = { gaussian: 1, powerExponential: 0, photos: 1, grain: 0, softness: 0 };

const OWN = 8;
/** Two textures of four channels, of which the second is used; no two pixels of it are alike. */
const byteAt = (texture: number, { x, y, c }: { x: number; y: number; c: number }): number =>
  texture === 0 ? 255 : ((OWN * y + x) * 3 + c) % 251;
const bytes = Uint8Array.from({ length: 2 * OWN * OWN * 4 }, (_, i) =>
  byteAt(Math.floor(i / (OWN * OWN * 4)), { x: Math.floor(i / 4) % OWN, y: Math.floor(i / (4 * OWN)) % OWN, c: i % 4 }),
);
const textures = engine.constant(bytes, { shape: [2, OWN, OWN, 4], dtype: "u8" });

/** The photo of a stack, [3, side, side]. */
function photoOf(side: number): Float32Array {
  const rendered = engine.constant(new Uint8Array(3 * side * side), { shape: [1, 3, side, side], dtype: "u8" });
  return engine.read(sensorPictures(engine, { rendered, textures, chosen: [1], random: [createRandom(3)], gather })) as Float32Array;
}

test("a photo of half the side is mirrored on both axes, one of the same side stays as it is", () => {
  for (const side of [OWN, 2 * OWN]) {
    const mirrored = (at: number): number => Math.min(at, 2 * OWN - 1 - at);
    const expected = Array.from({ length: 3 * side * side }, (_, i) => {
      const [x, y] = [i % side, Math.floor(i / side) % side];
      return byteAt(1, { x: mirrored(x), y: mirrored(y), c: Math.floor(i / (side * side)) }) / 255;
    });
    assertClose(photoOf(side), expected, 1e-6);
  }
});
