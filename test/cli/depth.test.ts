import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";
import type { DepthDocument } from "../../src/depth/node/stackRun.ts";
import { readDepth } from "../../src/data/readDepth.ts";
import { withJpegMetadata } from "../../src/io/jpegMetadata.ts";
import { decodeNpy, encodeNpy } from "../../src/io/npy.ts";
import { decodePng, decodePngPixels, encodePng, encodePngPixels, integers } from "../../src/io/png.ts";
import { decodeTiff, encodeTiff } from "../../src/io/tiff.ts";
import { cropImage } from "../../src/image/crop.ts";
import type { Image } from "../../src/image/image.ts";
import { OUTPUT_NAMES } from "../../src/output/outputs.ts";
import { put, temporaryFolder } from "../data/files.ts";
import { assertClose } from "../helpers/close.ts";
import { packageVersion } from "../../src/system/packageFolder.ts";
import { runCommand } from "../helpers/command.ts";
import { exifBlock } from "../io/exifFiles.ts";
import { slantedStack } from "../helpers/texturedStack.ts";

const root = temporaryFolder();
const macro = join(import.meta.dirname, "../../examples/macro");
const { stack, trueDepth } = slantedStack({ width: 96, height: 64, planes: 5 });

/** Planes in a folder, without distances unless given. */
function putPlanes(name: string, { depth = 8, focus }: { depth?: 8 | 16; focus?: object } = {}): string {
  const folder = join(root, name);
  stack.images.forEach((image, n) => {
    put(join(folder, `plane_${n}.png`), encodePng(image, { depth }));
  });
  if (focus) put(join(folder, "stack.json"), JSON.stringify(focus));
  return folder;
}

const metric = putPlanes("metric", { focus: { unit: "m", focus: stack.focusDistances } });
const unknown = putPlanes("unknown");
const truth = join(root, "truth.npy");
put(truth, encodeNpy({ shape: [64, 96], data: trueDepth.values }));

test("the shipped macro stack comes out within 3 % of its exact depth, in every default file", async (context) => {
  const output = join(root, "macro out");
  const { code, out, err } = await runCommand(context, "depth", macro, "-o", output, "--truth", join(macro, "depth.npy"), "--json");
  assert.equal(code, 0, err);
  const document = JSON.parse(out) as DepthDocument;
  assert.ok((document.errors?.absRel ?? 1) < 0.03, out);
  assert.equal(document.errors?.fit, undefined);
  assert.deepEqual([document.planes, document.width, document.height, document.unit], [6, 320, 240, "m"]);
  assert.deepEqual(document.distances[0], { file: join(macro, "plane_00.png"), value: 60, unit: "mm", source: "stack.json" });
  assert.deepEqual([document.model, document.device], ["small", "cpu"]);
  assert.deepEqual([document.version, document.fill, document.size], [packageVersion(), "on", "auto"]);
  const [least, greatest] = document.range ?? [NaN, NaN];
  assert.ok(document.focusChange && least >= 0.06 && greatest <= 0.0675 && least < greatest);
  const { nearer, farther } = document.beyond;
  assert.ok(nearer >= 0 && farther >= 0 && nearer + farther < 0.5, out);
  assert.ok(document.validFraction > 0.9 && (document.invalidFocusTrend ?? 1) < 0.05);
  assert.deepEqual(Object.keys(document.seconds), ["model", "load", "check", "align", "infer", "fill", "enlarge", "write", "total"]);
  const { total = 0, model = 0, ...stages } = document.seconds;
  assert.ok(model > 0 && Object.values(stages).reduce((sum, each) => sum + each, model) <= total + 0.01);
  assert.deepEqual(Object.keys(document.files), ["depth16", "depth", "color", "aif", "confidence", "alignment"]);
  for (const file of Object.values(document.files)) assert.ok(existsSync(file), file);
  const { files, ...written } = JSON.parse(readFileSync(join(output, "result.json"), "utf8")) as DepthDocument;
  assert.equal(files["depth16"], "depth16.png", "names in result.json do not depend on where the folder lies");
  assert.deepEqual({ ...written, files: document.files }, document);
  const [float] = await decodeTiff(readFileSync(join(output, "depth.tif")));
  const { values } = await readDepth(join(output, "depth16.png"), "depth", { relative: true });
  const known = Array.from(float?.data ?? []).findIndex(Number.isFinite);
  assert.ok(Math.abs((values[known] as number) - (float?.data[known] as number)) < 1e-5);
});

