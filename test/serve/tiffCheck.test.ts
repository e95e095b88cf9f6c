import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { DEFAULT_LIMITS } from "../../src/serve/limits.ts";
import { lzwLength, packBitsLength } from "../../src/io/tiffUnpack.ts";
import { checkTiff } from "../../src/serve/tiffCheck.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { texture } from "../helpers/texturedStack.ts";
import { deflatedZeros, lzwZeros, tiff } from "./hostileFiles.ts";

const folder = temporaryFolder();
let count = 0;

async function check(bytes: Uint8Array): Promise<void> {
  const file = join(folder, `${(count += 1)}.tif`);
  put(file, bytes);
  await checkTiff(file, { name: "picture 1", limits: { ...DEFAULT_LIMITS, frames: 5 } });
}

const { data, width, height } = texture({ width: 150, height: 90 });
const pixels = sharp(
  Uint8Array.from(data, (value) => Math.max(0, value) * 255),
  { raw: { width, height, channels: 3 } },
);

test("honest TIFFs pass, whatever their compression, tiles, predictor and depth", async () => {
  for (const compression of ["none", "lzw", "deflate", "packbits"] as const)
    for (const tile of [false, true])
      for (const predictor of ["none", "horizontal"] as const)
        await check(await pixels.clone().tiff({ compression, tile, tileWidth: 64, tileHeight: 32, predictor }).toBuffer());
  await check(await pixels.clone().toColourspace("rgb16").tiff({ compression: "lzw" }).toBuffer());
  await check(await pixels.clone().greyscale().tiff({ compression: "deflate", bitdepth: 1 }).toBuffer());
  await check(tiff([{}, {}, { compression: 8, strip: deflateSync(new Uint8Array(64 * 48)) }]));
});

test("what unpacks to more than the header says is refused", async () => {
  await assert.rejects(check(tiff([{ compression: 8, strip: deflatedZeros(50_000) }])), {
    code: "too-large",
    message: /unpacks to more than its 64×48/,
  });
  await assert.rejects(check(tiff([{ compression: 5, strip: lzwZeros(1) }])), { code: "too-large" });
  await assert.rejects(check(tiff([{ compression: 32773, strip: new Uint8Array(2000).fill(129) }])), { code: "too-large" });
});

test("pages without end, strips that overlap, damaged data and unknown compressions are refused", async () => {
  await assert.rejects(check(tiff(Array.from({ length: 11 }, () => ({})))), { code: "too-large", message: /more than 10 pages/ });
  await assert.rejects(check(tiff([{}, {}], { last: 8 })), { code: "invalid" });
  await assert.rejects(check(tiff([{ claimed: 5000 }])), { code: "invalid" });
  await assert.rejects(check(tiff([{ compression: 8, strip: new Uint8Array(100).fill(7) }])), { code: "invalid" });
  await assert.rejects(check(tiff([{ compression: 50000 }])), { code: "unsupported-type", message: /compression 50000/ });
  await assert.rejects(check(new Uint8Array([0x49, 0x49, 42, 0, 255, 255, 255, 0])), { code: "invalid" });
});

test("LZW and PackBits are counted as they unpack", () => {
  // Codes of 9 bits: clear, 7, 8, 258 (“7 8”), 260 (the one being defined: “7 8 7”), end.
  const codes = [256, 7, 8, 258, 260, 257];
  const bits = codes.map((code) => code.toString(2).padStart(9, "0")).join("");
  const bytes = Uint8Array.from({ length: Math.ceil(bits.length / 8) }, (_, i) => parseInt(bits.slice(8 * i, 8 * i + 8).padEnd(8, "0"), 2));
  assert.equal(lzwLength(bytes, Infinity), 1 + 1 + 2 + 3);
  assert.ok(lzwLength(bytes, 3) > 3, "it stops when there is too much");
  assert.equal(lzwLength(lzwZeros(1), Infinity), (3837 * 3838) / 2, "1 + 2 + … zeros until the table is full");
  assert.equal(packBitsLength(Uint8Array.from([2, 1, 2, 3, 254, 9, 128, 0, 5]), Infinity), 3 + 3 + 1);
});
