import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";
import { encodeTiff } from "../../src/io/tiff.ts";
import { openStack } from "../../src/stack/node/openStack.ts";
import { scaledSize, type StackSource } from "../../src/stack/stackSource.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { assertClose } from "../helpers/close.ts";
import { exifBlock, jpegWithExif, type ExifField } from "../io/exifFiles.ts";
import { putStack, SIZE } from "./stackFiles.ts";

const root = temporaryFolder();
const names = ({ files }: StackSource): string[] => files.map((file) => basename(file));
const sources = ({ focus }: StackSource): string[] => [...new Set(focus.map(({ source }) => source))];
const three = { "a_2.jpg": 10, "a_10.jpg": 20, "a_1.jpg": 30 };

test("a folder without distances is in plane numbers and natural order", async () => {
  const stack = await openStack(await putStack(join(root, "plain with space ü"), three));
  assert.deepEqual(
    [names(stack), stack.focusDistances, stack.space, stack.unit],
    [["a_1.jpg", "a_2.jpg", "a_10.jpg"], [0, 1, 2], "index", "index"],
  );
  assert.deepEqual([stack.size, stack.channels, stack.bits, stack.orientation, stack.notes], [SIZE, 3, 8, 1, []]);
  assert.deepEqual(sources(stack), ["file order"]);
  const plane = await stack.readPlane(2);
  assertClose(plane.data, new Float32Array(24 * 16 * 3).fill(20 / 255), 0.05);
});

test("the caller's distances win, then stack.json, then a list beside the pictures, then names, then EXIF", async () => {
  const exif = (metres: number): readonly ExifField[] => [[0x9206, 5, [Math.round(metres * 100), 100]]];
  const folder = join(root, "order");
  const plain = await sharp(Buffer.alloc(24 * 16 * 3, 90), { raw: { ...SIZE, channels: 3 } })
    .jpeg()
    .toBuffer();
  const shots = ["x_1.jpg", "x_2.jpg", "x_3.jpg"];
  for (const [n, file] of shots.entries()) put(join(folder, file), jpegWithExif(plain, exifBlock({ exif: exif(3 - n) })));
  const byExif = await openStack(folder);
  assert.deepEqual([sources(byExif), byExif.focusDistances, names(byExif)], [["EXIF"], [1, 2, 3], ["x_3.jpg", "x_2.jpg", "x_1.jpg"]]);

  const named = join(root, "orderNamed");
  for (const [n, file] of ["x_1_500mm.jpg", "x_2_400mm.jpg", "x_3_600mm.jpg"].entries())
    put(join(named, file), jpegWithExif(plain, exifBlock({ exif: exif(3 - n) })));
  const byName = await openStack(named);
  assert.deepEqual([sources(byName), byName.unit], [["file name"], "mm"]);
  assertClose(byName.focusDistances, [0.4, 0.5, 0.6], 1e-12);

  put(join(named, "focus_distance.txt"), "7\n8\n9\n");
  const byList = await openStack(named);
  assert.deepEqual([sources(byList), byList.focusDistances], [["distance list"], [7, 8, 9]]);
  assert.match(byList.notes[0] ?? "", /no unit; taken as metres/);
  assert.deepEqual((await openStack(named, { unit: "mm" })).focusDistances, [0.007, 0.008, 0.009]);

  put(join(named, "stack.json"), JSON.stringify({ unit: "dpt", focus: [1, 2, 4] }));
  const byJson = await openStack(named);
  assert.deepEqual([sources(byJson), byJson.focusDistances, byJson.unit], [["stack.json"], [0.25, 0.5, 1], "dpt"]);

  const given = await openStack(named, { distances: [30, 20, 10], unit: "mm" });
  assert.deepEqual([sources(given), given.focus.map(({ value }) => value)], [["argument"], [10, 20, 30]]);
  assert.deepEqual((await openStack(named, { distances: "0.5,65cm,inf" })).focus.map(({ value, unit }) => [value, unit])[2], [0, "dpt"]);
  assert.equal((await openStack(named, { unit: "index" })).space, "index");
});

test("a table pairs numbers with names whatever the order of its lines", async () => {
  const folder = await putStack(join(root, "table"), three);
  put(join(folder, "stack.csv"), "file;distance_cm\na_10;30\na_1;10\na_2;20\n");
  const stack = await openStack(folder);
  assert.deepEqual([names(stack), stack.unit, stack.notes], [["a_1.jpg", "a_2.jpg", "a_10.jpg"], "mm", []]);
  assertClose(stack.focusDistances, [0.1, 0.2, 0.3], 1e-12);
});