for (const name of ["desk", "breathing"])
  test(`the shipped ${name} stack comes out within 3 % of its exact depth, and the command says so`, async (context) => {
    const folder = join(import.meta.dirname, "../../examples", name);
    const { code, out, err } = await runCommand(context, "depth", folder, "-o", join(root, name), "--truth", join(folder, "depth.npy"));
    assert.equal(code, 0, err);
    const absRel = Number(/against the truth.*: absRel ([\d.]+),/.exec(out)?.[1]);
    assert.ok(absRel <= 0.03, out);
    assert.match(out, name === "desk" ? /^7 planes, 384×256; depth 0\.5\d* to 1\.\d+ m, ±/ : /fitted to 1 over it/);
  });

test("without distances depth is a plane index, and is called that", async (context) => {
  const { code, out, err } = await runCommand(context, "depth", unknown, "-o", join(root, "index"), "--truth", truth);
  assert.equal(code, 0, err);
  assert.match(out, /^5 planes, 96×64; depth [\d.]+ to [\d.]+ \(plane index\), ±[\d.]+ planes on average\n/);
  assert.match(out, /against the truth, after (0\.9|1\.0)\d* · plane index \+ \d\.\d+ was fitted to it: absRel 0\.0/, "planes 1 m apart");
  const document = JSON.parse(readFileSync(join(root, "index", "result.json"), "utf8")) as DepthDocument;
  assert.equal(document.unit, "index");
  assert.equal(document.distances[0]?.source, "file order");
});

test("progress and results keep apart: stages on stderr, the files on stdout", async (context) => {
  const loud = await runCommand(context, "depth", metric, "-o", join(root, "loud"), "--truth", truth);
  assert.equal(loud.code, 0, loud.err);
  for (const stage of ["read", "align", "check", "infer", "fill", "write"]) assert.match(loud.err, new RegExp(`^${stage}: done in`, "m"));
  assert.match(loud.out, /\n {2}\S+depth16\.png +depth, 16-bit; result\.json has scale and unit\n/);
  assert.match(loud.out, /\n {2}\S+result\.json +the same for programs.*\n$/);
  const absRel = Number(/against the truth: absRel ([\d.]+),/.exec(loud.out)?.[1]);
  assert.ok(absRel < 0.15, loud.out); // planes 1 m apart
  const quiet = await runCommand(context, "depth", metric, "-o", join(root, "quiet"), "--quiet", "--json");
  assert.equal(quiet.err, "");
  assert.equal((JSON.parse(quiet.out) as DepthDocument).errors, undefined);
});

test("--save writes what it lists and nothing else; every output can be had", async (context) => {
  const few = join(root, "few");
  const { code, err } = await runCommand(context, "depth", metric, "-o", few, "--save", "npy, aif", "--align", "off");
  assert.equal(code, 0, err);
  assert.deepEqual(readdirSync(few).sort(), ["aif.png", "depth.npy", "result.json"]);
  assert.deepEqual(decodeNpy(readFileSync(join(few, "depth.npy"))).shape, [64, 96]);
  const all = await runCommand(context, "depth", metric, "-o", join(root, "all"), "--save", OUTPUT_NAMES.join(","), "--json");
  assert.equal(all.code, 0, all.err);
  const { files, aligned } = JSON.parse(all.out) as DepthDocument;
  assert.deepEqual(Object.keys(files), [...OUTPUT_NAMES, "alignment"]);
  assert.equal((aligned as { mode: string }).mode, "auto");
});

test("--align off, and --align FILE with the alignment of an earlier run at another working size", async (context) => {
  const off = await runCommand(context, "depth", metric, "-o", join(root, "off"), "--align", "off", "--json");
  assert.deepEqual((JSON.parse(off.out) as DepthDocument).aligned, { mode: "off" });
  assert.equal(existsSync(join(root, "off", "alignment.json")), false);
  const first = await runCommand(context, "depth", macro, "-o", join(root, "first"), "--size", "160", "--save", "npy");
  assert.equal(first.code, 0, first.err);
  const file = join(root, "first", "alignment.json");
  assert.equal((JSON.parse(readFileSync(file, "utf8")) as { width: number }).width, 320, "in pixels of the files");
  const again = await runCommand(context, "depth", macro, "-o", join(root, "again"), "--align", file, "--save", "npy", "--json");
  assert.equal(again.code, 0, again.err);
  assert.equal(((JSON.parse(again.out) as DepthDocument).aligned as { mode: string }).mode, "file");
  assert.deepEqual(JSON.parse(readFileSync(join(root, "again", "alignment.json"), "utf8")), JSON.parse(readFileSync(file, "utf8")));
});

