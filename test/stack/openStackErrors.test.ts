import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";
import { DualFocusError, type ErrorCode } from "../../src/errors.ts";
import { encodeGif } from "../../src/io/gif.ts";
import { encodeTiff } from "../../src/io/tiff.ts";
import { createRandom } from "../../src/random.ts";
import { openStack } from "../../src/stack/node/openStack.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { exifBlock, jpegWithExif } from "../io/exifFiles.ts";
import { putStack, SIZE } from "./stackFiles.ts";

const root = temporaryFolder();
const two = { "a.jpg": 50, "b.jpg": 60 };

/** The stack is refused with this code and message, which names no option of the command. */
async function refuses(opening: Promise<unknown>, code: ErrorCode, message: RegExp): Promise<void> {
  await assert.rejects(opening, (error: unknown) => {
    assert.ok(error instanceof DualFocusError, String(error));
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /(^|\s)--[a-z]/);
    assert.equal(error.code, code, error.message);
    return true;
  });
}

test("formats that are not of photos are refused alike as files, in a folder, and under another name", async () => {
  const gif = (value: number): Uint8Array =>
    encodeGif([new Uint8ClampedArray(4 * 24 * 16).fill(value)], { width: 24, height: 16, delay: 1 });
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="16"><rect width="24" height="16"/></svg>';
  const of = (name: string): string => join(root, "drawn", name);
  for (const n of [1, 2]) put(of(`${n}.gif`), gif(100 * n));
  const message = /1\.gif: GIF files are not read; convert them to PNG or JPEG/;
  await refuses(openStack([of("1.gif"), of("2.gif")]), "bad-file", message);
  await refuses(openStack(join(root, "drawn")), "bad-file", message);
  put(join(root, "drawings", "a.svg"), svg);
  await refuses(openStack(join(root, "drawings")), "bad-file", /a\.svg: SVG files are not read/);
  for (const [name, content] of [["gif", gif(9)], ["svg", svg]] as const) for (const n of [1, 2]) put(join(root, `${name} as png`, `${n}.png`), content); // prettier-ignore
  await refuses(openStack(join(root, "gif as png")), "bad-file", /1\.png: GIF files are not read/);
  await refuses(openStack(join(root, "svg as png")), "bad-file", /1\.png: SVG files are not read/);
});

test("nothing, an empty folder, an empty raw file, one image", async () => {
  await refuses(openStack([]), "no-stack", /no stack was given/);
  await refuses(openStack(join(root, "nowhere")), "file-not-found", /nowhere: there is no such file or folder/);
  mkdirSync(join(root, "empty"));
  await refuses(openStack(join(root, "empty")), "no-images", /empty: no images in it/);
  const results = await putStack(join(root, "results"), { "depth_1.jpg": 1, "depth_2.jpg": 2, "depth_3.jpg": 3 });
  await refuses(openStack(results), "no-images", /but depth_1\.jpg and 2 others are named like results: rename those that are photos/);
  put(join(root, "raw", "a.NEF"), "");
  await refuses(openStack(join(root, "raw")), "bad-file", /a\.NEF: the file is empty/);
  const one = await putStack(join(root, "one"), { "a.jpg": 1 });
  await refuses(openStack(one), "single-image", /one image is not a focal stack/);
  await refuses(openStack(join(one, "a.jpg")), "single-image", /a\.jpg: one image is not a focal stack/);
  await refuses(openStack([join(one, "a.jpg"), join(one, "a.jpg")]), "image-given-twice", /a\.jpg: is given twice/);
  await refuses(openStack([join(one, "a.jpg"), one]), "folder-among-files", /is a folder, given together with other files/);
});

