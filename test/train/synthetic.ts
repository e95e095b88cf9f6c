import type { TorchEngine } from "../../src/engine/torch/torchEngine.ts";
import { createRandom } from "../../src/random.ts";
import type { BatchSource } from "../../src/train/loop.ts";

/** Stacks of noise whose contrast falls with the distance from focus: enough of a cue to learn from, and free. */
export function syntheticBatches(engine: TorchEngine, { stacks = 2, planes = 3, side = 32, different = 4 } = {}): BatchSource {
  return {
    batch(step) {
      const random = createRandom(11).split(step % different);
      const depth = Float32Array.from({ length: stacks * side * side }, (_, i) => {
        const [x, stack] = [i % side, Math.floor(i / (side * side))];
        return ((planes - 1) * (stack % 2 === 0 ? x : side - 1 - x)) / (side - 1);
      });
      const images = Float32Array.from({ length: stacks * planes * 3 * side * side }, (_, i) => {
        const pixel = i % (side * side);
        const plane = Math.floor(i / (3 * side * side)) % planes;
        const stack = Math.floor(i / (3 * side * side * planes));
        const away = Math.abs((depth[stack * side * side + pixel] as number) - plane);
        return 0.5 + (random.uniform() - 0.5) / (1 + 3 * away);
      });
      const focus = Float32Array.from({ length: stacks * planes }, (_, i) => i % planes);
      return {
        images: engine.constant(images, { shape: [stacks, planes, 3, side, side] }),
        focusDistances: engine.constant(focus, { shape: [stacks, planes] }),
        trueDepth: engine.constant(depth, { shape: [stacks, 1, side, side] }),
        valid: engine.full([stacks, 1, side, side], 1),
      };
    },
  };
}
