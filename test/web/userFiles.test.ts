import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";

import { image, type Image } from "../../src/image/image.ts";
import { encodeGif } from "../../src/io/gif.ts";
import { encodePng } from "../../src/io/png.ts";
import { encodeTiff } from "../../src/io/tiff.ts";
import { diskFiles } from "../../src/stack/node/diskFiles.ts";
import type { ImageInfo, ReadOptions } from "../../src/stack/stackFiles.ts";
import { withPage } from "../helpers/browser.ts";
import { dngFile } from "../io/dngFile.ts";
import { ramp10, withProperty } from "../io/heifFiles.ts";

const [width, height] = [48, 32];

/** Smooth, so that JPEG keeps it, and different in every corner, so that a wrong turn shows. */
const scene: Image = image({
  width,
  height,
  channels: 3,
  data: Float32Array.from({ length: width * height * 3 }, (_, i) => {
    const [x, y] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width)];
    return [0.1 + (0.8 * x) / width, 0.1 + (0.8 * y) / height, 0.5 + 0.3 * Math.sin((x * y) / 200)][i % 3] as number;
  }),
});

async function pictures(): Promise<Record<string, Uint8Array>> {
  const png = encodePng(scene);
  const grey = { ...scene, channels: 1 as const, data: scene.data.filter((_, i) => i % 3 === 0) };
  const turned = (orientation: number): Promise<Uint8Array> => sharp(png).withMetadata({ orientation }).jpeg({ quality: 95 }).toBuffer();
  return {
    "upright.jpg": await turned(1),
    "mirrored.jpg": await turned(2),
    "left.jpg": await turned(6),
    "right.jpg": await turned(8),
    "grey.jpg": await sharp(png).toColourspace("b-w").jpeg({ quality: 95 }).toBuffer(),
    "deep.png": encodePng(grey, { depth: 16 }),
    "colour.png": png,
    "lossless.webp": await sharp(png).webp({ lossless: true }).toBuffer(),
    "phone.heic": ramp10(),
    "sideways.heic": withProperty(ramp10(), "irot", [3]),
    "camera.dng": dngFile(scene, { orientation: 8 }),
    "preview.nef": Buffer.concat([dngFile(scene, { compression: 52546, orientation: 6 }), await turned(1)]), // LibRaw does not know this compression
    "pages.tif": encodeTiff([0, 1].map(() => ({ ...grey, data: Uint16Array.from(grey.data, (value) => 65535 * value) }))),
  };
}

/** LibRaw and its worker, as the built page has them. */
const libraw = Object.fromEntries(
  ["libraw.js", "libraw.wasm", "worker.js"].map((name) => [
    `/libraw/${name}`,
    readFileSync(join(import.meta.dirname, "..", "..", "dist", "web", "libraw", name)),
  ]),
);

const script = `
  import { userFiles } from "../web/src/worker/userFiles.ts";
  const open = async (name) => userFiles([{ path: name, file: new File([await (await fetch("/" + name)).blob()], name) }]);
  const plain = ({ width, height, channels, data }) => ({ width, height, channels, data: Array.from(data) });
  globalThis.probe = async (name) => (await open(name)).probe(name);
  globalThis.read = async (name, options) => plain(await (await open(name)).readImage(name, options));
  globalThis.page = async (name, page) => plain(await (await open(name)).readTiffPage(name, page));
  globalThis.refusal = async (name, bytes) => {
    const files = userFiles([{ path: name, file: new File([new Uint8Array(bytes)], name) }]);
    const outcome = (reading) => reading.then(() => "taken", (error) => error.name + " " + error.message);
    const [probed, read] = [await outcome(files.probe(name)), await outcome(files.readImage(name, { orientation: 1 }))];
    return read === "taken" ? read : probed;
  };
`;