test("a list of files is taken as given, unless a shell sorted it by letters", async () => {
  const folder = await putStack(join(root, "list"), three);
  const at = (...files: string[]): string[] => files.map((file) => join(folder, file));
  assert.deepEqual(names(await openStack(at("a_10.jpg", "a_1.jpg", "a_2.jpg"))), ["a_10.jpg", "a_1.jpg", "a_2.jpg"]);
  assert.deepEqual(names(await openStack(at("a_1.jpg", "a_10.jpg", "a_2.jpg"))), ["a_1.jpg", "a_2.jpg", "a_10.jpg"]);
  put(join(folder, "mine.json"), JSON.stringify({ unit: "m", focus: [2, 1], files: ["a_1.jpg", "a_2.jpg"] }));
  assert.deepEqual(names(await openStack(join(folder, "mine.json"))), ["a_2.jpg", "a_1.jpg"]);
});

test("the same pictures in two formats count once, and the better format is taken", async () => {
  const folder = await putStack(join(root, "copies"), { "a.jpg": 1, "b.jpg": 2, "a.png": 3, "b.png": 4 });
  const stack = await openStack(folder);
  assert.deepEqual(names(stack), ["a.png", "b.png"]);
  assert.match(stack.notes.join(), /\.png is used/);
});

test("images beside those called plane… are left out, and named", async () => {
  const folder = await putStack(join(root, "beside"), { "plane_1.jpg": 1, "plane_2.jpg": 2, "IMG_7.jpg": 3, "aif.png": 4 });
  const stack = await openStack(folder);
  assert.deepEqual(names(stack), ["plane_1.jpg", "plane_2.jpg"]);
  assert.match(stack.notes.join(), /only the images called plane… are used; IMG_7\.jpg is left out/);
});

test("every format sharp knows is read; grey, alpha and CMYK become what the network wants", async () => {
  const folder = join(root, "formats");
  await putStack(folder, { "1.jpg": 128, "2.png": 128, "3.webp": 128, "4.avif": 128, "5.tif": 128 });
  const raw = { ...SIZE, channels: 1 as const };
  put(join(folder, "6.png"), await sharp(Buffer.alloc(384, 128), { raw }).toColourspace("b-w").png().toBuffer());
  put(
    join(folder, "7.png"),
    await sharp(Buffer.alloc(384 * 4, 128), { raw: { ...SIZE, channels: 4 } })
      .png()
      .toBuffer(),
  );
  put(
    join(folder, "8.jpg"),
    await sharp(Buffer.alloc(384 * 3, 128), { raw: { ...SIZE, channels: 3 } })
      .toColourspace("cmyk")
      .jpeg()
      .toBuffer(),
  );
  const stack = await openStack(folder);
  assert.deepEqual([stack.files.length, stack.channels], [8, 3]);
  for (let n = 0; n < 8; n++) {
    const plane = await stack.readPlane(n);
    assert.deepEqual([plane.width, plane.height, plane.channels], [24, 16, 3], names(stack)[n]);
    assertClose(plane.data, new Float32Array(24 * 16 * 3).fill(128 / 255), n === 7 ? 0.12 : 0.02);
  }
});

test("an all-grey stack stays grey", async () => {
  const folder = join(root, "grey");
  for (const name of ["a.png", "b.png"])
    put(
      join(folder, name),
      await sharp(Buffer.alloc(384, 51), { raw: { ...SIZE, channels: 1 } })
        .toColourspace("b-w")
        .png()
        .toBuffer(),
    );
  const stack = await openStack(folder);
  assert.equal(stack.channels, 1);
  assert.deepEqual((await stack.readPlane(0)).data, new Float32Array(384).fill(0.2));
});

test("16 bits are kept to the last, in PNG and TIFF, in colour and grey", async () => {
  const data = Uint16Array.from({ length: 384 * 3 }, (_, i) => 20000 + i * 3);
  const folder = join(root, "deep");
  const picture = sharp(data, { raw: { ...SIZE, channels: 3 } }).toColourspace("rgb16");
  put(join(folder, "a.png"), await picture.clone().png().toBuffer());
  put(join(folder, "b.tif"), await picture.clone().tiff({ compression: "lzw" }).toBuffer());
  const stack = await openStack(folder);
  assert.equal(stack.bits, 16);
  for (const n of [0, 1])
    assert.deepEqual(
      (await stack.readPlane(n)).data.map((value) => Math.round(value * 65535)),
      Float32Array.from(data),
    );
});