test("depth is carried into a plain area and the mask shows where, unless --fill off asks for it as measured", async (context) => {
  const folder = join(root, "wall");
  const isWall = (i: number): boolean => i % 96 >= 56;
  stack.images.forEach((image, n) => {
    const data = image.data.map((value, at) => (isWall(Math.floor(at / image.channels)) ? 0.5 : value));
    put(join(folder, `plane_${n}.png`), encodePng({ ...image, data }));
  });
  put(join(folder, "stack.json"), JSON.stringify({ unit: "m", focus: stack.focusDistances }));
  const roughness = async (...flags: string[]): Promise<{ document: DepthDocument; rough: number }> => {
    const output = join(root, `wall out${flags.join("")}`);
    const { code, out, err } = await runCommand(
      context,
      "depth",
      folder,
      "-o",
      output,
      "--align",
      "off",
      "--save",
      flags.length > 0 ? "npy" : "npy,filled",
      "--size",
      "96",
      "--json",
      ...flags,
    );
    assert.equal(code, 0, err);
    const { data } = decodeNpy(readFileSync(join(output, "depth.npy")));
    const steps = Array.from(data, (value, i) => (i % 96 >= 72 && i % 96 < 95 ? Math.abs(value - (data[i + 1] as number)) : 0));
    return { document: JSON.parse(out) as DepthDocument, rough: Math.max(...steps) };
  };
  const [raw, filled] = [await roughness("--fill", "off"), await roughness()];
  assert.deepEqual([raw.document.filled, raw.document.files["filled"]], [undefined, undefined]);
  const share = filled.document.filled ?? 0;
  assert.ok(share > 0.02 && share < 0.4, `${share}`); // 40 columns of 96, less what lies beside texture or is smooth as it is
  assert.ok(filled.rough < raw.rough, `steps of ${filled.rough} m, ${raw.rough} without`);
  const mask = decodePng(readFileSync(join(root, "wall out", "filled.png")));
  assert.equal(mask.data.filter((value) => value === 1).length / mask.data.length, share);
  const { out } = await runCommand(context, "depth", folder, "-o", join(root, "wall shown"), "--align", "off", "--size", "96");
  assert.match(out, /too little to measure in \d+ % of the image: depth filled in from its surroundings/);
  const neither = await runCommand(context, "depth", folder, "-o", join(root, "neither"), "--fill", "off", "--save", "npy,filled");
  assert.equal(neither.code, 2);
  assert.match(neither.err, /--save filled marks what was filled, but --fill off fills nothing/);
});

test("what not every aligned photo covers is unknown, not filled", async (context) => {
  const folder = join(root, "shifted");
  const [large] = stack.images as [Image];
  const [width, height] = [large.width - 12, large.height - 8];
  stack.images.forEach((image, n) => {
    put(join(folder, `plane_${n}.png`), encodePng(cropImage(image, { left: 3 * n, top: 2 * n, width, height })));
  });
  put(join(folder, "stack.json"), JSON.stringify({ unit: "m", focus: stack.focusDistances }));
  const { code, out, err } = await runCommand(context, "depth", folder, "-o", join(root, "shifted out"), "--save", "filled", "--json");
  assert.equal(code, 0, err);
  const { filled, validFraction } = JSON.parse(out) as DepthDocument;
  const mask = decodePng(readFileSync(join(root, "shifted out", "filled.png")));
  assert.ok(validFraction < 0.97, `${validFraction}`);
  assert.equal(mask.data.filter((value) => Math.round(255 * value) !== 64).length / mask.data.length, validFraction);
  assert.equal(mask.data.filter((value) => value === 1).length / mask.data.length, filled);
});

test("--distances and --unit go before stack.json, and turn a stack given far to near", async (context) => {
  const args = ["--distances", "500,400,300,200,100", "--unit", "mm", "--save", "npy", "--json"];
  const { code, out, err } = await runCommand(context, "depth", metric, "-o", join(root, "given"), ...args);
  assert.equal(code, 0, err);
  const { distances, range, unit } = JSON.parse(out) as DepthDocument;
  assert.deepEqual(distances.map(({ value }) => value), [100, 200, 300, 400, 500]); // prettier-ignore
  assert.ok(distances[0]?.file.endsWith("plane_4.png") && distances[0].source === "argument");
  assert.ok(unit === "m" && range && range[0] >= 0.1 && range[1] <= 0.5);
});

