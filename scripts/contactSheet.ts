// Renders docs/scenes.png: random scenes, each as first plane, last plane, all-in-focus image and depth.
// node --import tsx scripts/contactSheet.ts [--textures DIR] [--seed S] [-o FILE]
import { parseArgs } from "node:util";
import sharp from "sharp";
import type { DepthMap } from "../src/image/depthMap.ts";
import type { Image } from "../src/image/image.ts";
import { renderScene } from "../src/optics/render/render.ts";
import { randomScene } from "../src/optics/scene/random.ts";
import { loadTextures } from "../src/train/textures.ts";

const { values } = parseArgs({
  options: {
    textures: { type: "string" },
    seed: { type: "string", default: "100" },
    size: { type: "string", default: "112" },
    samples: { type: "string", default: "48" },
    output: { type: "string", short: "o", default: "docs/scenes.png" },
  },
});
const side = Number(values.size);
const [columns, rows, panels, gap] = [3, 8, 4, 2];
const cell = panels * (side + gap) + 2 * gap;
const width = columns * cell;
const height = rows * (side + 2 * gap);
const sheet = new Uint8Array(3 * width * height).fill(255);

function paste(picture: Image, left: number, top: number): void {
  for (let y = 0; y < side; y++)
    for (let x = 0; x < side; x++)
      for (let c = 0; c < 3; c++)
        sheet[((top + y) * width + left + x) * 3 + c] = Math.round(255 * (picture.data[(y * side + x) * 3 + c] as number));
}

/** Near is yellow, far is blue, linear in dioptres. */
function coloured({ values: depth, valid }: DepthMap): Image {
  const dioptres = Array.from(depth, (value) => 1 / value).filter((_, i) => valid[i]);
  const [low, high] = [Math.min(...dioptres), Math.max(...dioptres)];
  const data = new Float32Array(3 * depth.length);
  depth.forEach((value, i) => {
    const t = valid[i] ? (1 / value - low) / (high - low || 1) : 0;
    data.set([Math.min(1, 1.7 * t), 0.08 + 0.85 * t * t, 0.45 * (1 - t) * (0.4 + 1.6 * t) + 0.15], 3 * i);
  });
  return { width: side, height: side, channels: 3, data };
}

const textures = await loadTextures(values.textures);
const indices = Array.from({ length: textures.count }, (_, i) => i);
for (let n = 0; n < columns * rows; n++) {
  const scene = randomScene(Number(values.seed) + n, { width: side, height: side, planes: 5, textures: indices });
  const { stack, depth, allInFocus } = renderScene(scene, { textures, samples: Number(values.samples) });
  const [left, top] = [(n % columns) * cell, Math.floor(n / columns) * (side + 2 * gap)];
  const shown = [stack.images[0] as Image, stack.images.at(-1) as Image, allInFocus, coloured(depth)];
  shown.forEach((picture, k) => {
    paste(picture, left + k * (side + gap), top);
  });
  process.stderr.write(`scene ${n + 1} of ${columns * rows}\n`);
}
await sharp(sheet, { raw: { width, height, channels: 3 } })
  .png({ palette: true, effort: 10 })
  .toFile(values.output);