/** A picture whose top left pixel alone is bright, stored so that orientation 6 or 3 turns it there. */
async function turned(orientation: number, format: "jpeg" | "tiff" | "png"): Promise<Uint8Array> {
  const [width, height] = orientation >= 5 ? [16, 24] : [24, 16];
  const pixels = new Uint8Array(width * height * 3).fill(20);
  const [x, y] = { 1: [0, 0], 3: [width - 4, height - 4], 6: [0, height - 4], 8: [width - 4, 0] }[orientation] as [number, number];
  for (let dy = 0; dy < 4; dy++) pixels.fill(240, ((y + dy) * width + x) * 3, ((y + dy) * width + x + 4) * 3);
  const quality = format === "png" ? {} : { quality: 100 };
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .withMetadata({ orientation })
    .toFormat(format, quality)
    .toBuffer();
}

test("pictures held sideways or upside down come out upright, TIFF too, whole and scaled", async () => {
  for (const format of ["jpeg", "tiff", "png"] as const)
    for (const orientation of [3, 6, 8]) {
      const folder = join(root, `turned-${format}-${orientation}`);
      for (const name of ["a", "b"]) put(join(folder, `${name}.${format === "jpeg" ? "jpg" : format}`), await turned(orientation, format));
      const stack = await openStack(folder);
      assert.deepEqual([stack.size, stack.orientation], [SIZE, orientation], `${format} ${orientation}`);
      const corner = async (image: ReturnType<StackSource["readPlane"]>): Promise<boolean[]> => {
        const { width, height, data } = await image;
        return [data[0], data[(width - 1) * 3], data[(height - 1) * width * 3]].map((value) => (value as number) > 0.5);
      };
      assert.deepEqual(await corner(stack.readPlane(1)), [true, false, false], `${format} ${orientation}`);
      assert.deepEqual(await corner(stack.readScaled(1, 96)), [true, false, false], `${format} ${orientation} scaled`);
    }
});

test("one picture whose orientation wavers follows the others", async () => {
  const folder = join(root, "wavering");
  for (const name of ["a.jpg", "b.jpg"]) put(join(folder, name), await turned(3, "jpeg"));
  const upright = await turned(3, "jpeg");
  const bare = await sharp(upright, { autoOrient: false }).jpeg({ quality: 100 }).toBuffer(); // the same pixels, the tag lost
  put(join(folder, "c.jpg"), bare);
  const stack = await openStack(folder);
  assert.match(stack.notes.join(), /c\.jpg: its orientation differs/);
  assert.ok(((await stack.readPlane(2)).data[0] as number) > 0.5);
  assert.ok(((await stack.readScaled(2, 96)).data[0] as number) > 0.5);
});

test("a scaled plane keeps the shape and the mean, and never exceeds the pixels asked for", async () => {
  assert.deepEqual(scaledSize({ width: 6000, height: 4000 }, 240_000), { width: 600, height: 400 });
  assert.deepEqual(scaledSize({ width: 60, height: 40 }, 240_000), { width: 60, height: 40 });
  const stack = await openStack(await putStack(join(root, "scaled"), { "a.png": 100, "b.tif": 100 }, { width: 120, height: 80 }));
  for (const n of [0, 1]) {
    const small = await stack.readScaled(n, 600);
    assert.deepEqual([small.width, small.height], [30, 20]);
    assertClose(small.data, new Float32Array(1800).fill(100 / 255), 1e-5);
  }
});

test("the camera comes from stack.json, else from EXIF", async () => {
  const folder = join(root, "camera");
  const plain = await sharp(Buffer.alloc(24 * 16 * 3, 90), { raw: { ...SIZE, channels: 3 } })
    .jpeg()
    .toBuffer();
  const exif: ExifField[] = [
    [0x829d, 5, [2, 1]],
    [0x920a, 5, [50, 1]],
    [0xa405, 3, [50]],
  ];
  for (const name of ["a.jpg", "b.jpg"]) put(join(folder, name), jpegWithExif(plain, exifBlock({ exif })));
  const { camera } = await openStack(folder);
  assert.deepEqual([camera?.focalLength, camera?.fNumber], [0.05, 2]);
  assertClose([camera?.pixelPitch ?? 0], [Math.hypot(0.036, 0.024) / Math.hypot(24, 16)], 1e-9);
  const own = { focalLength: 0.1, fNumber: 4, pixelPitch: 1e-6 };
  put(join(folder, "stack.json"), JSON.stringify({ unit: "m", focus: [1, 2], camera: own }));
  assert.deepEqual((await openStack(folder)).camera, own);
});

test("distances beyond a kilometre are infinity, and the stack is in dioptres", async () => {
  const folder = await putStack(join(root, "far"), three);
  const stack = await openStack(folder, { distances: [5e6, 0.5, 2] });
  assert.deepEqual([stack.space, stack.unit, stack.focusDistances], ["disparity", "dpt", [2, 0.5, 0]]);
  assert.match(stack.notes.join(), /a_1\.jpg: 5000000 m counts as infinity/);
});

