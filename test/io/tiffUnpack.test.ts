import assert from "node:assert/strict";
import { test } from "node:test";
import sharp from "sharp";
import { decodeTiff } from "../../src/io/tiff.ts";
import { lzwLength, packBitsLength, unpackLzw, unpackPackBits } from "../../src/io/tiffUnpack.ts";
import { createRandom } from "../../src/random.ts";
import { lzwZeros, tiff } from "../serve/hostileFiles.ts";

/** Codes of `width` bits, one after the other, the highest bit first. */
function codes(width: number, ...values: readonly number[]): Uint8Array {
  const bits = values.map((value) => value.toString(2).padStart(width, "0")).join("");
  return Uint8Array.from({ length: Math.ceil(bits.length / 8) }, (_, i) => parseInt(bits.slice(8 * i, 8 * i + 8).padEnd(8, "0"), 2));
}

test("LZW is unpacked as the specification does it by hand", () => {
  // clear, 7, 8, 258 (“7 8”), 260 (the one being defined: “7 8 7”), end
  const packed = codes(9, 256, 7, 8, 258, 260, 257);
  assert.deepEqual([...unpackLzw(packed, 100)], [7, 8, 7, 8, 7, 8, 7]);
  assert.deepEqual([...unpackLzw(packed, 4)], [7, 8, 7, 8], "no more than the pixels of a block");
  assert.deepEqual([...unpackLzw(codes(9, 256, 7, 8), 100)], [7, 8], "without an end");
  assert.deepEqual([...unpackLzw(codes(9, 256, 7, 7, 256, 9, 258), 1)], [7]);
});

test("LZW codes that stand for nothing yet are refused", () => {
  for (const wrong of [codes(9, 256, 300), codes(9, 256, 258), codes(9, 256, 7, 259), codes(9, 256, 7, 8, 511)])
    assert.throws(() => unpackLzw(wrong, 1000), /its LZW data are damaged/);
  // in a full table of 12 bits, 4094 and 4095 were never defined: a decoder that believes them does not end
  const full = lzwZeros(1);
  const bits = [...full].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const start = 9 + 9 + 253 * 9 + 512 * 10 + 1024 * 11; // up to the first code of 12 bits
  const bytes = `${bits.slice(0, start)}${"1".repeat(12)}${bits.slice(start + 12)}`.match(/.{8}/g) ?? [];
  const damaged = Uint8Array.from(bytes, (byte) => parseInt(byte, 2));
  assert.throws(() => unpackLzw(damaged, 1e9), /its LZW data are damaged/);
});

test("PackBits are unpacked, runs of length zero skipped", () => {
  assert.deepEqual([...unpackPackBits(Uint8Array.of(2, 7, 8, 9, 254, 5, 128, 0, 6), 100)], [7, 8, 9, 5, 5, 5, 6]);
  assert.deepEqual([...unpackPackBits(Uint8Array.of(254, 5, 2, 7, 8, 9), 5)], [5, 5, 5, 7, 8]);
  assert.deepEqual([...unpackPackBits(Uint8Array.of(3, 7), 100)], [7, 0, 0, 0], "cut off");
});

test("what libtiff packs comes back, in strips and tiles, with and without predictor, and is counted before it is unpacked", async () => {
  const random = createRandom(4);
  const [width, height] = [230, 170];
  const images = {
    noise: () => random.integer(256),
    slope: (i: number) => (i / 3) & 255,
    even: () => 90,
  };
  for (const [name, value] of Object.entries(images)) {
    const data = Uint8Array.from({ length: width * height * 3 }, (_, i) => value(i));
    for (const compression of ["lzw", "packbits"] as const)
      for (const tile of [false, true])
        for (const predictor of compression === "lzw" ? (["none", "horizontal"] as const) : (["none"] as const)) {
          const bytes = await sharp(data, { raw: { width, height, channels: 3 } }).tiff({ compression, tile, tileWidth: 64, tileHeight: 48, predictor }).toBuffer(); // prettier-ignore
          const [page] = await decodeTiff(new Uint8Array(bytes));
          assert.ok(page && Buffer.from(page.data.buffer).equals(data), `${name}, ${compression}, tiles ${tile}, predictor ${predictor}`);
        }
  }
});

test("the bytes that uploads are counted to are those that are unpacked", () => {
  const zeros = lzwZeros(2);
  assert.equal(unpackLzw(zeros, Infinity).length, lzwLength(zeros, Infinity));
  const random = createRandom(6);
  const packed = Uint8Array.from({ length: 5000 }, () => random.integer(256));
  assert.equal(unpackPackBits(packed, Infinity).length, packBitsLength(packed, Infinity));
});

test("data that unpack to more than the pixels give the pixels, and take no more memory", async () => {
  const [page] = await decodeTiff(tiff([{ compression: 5, strip: lzwZeros(1) }])); // 7 MB for 64×48 pixels
  assert.deepEqual([page?.data.length, page?.data.every((value) => value === 0)], [64 * 48, true]);
  const [other] = await decodeTiff(tiff([{ compression: 32773, strip: new Uint8Array(20_000).fill(129) }]));
  assert.deepEqual([other?.data.length, other?.data[0]], [64 * 48, 129]);
});
