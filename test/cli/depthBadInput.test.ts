import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";
import { encodeNpy } from "../../src/io/npy.ts";
import { encodePng, encodePngPixels } from "../../src/io/png.ts";
import { writeWeights } from "../../src/io/safetensors.ts";
import { encodeTiff } from "../../src/io/tiff.ts";
import { createRandom } from "../../src/random.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { exifBlock, jpegWithExif } from "../io/exifFiles.ts";
import { runCommand } from "../helpers/command.ts";
import { slantedStack, texture } from "../helpers/texturedStack.ts";

const root = temporaryFolder();
const results = join(root, "results"); // nothing may ever appear there
const size = { width: 96, height: 64 };
const { stack } = slantedStack({ ...size, planes: 3 });
const planes = stack.images.map((image) => encodePng(image));
const models = join(import.meta.dirname, "../../models");

/** A good stack of three planes a.png, b.png, c.png, then `spoil` of it. */
function folderWith(name: string, files: Readonly<Record<string, Uint8Array | string>> = {}): string {
  const folder = join(root, "stacks", name);
  planes.forEach((bytes, n) => {
    put(join(folder, `${"abc"[n] ?? ""}.png`), bytes);
  });
  for (const [file, content] of Object.entries(files)) put(join(folder, file), content);
  return folder;
}

const good = folderWith("good");

interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly code: 2 | 3 | 4 | 5;
  /** What was wrong with which file. */
  readonly message: RegExp;
  /** What to do about it. */
  readonly remedy: RegExp;
}

/** Each ends with its exit code and a message of two lines, and leaves nothing behind. */
function refuses(title: string, cases: () => readonly Case[] | Promise<readonly Case[]>): void {
  test(title, async (context) => {
    for (const { name, args, code, message, remedy } of await cases()) {
      const before = readdirSync(root).sort();
      const output = args.includes("-o") ? [] : ["-o", results];
      const ended = await runCommand(context, "depth", "--quiet", ...output, ...args);
      const told = `${name}: ${ended.err}`;
      const left = readdirSync(root).sort();
      rmSync(results, { recursive: true, force: true }); // else one failure would be taken for many
      assert.equal(ended.code, code, told);
      assert.match(ended.err, message, told);
      assert.match(ended.err, remedy, told);
      assert.doesNotMatch(ended.err, /^ {4,}at |node:internal/m, told);
      assert.equal(ended.out, "", told);
      assert.deepEqual(left, before, `${name}: left something behind`);
    }
  });
}

const input = (name: string, args: readonly string[], message: RegExp, remedy: RegExp): Case => ({ name, args, code: 3, message, remedy });
const usage = (name: string, args: readonly string[], message: RegExp, remedy: RegExp = message): Case => ({
  name,
  args,
  code: 2,
  message,
  remedy,
});

refuses("stacks that are none: nothing there, nothing in it, one picture, no pictures", () => {
  mkdirSync(join(root, "stacks", "empty"));
  put(join(root, "stacks", "one", "a.png"), planes[0] as Uint8Array);
  put(join(root, "stacks", "text", "notes.txt"), "no picture");
  const at = (name: string): string => join(root, "stacks", name);
  return [
    usage("no stack", [], /missing required argument 'stack'/),
    input("an empty name", [""], /there is no such file or folder/, /check|name/),
    input("no such folder", [at("nowhere")], /nowhere: there is no such file or folder/, /check|name/),
    input("an empty folder", [at("empty")], /empty: no images in it/, /put JPEG, HEIC, PNG/),
    input("no pictures", [at("text")], /text: no images in it/, /put JPEG, HEIC, PNG/),
    input("one picture", [at("one")], /one: one image is not a focal stack/, /at least two images/),
    input("one file", [join(good, "a.png")], /a\.png: one image is not a focal stack/, /at least two images/),
    input("a file twice", [join(good, "a.png"), join(good, "a.png")], /a\.png: is given twice/, /\w/),
    input("a folder among files", [join(good, "a.png"), good], /is a folder, given together with other files/, /\w/),
    input("a missing file", [join(good, "a.png"), join(good, "z.png")], /z\.png: there is no such file/, /\w/),
  ];
});

