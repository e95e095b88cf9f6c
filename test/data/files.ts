import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";
import sharp from "sharp";
import { encodeNpy } from "../../src/io/npy.ts";
import type { PfmValues } from "../../src/io/pfm.ts";
import { encodePngPixels } from "../../src/io/png.ts";
import type { Sample } from "../../src/data/dataset.ts";
import type { Space } from "../../src/image/depthMap.ts";
import { createRandom } from "../../src/random.ts";

/** A folder that goes away after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "dualfocus-data-"));
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

export function put(file: string, content: Uint8Array | string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** `value(x, y, channel)` as an 8-bit RGB file in the format of the extension. */
export async function putPicture(
  file: string,
  { width, height }: { width: number; height: number },
  value: (x: number, y: number, c: number) => number = () => 128,
): Promise<void> {
  const pixels = Uint8Array.from({ length: width * height * 3 }, (_, i) =>
    value(Math.floor(i / 3) % width, Math.floor(i / 3 / width), i % 3),
  );
  const picture = sharp(pixels, { raw: { width, height, channels: 3 } });
  const bytes = await (
    file.endsWith(".jpg") ? picture.jpeg({ quality: 100 }) : file.endsWith(".tif") ? picture.tiff() : picture.png()
  ).toBuffer();
  put(file, bytes);
}

/** 16-bit grey millimetres. */
export function putDepthMm(file: string, { width, height }: { width: number; height: number }, mm: (x: number, y: number) => number): void {
  const data = Uint16Array.from({ length: width * height }, (_, i) => mm(i % width, Math.floor(i / width)));
  put(file, encodePngPixels({ width, height, channels: 1, data }));
}

export function putNpy(file: string, { width, height }: { width: number; height: number }, at: (x: number, y: number) => number): void {
  const data = Float32Array.from({ length: width * height }, (_, i) => at(i % width, Math.floor(i / width)));
  put(file, encodeNpy({ shape: [height, width], data }));
}

/** A sample in memory: random pictures, focus 1, 2, 3 …, depth within. */
export function randomSample({
  width = 12,
  height = 10,
  planes = 4,
  seed = 1,
  space = "depth",
  name = "random",
}: { width?: number; height?: number; planes?: number; seed?: number; space?: Space; name?: string } = {}): Sample {
  const random = createRandom(seed);
  const images = Array.from({ length: planes }, () => ({
    width,
    height,
    channels: 3 as const,
    data: Float32Array.from({ length: width * height * 3 }, () => random.uniform()),
  }));
  const focusDistances = Array.from({ length: planes }, (_, n) => (space === "disparity" ? planes - n : n + 1));
  const values = Float32Array.from({ length: width * height }, () => 1 + random.uniform() * (planes - 1));
  const valid = Uint8Array.from(values, () => (random.uniform() < 0.9 ? 1 : 0));
  return { name, stack: { images, focusDistances, space }, trueDepth: { width, height, values, valid, space } };
}

/** Writes little-endian PFM. */
export function encodePfm({ width, height, channels, data }: PfmValues): Uint8Array {
  const row = width * channels;
  if (data.length !== row * height)
    throw new RangeError(`encodePfm: ${width}×${height}×${channels} needs ${row * height} values, got ${data.length}`);
  const head = new TextEncoder().encode(`P${channels === 3 ? "F" : "f"}\n${width} ${height}\n-1.0\n`);
  const bytes = new Uint8Array(head.length + 4 * data.length);
  bytes.set(head);
  const view = new DataView(bytes.buffer, head.length);
  for (let y = 0; y < height; y++)
    for (let i = 0; i < row; i++) view.setFloat32(4 * (y * row + i), data[(height - 1 - y) * row + i] as number, true);
  return bytes;
}