test("a text file, an empty file, a truncated image, a folder or a circular link named like an image", async () => {
  const folder = async (name: string): Promise<string> => putStack(join(root, name), two);
  put(join(await folder("text"), "c.jpg"), "not an image");
  await refuses(openStack(join(root, "text")), "bad-file", /c\.jpg: not a readable image/);
  put(join(await folder("zero"), "c.jpg"), "");
  await refuses(openStack(join(root, "zero")), "bad-file", /c\.jpg: the file is empty/);
  mkdirSync(join(await folder("sub"), "c.jpg"));
  assert.equal((await openStack(join(root, "sub"))).files.length, 2, "a sub-folder is passed over");
  const random = createRandom(4);
  const noise = Uint8Array.from({ length: 64 * 48 * 3 }, () => random.integer(256));
  const whole = await sharp(noise, { raw: { width: 64, height: 48, channels: 3 } })
    .jpeg()
    .toBuffer();
  for (const [n, name] of ["a.jpg", "b.jpg", "c.jpg"].entries())
    put(join(root, "cut", name), n < 2 ? whole : whole.subarray(0, whole.length / 2));
  const cut = await openStack(join(root, "cut"));
  await refuses(cut.readPlane(2), "bad-file", /c\.jpg: not a readable image/);
  await refuses(cut.readScaled(2, 100), "bad-file", /c\.jpg: not a readable image/);
  if (process.platform === "win32") return;
  symlinkSync("c.jpg", join(await folder("loop"), "c.jpg"));
  await refuses(openStack(join(root, "loop")), "file-unreadable", /c\.jpg: is a link that leads back to itself/);
});

test("mixed sizes and orientations, and images too small", async () => {
  const folder = await putStack(join(root, "sizes"), two);
  await putStack(folder, { "c.jpg": 9 }, { width: 24, height: 18 });
  await refuses(openStack(folder), "sizes-differ", /a\.jpg is 24×16 but c\.jpg is 24×18/);
  const sideways = await putStack(join(root, "sideways"), two);
  await putStack(sideways, { "c.jpg": 9 }, { width: 16, height: 24 });
  await refuses(openStack(sideways), "sizes-differ", /a\.jpg is 24×16 but c\.jpg is 16×24/);
  await refuses(
    openStack(await putStack(join(root, "dot"), two, { width: 1, height: 1 })),
    "image-too-small",
    /a\.jpg: is only 1×1 pixels/,
  );
});

test("distances too few, too many, negative, zero, equal, not numbers, of units that do not go together", async () => {
  const folder = await putStack(join(root, "distances"), two);
  const given = (distances: readonly number[] | string): Promise<unknown> => openStack(folder, { distances });
  await refuses(given([1]), "distance-count", /2 images but 1 focus distances$/);
  await refuses(given([1, 2, 3]), "distance-count", /2 images but 3/);
  await refuses(given([1, -2]), "distances-invalid", /b\.jpg: -2 m is not a focus distance/);
  await refuses(given([0, 2]), "distances-invalid", /a\.jpg: 0 m is not a focus distance/);
  await refuses(given([2, 2]), "distances-invalid", /a\.jpg and b\.jpg have the same focus distance, 2 m/);
  await refuses(given([1, NaN]), "distances-invalid", /b\.jpg: NaN m is not a focus distance/);
  await refuses(given("1,two"), "distances-invalid", /“two” is not a focus distance/);
  await refuses(given("1,2feet"), "distances-invalid", /“2feet” is not a focus distance/);
  await refuses(given("1m,2index"), "units-mixed", /mix units/);
  await refuses(given(join(folder, "no.csv")), "file-not-found", /no\.csv: there is no such file/);
  await refuses(openStack(folder, { unit: "mm" }), "distances-missing", /no focus distances found, so there is no depth in mm/);
});

test("wrong files beside the images", async () => {
  const json = async (name: string, content: object | string): Promise<string> => {
    const folder = await putStack(join(root, name), two);
    put(join(folder, "stack.json"), typeof content === "string" ? content : JSON.stringify(content));
    return folder;
  };
  await refuses(openStack(await json("syntax", "{")), "bad-file", /stack\.json/);
  await refuses(openStack(await json("unit", { unit: "feet", focus: [1, 2] })), "bad-file", /stack\.json.*unit/);
  await refuses(
    openStack(await json("short", { unit: "m", focus: [1] })),
    "distance-count",
    /2 images but 1 focus distances \(from stack\.json\)/,
  );
  await refuses(
    openStack(await json("gone", { unit: "m", focus: [1, 2], files: ["a.jpg", "z.jpg"] })),
    "listed-image-missing",
    /stack\.json names z\.jpg/,
  );
  const listed = async (name: string, text: string): Promise<string> => {
    const folder = await putStack(join(root, name), two);
    put(join(folder, "distances.csv"), text);
    return folder;
  };
  await refuses(openStack(await listed("words", "1\nx\n")), "bad-file", /distances\.csv: line 2: “x” is not a focus distance/);
  await refuses(openStack(await listed("unpaired", "a.jpg,1\nc.jpg,2\n")), "image-not-listed", /distances\.csv: has no line for b\.jpg/);
  put(join(await listed("lists", "1\n2\n"), "focus.txt"), "1\n2\n");
  await refuses(openStack(join(root, "lists")), "several-distance-lists", /distances\.csv and focus\.txt both look like lists/);
  await refuses(
    openStack(await putStack(join(root, "names"), { "a_1m.jpg": 1, "b_1m.jpg": 2, "c_2m.jpg": 3 })),
    "distances-invalid",
    /a_1m\.jpg and b_1m\.jpg/,
  );
});