test("depth of a microscope's stack counts from its first plane, and zeroPosition gives the stage's own z back", async (context) => {
  const planes = stack.images.map((_, n) => `<Plane TheZ="${n}" TheC="0" TheT="0" PositionZ="${2 * n - 3000}" PositionZUnit="µm"/>`); // 2 µm apart
  const pixels = `<Pixels DimensionOrder="XYZCT" SizeZ="5" SizeC="1" SizeT="1" PhysicalSizeX="0.5"><TiffData/>${planes.join("")}</Pixels>`;
  const pages = stack.images.map((image, n) => ({
    ...image,
    data: integers(image.data, 16),
    ...(n === 0 ? { description: `<OME><Image>${pixels}</Image></OME>` } : {}),
  }));
  const [file, height] = [join(root, "cells.ome.tif"), join(root, "height.npy")];
  put(file, encodeTiff(pages));
  put(height, encodeNpy({ shape: [64, 96], data: trueDepth.values.map((plane) => 2e-6 * (plane - 1)) }));
  const { code, out, err } = await runCommand(
    context,
    "depth",
    file,
    "-o",
    join(root, "cells"),
    "--truth",
    height,
    "--save",
    "npy",
    "--json",
  );
  assert.equal(code, 0, err);
  const { unit, range, zeroPosition, distances, errors } = JSON.parse(out) as DepthDocument;
  assertClose([zeroPosition ?? 0], [-3e-3], 1e-9);
  assert.deepEqual([unit, distances.map(({ value }) => Math.round(value))], ["m", [-3000, -2998, -2996, -2994, -2992]]);
  assert.ok(range && range[0] >= 0 && range[1] <= 8e-6, `${range?.join(" to ")} m`);
  assert.ok((errors?.rmse ?? 1) < 0.1 * 2e-6, `RMSE ${errors?.rmse} m`);
  assert.equal(errors?.absRel, null, "no ratio to a depth whose zero is arbitrary");
});

test("pictures larger than the working size give maps in full size, 16 bits kept to the end", async (context) => {
  const deep = putPlanes("deep", { depth: 16 });
  const output = join(root, "deep out");
  const { code, err } = await runCommand(context, "depth", deep, "-o", output, "--size", "64", "--save", "aif,depth16,index");
  assert.equal(code, 0, err);
  assert.match(err, /^enlarge: done in/m);
  const { data } = decodePngPixels(readFileSync(join(output, "aif.png")));
  assert.ok(data instanceof Uint16Array && data.some((value) => value % 257 !== 0), "more than 8 bits spread over 16");
  assert.equal((await sharp(join(output, "depth16.png")).metadata()).width, 96);
  const sharpPicture = decodePng(readFileSync(join(deep, "plane_2.png")));
  const blended = decodePng(readFileSync(join(output, "aif.png")));
  const middle = (32 * 96 + 48) * 3;
  assert.ok(Math.abs((blended.data[middle] as number) - (sharpPicture.data[middle] as number)) < 0.1);
});