refuses("files that are no pictures, or not whole", async () => {
  const random = createRandom(3);
  const noise = Uint8Array.from({ length: size.width * size.height * 3 }, () => random.integer(256));
  const jpeg = await sharp(noise, { raw: { ...size, channels: 3 } })
    .jpeg()
    .toBuffer();
  const tiff = encodeTiff([{ ...size, channels: 1, data: new Uint8Array(size.width * size.height).fill(9) }]);
  const [png] = planes as [Uint8Array];
  const spoilt = (name: string, file: string, content: Uint8Array | string): string => folderWith(name, { [file]: content });
  const remedy = /copy or export it again; if it is one of several/;
  return [
    input("text named .jpg", [spoilt("words", "d.jpg", "this is no picture")], /d\.jpg: not a readable image/, remedy),
    input("no bytes", [spoilt("zero", "d.jpg", "")], /d\.jpg: the file is empty/, remedy),
    input("half a JPEG", [spoilt("half jpeg", "d.jpg", jpeg.subarray(0, jpeg.length / 2))], /d\.jpg: not a readable image/, remedy),
    input("a JPEG's head", [spoilt("jpeg head", "d.jpg", jpeg.subarray(0, 20))], /d\.jpg: not a readable image/, remedy),
    input("half a PNG", [spoilt("half png", "b.png", png.subarray(0, png.length / 2))], /b\.png: not a readable image/, remedy),
    input("half a TIFF", [spoilt("half tiff", "d.tif", tiff.subarray(0, tiff.length / 2))], /d\.tif: not a readable TIFF/, remedy),
    input("a TIFF's head", [spoilt("tiff head", "d.tif", tiff.subarray(0, 8))], /d\.tif: not a readable TIFF/, remedy),
    input("random bytes", [spoilt("noise", "d.webp", noise.subarray(0, 999))], /d\.webp: not a readable image/, remedy),
    input("a HEIC without content", [spoilt("heic", "d.heic", "\0\0\0\u0018ftypheic")], /d\.heic: not a readable/, remedy),
    input("a raw file without content", [spoilt("raw", "d.raf", "FUJIFILMCCD-RAW 0201")], /d\.raf: not a readable raw file/, remedy),
    input("a bitmap without content", [spoilt("bmp", "d.bmp", `BM${"\0".repeat(30)}`)], /d\.bmp: not a readable BMP/, remedy),
  ];
});

refuses("links that lead nowhere or back to themselves", () => {
  const loop = folderWith("loop");
  symlinkSync("d.png", join(loop, "d.png"));
  const gone = folderWith("gone");
  symlinkSync("nowhere.png", join(gone, "d.png"));
  const circle = join(root, "stacks", "circle");
  symlinkSync(circle, circle);
  return [
    input("a circular link among the pictures", [loop], /d\.png: is a link that leads back to itself/, /\w/),
    input("a link to nothing", [gone], /d\.png: there is no such file/, /\w/),
    input("a circular link as the stack", [circle], /circle: .*(link|ELOOP|no such)/, /\w/),
  ];
});

refuses("pictures that do not belong together, or are too small or too large", async () => {
  const other = encodePng({ width: 80, height: 64, channels: 3, data: new Float32Array(80 * 64 * 3) });
  const upright = encodePng({ width: 64, height: 96, channels: 3, data: new Float32Array(96 * 64 * 3) });
  const grey = await sharp(Buffer.alloc(96 * 64 * 3, 90), { raw: { ...size, channels: 3 } })
    .jpeg()
    .toBuffer();
  const turned = jpegWithExif(grey, exifBlock({ main: [[0x0112, 3, [6]]] }));
  const flat = await sharp(Buffer.alloc(64 * 96 * 3, 90), { raw: { width: 64, height: 96, channels: 3 } })
    .jpeg()
    .toBuffer();
  const dots = join(root, "stacks", "dots");
  for (const name of ["a.png", "b.png"]) put(join(dots, name), encodePng({ width: 1, height: 1, channels: 3, data: new Float32Array(3) }));
  const strips = join(root, "stacks", "strips");
  for (const name of ["a.png", "b.png"])
    put(join(strips, name), encodePng({ width: 40_000, height: 8, channels: 1, data: new Float32Array(320_000) }));
  const huge = join(root, "stacks", "huge");
  for (const name of ["a.png", "b.png"]) put(join(huge, name), pngHead(30_000_000, 30_000));
  return [
    input("another size", [folderWith("sizes", { "d.png": other })], /a\.png is 96×64 but d\.png is 80×64/, /export all in one size/),
    input("upright among lying", [folderWith("sides", { "d.png": upright })], /a\.png is 96×64 but d\.png is 64×96/, /export all/),
    input("turned by EXIF", [folderWith("turned", { "d.jpg": turned, "e.jpg": flat })], /96×64 but e\.jpg is 64×96/, /export all/),
    input("one pixel", [dots], /a\.png: is only 1×1 pixels; a side needs at least 16/, /larger images/),
    input("40 000 pixels wide, 8 high", [strips], /a\.png: is only 40000×8 pixels/, /larger images/),
    input("a header that says 900 gigapixels", [huge], /huge: 30000000×30000 pixels need about/, /smaller size/),
  ];
});

