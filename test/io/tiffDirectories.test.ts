import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { decodeTiff } from "../../src/io/tiff.ts";
import { checkTiffDirectories, memorySource } from "../../src/io/tiffDirectories.ts";
import { FormatError } from "../../src/io/formatError.ts";
import { diskFiles } from "../../src/stack/node/diskFiles.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { greyPage, pageWith, rawTiff, tiffBomb } from "./hostileTiff.ts";

const folder = temporaryFolder();
const check = (bytes: Uint8Array, options = {}): Promise<void> => checkTiffDirectories(memorySource(bytes), options);

test("a field's count is not believed beyond the file, in any of the fields that decoders allocate for", async () => {
  const [BYTE, LONG, LONG8, DOUBLE] = [1, 4, 16, 12];
  const cases = [
    { tag: 258, type: 3, count: 0x40000000 }, // BitsPerSample
    { tag: 273, type: LONG, count: 0x40000000 }, // StripOffsets
    { tag: 279, type: LONG, count: 0x40000000 }, // StripByteCounts
    { tag: 339, type: 3, count: 0xffffffff }, // SampleFormat
    { tag: 320, type: 3, count: 0xffffffff }, // ColorMap
    { tag: 347, type: BYTE, count: 0xffffffff }, // JPEGTables
    { tag: 270, type: 2, count: 0xffffffff }, // ImageDescription
    { tag: 33922, type: DOUBLE, count: 0x20000000 }, // ModelTiepoint, a private tag
    { tag: 60000, type: BYTE, count: 0x7fffffff },
    { tag: 279, type: LONG8, count: 2 ** 50, big: true },
  ];
  for (const one of cases) {
    const bytes = tiffBomb(one);
    assert.equal(bytes.length, 634);
    const claim = new RegExp(`tag ${one.tag} claims ${one.count} values of \\d bytes, the file has 634`);
    await assert.rejects(check(bytes), claim);
    await assert.rejects(decodeTiff(bytes, "bomb.tif"), claim);
  }
  await assert.rejects(check(tiffBomb()), /tag 278 \(RowsPerStrip\) is 1073741824 values of type 4 instead of one whole number/);
});

test("the command's reader refuses the bomb by its name, and its memory stays where it was", async () => {
  const file = join(folder, "bomb.tif");
  put(file, tiffBomb());
  const before = process.memoryUsage();
  await assert.rejects(
    diskFiles.probe(file),
    (error) => error instanceof FormatError && error.message.startsWith(`${file}: not a readable TIFF file: tag 278`),
  );
  await assert.rejects(diskFiles.readTiffPage(file, 0), FormatError);
  const after = process.memoryUsage();
  assert.ok(after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed < 64 << 20);
});

test("directories that loop, overlap, lie outside or do not end are refused", async () => {
  const good = greyPage();
  await check(rawTiff([good, good], { after: 4000 }));
  await assert.rejects(check(rawTiff([good, good], { after: 4000, last: 8 })), /lead back to an earlier one/);
  await assert.rejects(check(rawTiff([good], { after: 4000, last: 1e6 })), /truncated: a directory at 1000000/);
  await assert.rejects(check(rawTiff([], { last: 8, after: 4 }).fill(255, 8)), /truncated: a directory of 65535 fields/);
  await assert.rejects(check(new Uint8Array([0x49, 0x49, 42, 0])), /truncated/);
  await assert.rejects(check(rawTiff([pageWith({ tag: 270, type: 77, value: 1 })])), /tag 270 has the unknown type 77/);
  await assert.rejects(check(rawTiff([pageWith({ tag: 258, type: 11, value: 1 })])), /tag 258 \(BitsPerSample\) is of type 11/);
  await assert.rejects(check(rawTiff([pageWith({ tag: 256, type: 2, value: 64 })])), /tag 256 \(ImageWidth\) is 1 values of type 2/);
  // The second directory begins within the first: in the value of its first field, whose lower half then counts 4000 fields.
  const fields = Array.from({ length: 5000 }, () => ({ tag: 1, type: 1, value: 40_000 * 65_536 + 4000 }));
  await assert.rejects(check(rawTiff([fields], { last: 8 + 2 + 8, after: 10_000 })), /its directories overlap/);
  const shared = { tag: 270, type: 2, count: 3000, value: 8 };
  await check(rawTiff([pageWith(shared)], { after: 4000 }));
  await assert.rejects(check(rawTiff([pageWith(shared), pageWith(shared)], { after: 4000 })), /its fields need more than 6000 bytes/);
});

test("BigTIFF and sub-directories are walked too; only the pages asked for are", async () => {
  const big = rawTiff([greyPage()], { big: true, after: 4000 });
  await check(big);
  await assert.rejects(
    check(rawTiff([greyPage()], { big: true, after: 4000, last: 2 ** 52 })),
    /truncated: a directory at 4503599627370496/,
  );
  const wrongOffsets = big.slice();
  wrongOffsets[4] = 4;
  await assert.rejects(check(wrongOffsets), /its offsets have 4 bytes instead of 8/);

  const length = rawTiff([pageWith({ tag: 330, type: 4, value: 0 })]).length;
  const bomb = pageWith({ tag: 279, type: 4, count: 0x40000000, value: 8 });
  const below = (value: number): Uint8Array => rawTiff([pageWith({ tag: 330, type: 4, value }), bomb], { after: 4000 });
  const alone = below(length);
  new DataView(alone.buffer).setUint32(length - 4, 0, true); // reached as a sub-directory only
  await assert.rejects(check(alone), /tag 279 claims/);
  await assert.rejects(check(below(8)), /lead back to an earlier one/);
  await assert.rejects(check(rawTiff([greyPage(), bomb], { after: 4000 })), /tag 279 claims/);
  await check(rawTiff([greyPage(), bomb], { after: 4000 }), { pages: 1 });
});

test("a lost value of a program's own tag is no reason to refuse the pixels", async () => {
  const [page] = await decodeTiff(rawTiff([[...greyPage({ at: 300 }), { tag: 50000, type: 7, count: 1000, value: 4e9 }]], { after: 4000 }));
  assert.equal(page?.data.length, 64 * 48);
  await assert.rejects(check(rawTiff([pageWith({ tag: 270, type: 2, count: 1000, value: 4e9 })], { after: 4000 })), /truncated: tag 270/);
});

test("a page is not believed to be larger than its compression can make it", async () => {
  const page = (change: { tag: number; type: number; value: number }[]) =>
    rawTiff(
      [change.reduce((fields, one) => [...fields.filter(({ tag }) => tag !== one.tag), one], greyPage()).sort((a, b) => a.tag - b.tag)],
      {
        after: 4000,
      },
    );
  const LONG = 4;
  const side = { tag: 256, type: LONG, value: 100_000 };
  await assert.rejects(decodeTiff(page([side])), /a page of 100000×48×1 values does not fit into a file of 4122 bytes/);
  await assert.rejects(decodeTiff(page([{ tag: 278, type: LONG, value: 1 }])), /it lists 1 of the 48 parts of a page/);
  await assert.rejects(decodeTiff(page([{ tag: 277, type: LONG, value: 4e9 }])), /does not fit/);
});