/** Largest and mean difference of two pictures of one size. */
function differences(here: Image, there: Image): { largest: number; mean: number } {
  assert.deepEqual([here.width, here.height, here.channels], [there.width, there.height, there.channels]);
  const each = Array.from(there.data, (value, i) => Math.abs(value - (here.data[i] as number)));
  return { largest: Math.max(...each), mean: each.reduce((sum, value) => sum + value, 0) / each.length };
}

test("a page reads the user's files as the command reads them from a disk", { timeout: 120_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "dualfocus-user-files-"));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  const files = await pictures();
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  const served = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`/${name}`, bytes]));
  await withPage({ script, files: { ...served, ...libraw } }, async (page) => {
    for (const name of Object.keys(files)) {
      const { tiff: there, ...info } = await diskFiles.probe(join(folder, name));
      const { tiff: here, ...seen } = await page.evaluate<ImageInfo>(`probe("${name}")`);
      assert.deepEqual([seen, here?.pages.length], [info, there?.pages.length], name);
    }
    const reads: readonly (readonly [string, ReadOptions, number])[] = [
      ["upright.jpg", { orientation: 1 }, 0.02],
      ["mirrored.jpg", { orientation: 2 }, 0.02],
      ["left.jpg", { orientation: 6 }, 0.02],
      ["right.jpg", { orientation: 8 }, 0.02],
      ["left.jpg", { orientation: 1 }, 0.02], // the others of the stack say so
      ["upright.jpg", { orientation: 8 }, 0.02],
      ["grey.jpg", { orientation: 1 }, 0.02],
      ["deep.png", { orientation: 1 }, 0],
      ["colour.png", { orientation: 6 }, 0],
      ["lossless.webp", { orientation: 1 }, 0],
      ["phone.heic", { orientation: 1 }, 1e-6],
      ["sideways.heic", { orientation: 6 }, 1e-6],
      ["phone.heic", { orientation: 6 }, 1e-6],
      ["camera.dng", { orientation: 8 }, 1e-6],
      ["camera.dng", { orientation: 1 }, 1e-6],
      ["preview.nef", { orientation: 6 }, 0.02],
      ["colour.png", { orientation: 1, size: { width: 24, height: 16 } }, 0.02],
    ];
    for (const [name, options, tolerance] of reads) {
      const there = await diskFiles.readImage(join(folder, name), options);
      const here = await page.evaluate<Image>(`read("${name}", ${JSON.stringify(options)})`);
      const { largest, mean } = differences(here, there);
      t.diagnostic(`${name} ${JSON.stringify(options)}: largest ${largest.toFixed(4)}, mean ${mean.toFixed(5)}`);
      assert.ok(largest <= tolerance, `${name} ${JSON.stringify(options)}: ${largest}`);
    }
    const here = await page.evaluate<Image>(`page("pages.tif", 1)`);
    assert.equal(differences(here, (await diskFiles.readTiffPage(join(folder, "pages.tif"), 1)) as unknown as Image).largest, 0);
  });
});

test("what is not an image is refused by name", { timeout: 60_000 }, async () => {
  await withPage({ script }, async (page) => {
    const refusal = (name: string, bytes: readonly number[]): Promise<string> =>
      page.evaluate<string>(`refusal("${name}", ${JSON.stringify(bytes)})`);
    assert.equal(await refusal("empty.jpg", []), "FormatError empty.jpg: the file is empty");
    const gif = encodeGif([new Uint8ClampedArray(4 * 24 * 16).fill(9)], { width: 24, height: 16, delay: 1 });
    assert.equal(await refusal("drawn.png", [...gif]), "FormatError drawn.png: GIF files are not read; convert them to PNG or JPEG");
    assert.match(await refusal("text.jpg", [72, 105]), /^FormatError text\.jpg: not a readable image file/);
    assert.match(await refusal("cut.png", [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0]), /^FormatError cut\.png: .*ends within its header/);
    assert.match(await refusal("bad.tif", [0x49, 0x49, 42, 0, 8, 0, 0, 0]), /^FormatError bad\.tif: not a readable TIFF file/);
  });
});