refuses("numbers in a TIFF that are no brightness", () => {
  const page = (value: number): { width: number; height: number; channels: 1; data: Float32Array } => ({
    ...size,
    channels: 1,
    data: new Float32Array(size.width * size.height).fill(value),
  });
  const file = (name: string, values: readonly number[]): string => {
    put(join(root, "stacks", name), encodeTiff(values.map(page)));
    return join(root, "stacks", name);
  };
  return [
    input("NaN", [file("nan.tif", [0.5, NaN])], /nan\.tif: page 2 contains the value NaN/, /correct what the message names/),
    input("infinity", [file("inf.tif", [Infinity, 1])], /inf\.tif: page 1 contains the value Infinity/, /correct what the message names/),
    input("darkness", [file("black.tif", [0, 0])], /black\.tif: every image is black/, /\w/),
    input("one page", [file("single.tif", [0.5])], /single\.tif: one image is not a focal stack/, /at least two/),
  ];
});

refuses("focus distances that cannot be", () => {
  const given = (name: string, list: string, message: RegExp, ...more: string[]): Case =>
    input(name, [good, "--distances", list, ...more], message, /\w{4}/);
  put(join(root, "stacks", "list.txt"), "1\n2\nx\n");
  return [
    given("too few", "1,2", /good: 3 images but 2 focus distances\n/),
    given("too many", "1,2,3,4", /3 images but 4 focus distances/),
    given("negative", "1,2,-3", /c\.png: -3 m is not a focus distance/),
    input("zero", [good, "--distances", "0,1,2"], /a\.png: 0 m is not a focus distance/, /focus rail.*--distances 150mm\+0\.1mm/),
    given("equal", "1,2,2", /b\.png and c\.png have the same focus distance, 2 m/),
    given("words", "one,two,three", /“one” is not a focus distance/),
    given("an unknown unit", "1feet,2feet,3feet", /“1feet” is not a focus distance/),
    given("units that do not go together", "1m,2index,3m", /mix units/),
    given("none", "", /3 images but 0 focus distances|is not a focus distance|no focus distances/),
    given("a list that is not there", join(root, "no.csv"), /no\.csv: there is no such file/),
    given("a list with a word", join(root, "stacks", "list.txt"), /list\.txt: line 3: “x” is not a focus distance/),
    {
      name: "a unit alone",
      args: [good, "--unit", "mm"],
      code: 5,
      message: /no focus distances found/,
      remedy: /--distances or a stack\.json/,
    },
    usage("a unit nobody knows", [good, "--unit", "feet"], /'feet' is invalid. Allowed choices are m, cm, mm/),
  ];
});