test("EXIF that some images lack, or that is the same in all, is ignored, and a note says so", async () => {
  const plain = await sharp(Buffer.alloc(24 * 16 * 3, 90), { raw: { ...SIZE, channels: 3 } })
    .jpeg()
    .toBuffer();
  const at = (metres: number): Uint8Array => jpegWithExif(plain, exifBlock({ exif: [[0x9206, 5, [metres, 1]]] }));
  for (const name of ["a.jpg", "b.jpg"]) put(join(root, "same", name), at(2));
  const same = await openStack(join(root, "same"));
  assert.deepEqual([same.space, same.notes.length], ["index", 1]);
  assert.match(same.notes.join(), /all images state the same focus distance in their EXIF, 2 m; ignored/);
  put(join(root, "some", "a.jpg"), at(2));
  put(join(root, "some", "b.jpg"), plain);
  assert.match((await openStack(join(root, "some"))).notes.join(), /b\.jpg: no focus distance in its EXIF/);
  for (const [name, metres] of [
    ["a.jpg", 2],
    ["b.jpg", 2],
    ["c.jpg", 3],
  ] as const)
    put(join(root, "twins", name), at(metres));
  await refuses(openStack(join(root, "twins")), "distances-invalid", /a\.jpg and b\.jpg have the same focus distance, 2 m.*EXIF/);
});

test("TIFFs with NaN, without light, with pages in a circle", async () => {
  const page = (value: number): { width: number; height: number; channels: 1; data: Float32Array } => ({
    ...SIZE,
    channels: 1,
    data: new Float32Array(384).fill(value),
  });
  put(join(root, "nan.tif"), encodeTiff([page(0.5), page(NaN)]));
  await refuses(openStack(join(root, "nan.tif")), "bad-file", /nan\.tif: page 2 contains the value NaN/);
  put(join(root, "black.tif"), encodeTiff([page(0), page(0)]));
  await refuses(openStack(join(root, "black.tif")), "bad-file", /black\.tif: every image is black/);
  const circle = encodeTiff([page(0.5), page(0.6)]);
  const view = new DataView(circle.buffer);
  const next = (at: number): number => at + 2 + 12 * view.getUint16(at, true);
  view.setUint32(next(view.getUint32(next(8), true)), 8, true); // the second page points to the first
  put(join(root, "circle.tif"), circle);
  await refuses(openStack(join(root, "circle.tif")), "bad-file", /circle\.tif: not a readable TIFF file: its pages lead back/);
});

test("random bytes and damaged images end in an error of ours or in images", async () => {
  const random = createRandom(2);
  const folder = await putStack(join(root, "garbage"), two);
  const goods = [
    readFileSync(join(folder, "a.jpg")),
    await sharp(Buffer.alloc(24 * 16 * 3, 90), { raw: { ...SIZE, channels: 3 } })
      .tiff()
      .toBuffer(),
    encodeTiff([0.1, 0.2].map((value) => ({ ...SIZE, channels: 1 as const, data: new Float32Array(384).fill(value) }))),
  ];
  for (let round = 0; round < 60; round++)
    for (const good of goods) {
      const bytes = round % 4 === 0 ? good.subarray(0, random.integer(good.length)) : Uint8Array.from(good);
      if (round % 4 === 1)
        bytes.set(
          Uint8Array.from({ length: 40 }, () => random.integer(256)),
          8,
        );
      else for (let hit = 0; hit < 5; hit++) bytes[random.integer(bytes.length)] = random.integer(256);
      put(join(folder, "b.jpg"), bytes);
      try {
        const stack = await openStack(folder);
        for (const plane of stack.files.keys()) await stack.readScaled(plane, 100);
        const alone = await openStack(join(folder, "b.jpg"));
        for (const plane of alone.files.keys()) await alone.readPlane(plane);
      } catch (error) {
        assert.ok(error instanceof DualFocusError, String(error));
      }
    }
});
