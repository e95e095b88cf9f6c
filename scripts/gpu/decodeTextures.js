// decodeTextures.js OUT.bin DIR…: the JPEG images of the folders as raw RGB, 256 × 256 × 3 bytes each, in the order of their names.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decode } from "jpeg-js";

const SIDE = 256;
const [, , output, ...folders] = process.argv;
const files = folders
  .flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".jpg"))
      .map((name) => join(folder, name)),
  )
  .sort();
const all = new Uint8Array(files.length * SIDE * SIDE * 3);
files.forEach((file, i) => {
  const { width, height, data } = decode(readFileSync(file), { useTArray: true, formatAsRGBA: false });
  if (width !== SIDE || height !== SIDE) throw new Error(`${file}: is ${width} × ${height}, not ${SIDE} × ${SIDE}`);
  all.set(data, i * SIDE * SIDE * 3);
});
writeFileSync(output, all);
console.error(`${output}: ${files.length} textures`);