refuses("a stack.json or list that is wrong", () => {
  const json = (name: string, content: unknown): string =>
    folderWith(name, { "stack.json": typeof content === "string" ? content : JSON.stringify(content) });
  const list = (name: string, text: string): string => folderWith(name, { "distances.csv": text });
  const remedy = /\w{4}/;
  return [
    input("no JSON", [json("syntax", "{")], /stack\.json: .*JSON/, remedy),
    input("an array", [json("array", [1, 2])], /stack\.json: .*expected/, remedy),
    input("a wrong unit", [json("unit", { unit: "feet", focus: [1, 2, 3] })], /stack\.json: .*unit/, remedy),
    input("words for numbers", [json("types", { unit: "m", focus: ["1", "2", "3"] })], /stack\.json: .*focus/, remedy),
    input("too few numbers", [json("short", { unit: "m", focus: [1] })], /3 images but 1 focus distances \(from stack\.json\)/, remedy),
    input(
      "files that are not there",
      [json("gone files", { unit: "m", focus: [1, 2], files: ["a.png", "z.png"] })],
      /names z\.png/,
      remedy,
    ),
    input("a camera of negative length", [json("camera", { unit: "m", focus: [1, 2, 3], camera: { focalLength: -1, fNumber: 2, pixelPitch: 1e-6 } })], /stack\.json: .*camera/, remedy), // prettier-ignore
    input("a JSON file that is not there", [join(good, "stack.json")], /stack\.json: there is no such file/, remedy),
    { name: "a list without a line", args: [list("unpaired", "a.png,1\nb.png,2\nx.png,3\n")], code: 5, message: /distances\.csv: has no line for c\.png/, remedy }, // prettier-ignore
    input(
      "two lists",
      [folderWith("lists", { "distances.csv": "1\n2\n3\n", "focus.txt": "1\n2\n3\n" })],
      /both look like lists/,
      /keep one/,
    ),
  ];
});

refuses("options nobody offers", () => {
  const small = readFileSync(join(models, "small.safetensors"));
  put(join(root, "stacks", "cut.safetensors"), small.subarray(0, small.length / 2));
  put(join(root, "stacks", "foreign.safetensors"), writeWeights(new Map([["x", { shape: [1], data: new Float32Array(1) }]]), { storage: "f32", metadata: {} })); // prettier-ignore
  put(join(root, "stacks", "text.safetensors"), "weights");
  put(join(root, "stacks", "align.json"), "{}");
  const alignment = { version: 1, width: 10, height: 10, reference: 0, frames: [{ transform: { scale: 1, angle: 0, shift: [0, 0] }, gain: [1], ok: true }] }; // prettier-ignore
  put(join(root, "stacks", "other.json"), JSON.stringify(alignment));
  const at = (name: string): string => join(root, "stacks", name);
  const model = /--model takes small, fine/;
  const align = /--align takes auto, off, or the alignment\.json/;
  return [
    usage("--save", [good, "--save", "depth,jpeg"], /"jpeg" is not one of depth16, depth/),
    usage("--save nothing", [good, "--save", ""], /"" is not one of depth16/),
    usage("--size words", [good, "--size", "big"], /whole number of pixels, 64 or more, full or auto/),
    usage("--size too small", [good, "--size", "10"], /64 or more/),
    usage("--threads", [good, "--threads", "two"], /whole number, 0 or more/),
    usage("--device", [good, "--device", "abacus"], /Allowed choices are auto, cpu, webgpu/),
    usage("an unknown option", [good, "--colour"], /unknown option '--colour'/),
    usage("--batch of two", [good, good, "--batch"], /--batch takes one folder, got 2/, /folder that holds the stacks/),
    input("--batch of a file", [join(good, "a.png"), "--batch"], /a\.png: is a file, not a folder/, /one sub-folder for each stack/),
    input("--batch without stacks", [good, "--batch"], /good: there are no folders in it/, /one sub-folder for each stack/),
    input("--model that is not there", [good, "--model", "huge"], /huge: there is no such file or folder/, /--model takes/),
    ...(existsSync(join(import.meta.dirname, "../../models/base.safetensors")) // restored from the history
      ? []
      : [
          input(
            "--model without weights",
            [good, "--model", "base"],
            /no weights of base are shipped/,
            /use small or fine, .* git show 41c6642:models\/base\.safetensors/,
          ),
        ]),
    input("--model, a folder", [good, "--model", good], /good: is a folder, not a file/, model),
    input("--model, cut", [good, "--model", at("cut.safetensors")], /cut\.safetensors: /, model),
    input(
      "--model of another program",
      [good, "--model", at("foreign.safetensors")],
      /foreign\.safetensors: .*not written by dualfocus/,
      model,
    ),
    input("--model, text", [good, "--model", at("text.safetensors")], /text\.safetensors: /, model),
    input("--align that is not there", [good, "--align", "on"], /on: there is no such file/, align),
    input("--align, another JSON", [good, "--align", at("align.json")], /align\.json: not a saved alignment/, align),
    input(
      "--align of another stack",
      [good, "--align", at("other.json")],
      /other\.json: .*1 planes of 10×10, the stack has 3 of 96×64/,
      align,
    ),
  ];
});