test("photos in Display P3, turned by their camera, of 8 or 16 bits: the all-in-focus image looks as they do and keeps EXIF, in every format", async (context) => {
  const p3 = (await sharp(await sharp(Buffer.alloc(3), { raw: { width: 1, height: 1, channels: 3 } }).withIccProfile("p3").png().toBuffer()).metadata()).icc; // prettier-ignore
  const exif = exifBlock({ main: [[271, 2, "DualFocus"], [274, 3, [6]]] }); // prettier-ignore
  for (const [format, depth] of [
    ["jpeg", "uchar"],
    ["png", "ushort"],
  ] as const) {
    // prettier-ignore
    const folder = join(root, `p3 ${format}`);
    for (const [n, { width, height, data }] of stack.images.entries()) {
      const tinted = data.map((value, i) => value * ([1, 0.35, 0.5][i % 3] as number)); // saturated, so that the profile matters
      const image = { width, height, channels: 3 as const, data: tinted };
      const plain = await sharp(encodePng(image)).jpeg({ quality: 95, chromaSubsampling: "4:4:4" }).toBuffer();
      const metadata = { exif, profile: p3 };
      const file = format === "png" ? encodePng(image, { depth: 16, ...metadata }) : withJpegMetadata(plain, metadata);
      put(join(folder, `${n}.${format}`), file);
    }
    const output = `${folder} out`;
    const { code, err } = await runCommand(context, "depth", folder, "-o", output, "--align", "off", "--save", "aif,aifTiff,aifJpeg");
    assert.equal(code, 0, err);
    const first = readFileSync(join(folder, `0.${format}`));
    const wanted = await meanColour(first);
    const [inP3] = await meanColour(first, { ignoreIcc: true });
    assert.ok(Math.abs((wanted[0] as number) - (inP3 as number)) > 6, "taken for sRGB, it would look different");
    for (const name of ["aif.png", "aif.tif", "aif.jpg"]) {
      const bytes = readFileSync(join(output, name));
      const metadata = await sharp(bytes).metadata();
      assert.deepEqual([metadata.width, metadata.height, metadata.depth], [64, 96, name === "aif.jpg" ? "uchar" : depth], name);
      assert.deepEqual(metadata.icc, (await sharp(first).metadata()).icc, `the profile of ${name}`);
      assert.ok(bytes.includes("DualFocus"), `EXIF of ${name}`);
      assert.equal(metadata.orientation, 1, name);
      const found = await meanColour(bytes);
      for (const [c, value] of found.entries())
        assert.ok(Math.abs(value - (wanted[c] as number)) < 2, `${name}: ${found.join()} instead of ${wanted.join()}`);
    }
  }
});

/** In sRGB, by Little CMS, which libvips does not ask for files of 16 bits: the same numbers with the same profile in 8. */
async function meanColour(bytes: Uint8Array, { ignoreIcc = false } = {}): Promise<number[]> {
  const { icc } = await sharp(bytes).metadata();
  const { data, info } = await sharp(bytes, { ignoreIcc: true }).toColourspace("srgb").raw().toBuffer({ resolveWithObject: true });
  const file = encodePngPixels({ width: info.width, height: info.height, channels: 3, data: new Uint8Array(data), profile: icc });
  const shown = await sharp(file, { ignoreIcc }).toColourspace("srgb").raw().toBuffer();
  return [0, 1, 2].map((c) => shown.reduce((sum, value, i) => sum + (i % 3 === c ? value : 0), 0) / (shown.length / 3));
}

test("what the stack check finds is printed on stderr and kept in the document", async (context) => {
  const folder = putPlanes("blank");
  put(join(folder, "plane_2.png"), encodePng({ width: 96, height: 64, channels: 3, data: new Float32Array(96 * 64 * 3) }));
  const { code, out, err } = await runCommand(context, "depth", folder, "-o", join(root, "blank out"), "--json");
  assert.equal(code, 0, err);
  assert.match(err, /^warning: plane_2\.png is blank \(black\)\n {2}\w/m);
  const { findings, planes, aligned } = JSON.parse(out) as DepthDocument;
  assert.ok(findings.some(({ code: kind, file }) => kind === "blank-frame" && file === "plane_2.png"));
  assert.equal(planes, 4, "a frame that cannot be aligned is left out");
  assert.deepEqual((aligned as { leftOut: { plane: number }[] }).leftOut.map(({ plane }) => plane), [2]); // prettier-ignore
});

test("an output folder that holds something is refused, and with --force its other files stay", async (context) => {
  const output = join(root, "taken");
  put(join(output, "mine.txt"), "mine");
  const refused = await runCommand(context, "depth", metric, "-o", output);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /taken: the output folder is not empty\n {2}choose another -o, or add --force/);
  const forced = await runCommand(context, "depth", metric, "-o", output, "--force", "--save", "npy", "--align", "off");
  assert.equal(forced.code, 0, forced.err);
  assert.deepEqual(readdirSync(output).sort(), ["depth.npy", "mine.txt", "result.json"]);
});

test("names with spaces and letters of other scripts go through", async (context) => {
  const folder = join(root, "Käfer 甲虫");
  mkdirSync(folder);
  stack.images.forEach((image, n) => {
    put(join(folder, `Bild ${n} ü.png`), encodePng(image));
  });
  const output = join(root, "Tiefe 深さ");
  const { code, err } = await runCommand(context, "depth", folder, "-o", output, "--save", "depth16", "--quiet");
  assert.equal(code, 0, err);
  assert.ok(existsSync(join(output, "depth16.png")));
});