test("links are followed", { skip: process.platform === "win32" }, async () => {
  const folder = await putStack(join(root, "linked"), three);
  put(join(root, "links", "x.txt"), "");
  for (const name of Object.keys(three)) symlinkSync(join(folder, name), join(root, "links", name));
  assert.equal((await openStack(join(root, "links"))).files.length, 3);
});

test("an OME-TIFF gives its planes by z position, near to far, one page at a time", async () => {
  const z = [4, -2, 1];
  const xml = `<OME><Image><Pixels DimensionOrder="XYZCT" SizeZ="3" SizeC="1" SizeT="1" SignificantBits="12" PhysicalSizeX="0.2"><TiffData/>${z
    .map((value, n) => `<Plane TheZ="${n}" TheC="0" TheT="0" PositionZ="${value}" PositionZUnit="µm"/>`)
    .join("")}</Pixels></Image></OME>`;
  const pages = [1000, 2000, 4095].map((value, n) => ({
    ...SIZE,
    channels: 1 as const,
    data: new Uint16Array(384).fill(value),
    ...(n === 0 ? { description: xml } : {}),
  }));
  put(join(root, "cells.ome.tif"), encodeTiff(pages));
  const stack = await openStack(join(root, "cells.ome.tif"));
  assert.deepEqual([sources(stack), stack.unit, stack.space, stack.bits, stack.channels], [["OME-TIFF"], "um", "position", 16, 1]);
  assertClose(
    stack.focus.map(({ value }) => value),
    [-2, 1, 4],
    1e-9,
  );
  assertClose(stack.focusDistances, [0, 3e-6, 6e-6], 1e-12);
  assertClose([stack.zeroPosition ?? 0, stack.pixelSize ?? 0], [-2e-6, 0.2e-6], 1e-12);
  for (const [n, stored] of [2000, 4095, 1000].entries())
    assertClose((await stack.readPlane(n)).data, new Float32Array(384).fill(stored / 4095), 1e-6);
});

test("lengths given for the planes of a microscope are positions too, dioptres are not", async () => {
  const file = join(root, "cells.ome.tif"); // z = 4, -2, 1 µm
  const moved = await openStack(file, { distances: "0um,-0.02mm,-10um" });
  assert.deepEqual([moved.space, moved.focus.map(({ value }) => Number(value.toPrecision(9)))], ["position", [-2e-5, -1e-5, 0]]);
  assertClose([...moved.focusDistances, moved.zeroPosition ?? 0], [0, 1e-5, 2e-5, -2e-5], 1e-12);
  const optical = await openStack(file, { distances: [1, 4, 2], unit: "dpt" });
  assert.deepEqual([optical.space, optical.focusDistances, optical.zeroPosition], ["depth", [0.25, 0.5, 1], undefined]);
  await assert.rejects(openStack(file, { distances: [-1, 4, 2], unit: "dpt" }), /-1 dpt is not a focus distance/);
});

test("a plain multi-page TIFF is a stack too; thumbnails are left out; 12 bits in 16 are noticed", async () => {
  const page = (value: number, size = SIZE): { width: number; height: number; channels: 1; data: Uint16Array } => ({
    ...size,
    channels: 1,
    data: new Uint16Array(size.width * size.height).fill(value),
  });
  put(join(root, "pages.tif"), encodeTiff([page(4000), page(500), page(1, { width: 8, height: 8 }), page(2000)]));
  const stack = await openStack(join(root, "pages.tif"), { distances: [3, 2, 1] });
  assert.equal(stack.files.length, 3);
  assert.match(stack.notes.join(), /1 pages of other sizes.*only 12 of 16 bits/);
  assertClose((await stack.readPlane(0)).data, new Float32Array(384).fill(2000 / 4095), 1e-6);
  put(join(root, "folder", "pages.tif"), encodeTiff([page(60000), page(500)]));
  assert.equal((await openStack(join(root, "folder"))).files.length, 2, "a folder with nothing but such a file");
});

test("float TIFFs share one white", async () => {
  const page = (value: number): { width: number; height: number; channels: 1; data: Float32Array } => ({
    ...SIZE,
    channels: 1,
    data: new Float32Array(384).fill(value),
  });
  put(join(root, "float.tif"), encodeTiff([page(200), page(800)]));
  const stack = await openStack(join(root, "float.tif"));
  assertClose((await stack.readPlane(0)).data, new Float32Array(384).fill(0.25), 1e-6);
  assert.match(stack.notes.join(), /800, which is taken as white/);
});