refuses("a truth that cannot be compared", () => {
  const at = (name: string, bytes: Uint8Array | string): string => {
    put(join(root, "stacks", name), bytes);
    return join(root, "stacks", name);
  };
  const npy = (width: number, height: number, value: number): Uint8Array =>
    encodeNpy({ shape: [height, width], data: new Float32Array(width * height).fill(value) });
  const colour = encodePngPixels({ ...size, channels: 3, data: new Uint8Array(size.width * size.height * 3) });
  const truth = (name: string, file: string, message: RegExp, remedy = /--truth takes npy, png/): Case =>
    input(name, [good, "--truth", file], message, remedy);
  return [
    truth("not there", join(root, "no.npy"), /no\.npy: (there is no such file|cannot)/),
    truth("a format nobody reads", at("truth.jpg", "x"), /truth\.jpg: depth is read from npy, png/),
    truth("not what its name says", at("words.npy", "words"), /words\.npy: /),
    truth("another size", at("small.npy", npy(9, 9, 1)), /small\.npy: 9×9, but the depth map is 96×64/, /size of the images/),
    truth("all unknown", at("unknown.npy", npy(96, 64, NaN)), /unknown\.npy: not one of its values is a known depth/),
    truth("a colour picture", at("colour.png", colour), /colour\.png: expected a grey image/),
  ];
});

refuses("frames of which no two can be aligned", () => {
  const folder = join(root, "stacks", "unrelated");
  ["a.png", "b.png", "c.png"].forEach((name, n) => {
    put(join(folder, name), encodePng(texture({ ...size, seed: 50 + n }))); // noise alone shows no focus change, which is no error
  });
  return [{ name: "unrelated", args: [folder], code: 4, message: /unrelated: only 1 of 3 frames could be aligned/, remedy: /--align off/ }];
});

refuses("places that cannot be written", () => {
  put(join(root, "file"), "in the way");
  put(join(root, "full", "mine.txt"), "mine");
  const circle = join(root, "circle");
  symlinkSync(circle, circle);
  return [
    usage("a file", [good, "-o", join(root, "file")], /file: is a file, not a folder/, /choose another folder/),
    usage("below a file", [good, "-o", join(root, "file", "below", "it")], /file/, /choose another (-o|folder)/),
    usage("a folder with content", [good, "-o", join(root, "full")], /full: the output folder is not empty/, /--force/),
    usage("too long a name", [good, "-o", join(root, "x".repeat(300))], /x: /, /choose another (-o|folder)/),
    usage("below a device", [good, "-o", "/dev/full/x"], /\/dev\/full/, /choose another (-o|folder)/),
    usage("a file system that is only read", [good, "-o", "/proc/depth"], /\/proc/, /choose another (-o|folder)/),
    usage("a link that leads back to itself", [good, "-o", join(circle, "x")], /circle/, /choose another (-o|folder)/),
  ];
});

test("a reader without room left ends the command with a message, not a stack trace", { skip: process.platform !== "linux" }, () => {
  const main = join(import.meta.dirname, "../../src/cli/main.ts");
  const full = openSync("/dev/full", "w");
  const { status, stderr } = spawnSync(process.execPath, [...process.execArgv, main, "depth", "--help"], {
    stdio: ["ignore", full, "pipe"],
    encoding: "utf8",
  });
  assert.equal(status, 1, stderr);
  assert.match(stderr, /^dualfocus: standard output: .*ENOSPC/);
  assert.doesNotMatch(stderr, /^ {4,}at /m);
});

/** A PNG that says its size and holds nothing else. */
function pngHead(width: number, height: number): Uint8Array {
  const whole = Uint8Array.from(planes[0] as Uint8Array).subarray(0, 60);
  const view = new DataView(whole.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  return whole;
}
