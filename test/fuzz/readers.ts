import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { parseAlignment } from "../../src/align/alignment.ts";
import { openHdf5 } from "../../src/data/hdf5.ts";
import { readDepth } from "../../src/data/readDepth.ts";
import { readPhotoFacts } from "../../src/io/exif.ts";
import { decodeExr, encodeExr } from "../../src/io/exr.ts";
import { FormatError } from "../../src/io/formatError.ts";
import { imageHeader } from "../../src/io/imageHeader.ts";
import { decodeBmp } from "../../src/io/bmp.ts";
import { decodeHeic } from "../../src/io/heic.ts";
import { readHeifHeader } from "../../src/io/heif.ts";
import { embeddedJpeg, isRaw, largestRawSize } from "../../src/io/raw.ts";
import { decodeMat } from "../../src/io/mat.ts";
import { decodeNpy, encodeNpy } from "../../src/io/npy.ts";
import { decodePfm } from "../../src/io/pfm.ts";
import { photoMetadata } from "../../src/io/photoMetadata.ts";
import { decodePngPixels, encodePng, encodePngPixels } from "../../src/io/png.ts";
import { bytesToSrgb } from "../../src/io/profileColours.ts";
import { encodeSafetensors, readMetadata, readWeights, writeWeights } from "../../src/io/safetensors.ts";
import { decodeTiff, encodeTiff } from "../../src/io/tiff.ts";
import { memorySource } from "../../src/io/tiffDirectories.ts";
import { parseNetworkConfig, configs } from "../../src/model/config.ts";
import { parseScene } from "../../src/optics/scene/scene.ts";
import { checkFrame } from "../../src/serve/frames.ts";
import { DEFAULT_LIMITS } from "../../src/serve/limits.ts";
import { parseDistanceFile } from "../../src/stack/distanceList.ts";
import { diskFiles, readImage } from "../../src/stack/node/diskFiles.ts";
import { openStack } from "../../src/stack/node/openStack.ts";
import { readStack } from "../../src/stack/stackSource.ts";
import { imageJStack, omeStack } from "../../src/stack/omeTiff.ts";
import { complaintOf, describeFrames, frameCountOf } from "../../src/stack/node/ffmpegOutput.ts";
import { chooseSweep, type SweepFrame } from "../../src/stack/sweep.ts";
import { parseStackJson } from "../../src/stack/stackFormat.ts";
import { dngFile } from "../io/dngFile.ts";
import { exifBlock } from "../io/exifFiles.ts";
import { quadrants, ramp10 } from "../io/heifFiles.ts";
import { iccProfile } from "../io/iccFiles.ts";
import { mat5, writeHdf5 } from "../io/hdf5Files.ts";
import { greyPage, rawTiff } from "../io/hostileTiff.ts";
import { cr3File, rafFile } from "../io/rawLayouts.ts";
import { callAddon, hasAddon } from "./addonCalls.ts";
import { crc32 } from "../io/crc32.ts";

/** Something that takes bytes from strangers. */
export interface Reader {
  /** Good files to start from, small. */
  readonly seeds: () => Promise<readonly Uint8Array[]>;
  /** Reads the bytes as the file `file`, which its errors name. */
  readonly read: (bytes: Uint8Array<ArrayBuffer>, file: string) => unknown;
  /** Makes checksums right again, so that damage reaches what lies behind them. */
  readonly repair?: (bytes: Uint8Array) => void;
}

const examples = new URL("../../examples/", import.meta.url);
const example = (name: string): Uint8Array => readFileSync(new URL(name, examples));
const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const asText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const [width, height] = [20, 16];
const noise = Uint8Array.from({ length: width * height * 3 }, (_, i) => (i * 7919) % 251);
const picture = sharp(noise, { raw: { width, height, channels: 3 } });
const floats = Float32Array.from({ length: width * height }, (_, i) => 0.5 + (i % 17) / 17);

const pictures = async (): Promise<Uint8Array[]> =>
  Promise.all([
    ...[picture.clone().png(), picture.clone().png({ palette: true }), picture.clone().png({ progressive: true })],
    ...[picture.clone().greyscale().png(), picture.clone().toColourspace("rgb16").png()],
    ...[picture.clone().jpeg(), picture.clone().jpeg({ progressive: true }).withExif({ IFD0: { Orientation: "6" } })],
    ...[picture.clone().webp(), picture.clone().webp({ lossless: true }), picture.clone().avif({ effort: 0 })],
  ].map(async (image) => new Uint8Array(await image.toBuffer()))); // prettier-ignore

const ome = `<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0"><Pixels DimensionOrder="XYZCT"
 SizeZ="3" SizeC="1" SizeT="1" PhysicalSizeX="0.5" PhysicalSizeZ="2" PhysicalSizeZUnit="µm" SignificantBits="12"><TiffData FirstZ="0" IFD="0"
 PlaneCount="1"><UUID FileName="bytes.tif">urn:uuid:0</UUID></TiffData><TiffData FirstZ="1" IFD="1" PlaneCount="2"/><Plane TheZ="0" TheC="0" TheT="0"
 PositionZ="2.5" PositionZUnit="mm"/><Plane TheZ="1" TheC="0" TheT="0" PositionZ="3.5"/></Pixels></Image></OME>`;
const imageJ = "ImageJ=1.53t\nimages=3\nchannels=1\nslices=3\nunit=micron\nspacing=0.5\nloop=false\n";

const tiffs = async (): Promise<Uint8Array[]> => {
  const grey = { width, height, channels: 1 as const, data: Uint16Array.from(floats, (value) => value * 4000) };
  const made = [
    encodeTiff([{ ...grey, description: ome }, grey, grey]),
    encodeTiff([{ ...grey, description: imageJ }, grey, grey]),
    encodeTiff([{ ...grey, data: floats }]),
    rawTiff([[...greyPage({ width, height, at: 400 }), { tag: 330, type: 4, value: 8 + 2 + 12 * 10 + 4 }], greyPage({ width, height, at: 400 })], { after: 600 }), // prettier-ignore
    rawTiff([greyPage({ width, height, at: 400 })], { big: true, after: 600 }),
  ];
  const written = (["none", "lzw", "deflate", "packbits", "jpeg"] as const).flatMap((compression) =>
    [false, true].map((tile) => picture.clone().tiff({ compression, tile, tileWidth: 16, tileHeight: 16, predictor: "none" }).toBuffer()),
  );
  const others = [
    picture.clone().tiff({ compression: "lzw", predictor: "horizontal", bigtiff: true }).toBuffer(),
    picture.clone().greyscale().tiff({ compression: "none", bitdepth: 1 }).toBuffer(),
  ];
  return [...made, ...(await Promise.all([...written, ...others])).map((bytes) => new Uint8Array(bytes))];
};

const dng = (): Uint8Array => dngFile({ width: 32, height: 24, channels: 1, data: new Float32Array(768).fill(0.4) });

async function raws(): Promise<Uint8Array[]> {
  const jpeg = new Uint8Array(await picture.clone().jpeg().toBuffer());
  return [dng(), rafFile({ width, height }, jpeg), cr3File({ width, height }, jpeg)];
}

/** A bitmap as Windows writes it. */
function bmp(bits: 8 | 24): Uint8Array {
  const stride = Math.ceil((width * bits) / 32) * 4;
  const start = 54 + (bits === 8 ? 1024 : 0);
  const bytes = Buffer.alloc(start + stride * height, 90);
  bytes.write("BM");
  for (const [at, value] of [[2, bytes.length], [6, 0], [10, start], [14, 40], [18, width], [22, height], [30, 0], [34, 0]] as const) bytes.writeUInt32LE(value, at); // prettier-ignore
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(bits, 28);
  return new Uint8Array(bytes);
}

/** Grey frames as ffmpeg prints them, whose detail comes and goes. */
function sweepFrames(): Uint8Array {
  const [columns, rows] = [24, 18];
  const frames = Array.from({ length: 12 }, (_, n) => {
    const contrast = 100 * Math.exp(-(((n - 6) / 3) ** 2));
    return Buffer.from(Array.from({ length: columns * rows }, (_pixel, i) => 128 + (((i * 7919) % 251) / 251 - 0.5) * contrast));
  });
  return new Uint8Array(Buffer.concat(frames.flatMap((frame) => [Buffer.from(`P5\n${columns} ${rows}\n255\n`), frame])));
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 5000) yield await Promise.resolve(bytes.subarray(at, at + 5000));
}

const weights = new Map([
  ["encoder.weight", { shape: [2, 3, 3, 3], data: new Float32Array(54).fill(0.25) }],
  ["encoder.bias", { shape: [2], data: Float32Array.of(1, 2) }],
]);
const safetensors = (): Uint8Array[] => [
  ...(["f32", "f16", "int8"] as const).map((storage) => writeWeights(weights, { storage, metadata: { note: "a" } })),
  encodeSafetensors({ tensors: new Map([["a", { dtype: "I64", shape: [2], bytes: new Uint8Array(16) }]]), metadata: {} }),
];

/** Chunks end with a checksum over their type and data. */
function repairPng(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 8; at + 12 <= bytes.length;) {
    const length = view.getUint32(at);
    if (at + 12 + length > bytes.length) return;
    view.setUint32(at + 8 + length, crc32(bytes.subarray(at + 4, at + 8 + length)));
    at += 12 + length;
  }
}

const folder = await mkdtemp(join(tmpdir(), "dualfocus-fuzz-"));
process.on("exit", () => {
  rmQuietly(folder);
});

function rmQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // a test that is killed leaves it
  }
}

/** For readers of files: the bytes under this name. */
function onDisk(bytes: Uint8Array, name: string): string {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

async function readHdf5(file: string): Promise<void> {
  const opened = await openHdf5(file);
  try {
    for (const name of ["stack", "depth"]) if (opened.has(name)) opened.read(name);
  } finally {
    opened.close();
  }
}

/** Depth files by their first bytes. */
const ENDINGS: Readonly<Record<string, string>> = { "93": "npy", "89": "png", "49": "tif", "4d": "tif", "76": "exr", "50": "pfm" };

async function depthSeeds(): Promise<Uint8Array[]> {
  const pfm = Buffer.concat([Buffer.from(`Pf\n${width} ${height}\n-1.0\n`), new Uint8Array(floats.buffer)]);
  return [
    encodeNpy({ shape: [height, width], data: floats }),
    encodePng({ width, height, channels: 1, data: floats }, { depth: 16, text: { scale: "0.001", offset: "0.2", invalid: "0" } }),
    encodeTiff([{ width, height, channels: 1, data: floats }]),
    await encodeExr({ width, height, channels: { Z: floats } }),
    new Uint8Array(pfm),
  ];
}

export const READERS: Readonly<Record<string, Reader>> = {
  tiff: { seeds: tiffs, read: decodeTiff },
  stack: {
    // a multi-page TIFF as `dualfocus depth` opens it: directories, OME-XML, ImageJ, EXIF, distances, pixels
    seeds: async () => (await tiffs()).slice(0, 2),
    read: async (bytes) => {
      const file = onDisk(bytes, "bytes.tif");
      await readStack(await openStack(file));
    },
  },
  image: {
    seeds: async () => [...(await pictures()), ...(await tiffs()).slice(0, 1)],
    read: async (bytes) => {
      const file = onDisk(bytes, "bytes");
      const { width, height } = await diskFiles.probe(file);
      if (width * height < 1e6) await readImage(file);
    },
  },
  upload: {
    seeds: async () => [...(await pictures()), ...(await tiffs()), ...(await raws())],
    read: (bytes, file) => checkFrame(onDisk(bytes, file), { name: file, limits: DEFAULT_LIMITS }),
  },
  heif: { seeds: () => Promise.resolve([quadrants(), ramp10()]), read: readHeifHeader },
  heic: { seeds: () => Promise.resolve([quadrants(), ramp10()]), read: decodeHeic },
  raw: {
    seeds: raws,
    read: async (bytes, file) => {
      const size = largestRawSize(bytes);
      embeddedJpeg(bytes);
      const isTurn = bytes.length % 16 === 0; // LibRaw has a process for each file
      if (isTurn && isRaw(bytes) && size && size.width * size.height < 1e6) await readImage(onDisk(bytes, file));
    },
  },
  video: {
    // what ffmpeg prints; ffmpeg itself is not ours
    seeds: () => Promise.resolve([sweepFrames()]),
    read: async (bytes, file) => {
      const frames: SweepFrame[] = [];
      await describeFrames(piecesOf(bytes), { file, onFrame: (frame) => frames.push(frame) });
      const choice = chooseSweep(frames);
      if (choice?.frames.some((frame) => !(frame >= 0 && frame < frames.length))) throw new Error("frames that are not there were chosen");
    },
  },
  videoFacts: {
    seeds: () => Promise.resolve([text('{"programs": [], "streams": [{"avg_frame_rate": "30000/1001", "nb_frames": "68"}], "format": {"duration": "2.27"}}')]),
    read: (bytes, file) => {
      const count = frameCountOf(asText(bytes), file);
      if (!Number.isSafeInteger(count) || count < 0) throw new Error(`${count} frames`);
    },
  }, // prettier-ignore
  videoComplaints: {
    seeds: () => Promise.resolve([text("[mov,mp4 @ 0x55f9afc49800] moov atom not found\nfile:/home/me/a.mp4: Invalid data found\n")]),
    read: (bytes, file) => {
      throw new FormatError(`${file}: not a readable video: ${complaintOf(asText(bytes))}`);
    },
  },
  bmp: { seeds: () => Promise.resolve([bmp(24), bmp(8)]), read: decodeBmp },
  png: { seeds: async () => (await pictures()).slice(0, 5), read: decodePngPixels, repair: repairPng },
  header: { seeds: pictures, read: imageHeader },
  exif: { seeds: async () => [...(await pictures()), ...(await tiffs())], read: readPhotoFacts },
  metadata: {
    // what results take over, and what is made of it
    seeds: async () => [
      ...(await pictures()),
      ...(await tiffs()),
      encodeTiff([{ width: 4, height: 3, channels: 3, data: new Uint8Array(36), profile: iccProfile() }], {
        exif: exifBlock({ main: [[271, 2, "DualFocus"]], exif: [[0x920a, 5, [50, 1]]] }),
      }),
      encodePngPixels({ width: 4, height: 3, channels: 3, data: new Uint8Array(36), profile: iccProfile() }),
    ],
    read: async (bytes) => {
      const { exif, profile } = await photoMetadata(memorySource(bytes), { width: 4, height: 3, channels: 3 });
      if (profile) bytesToSrgb(new Uint8Array(36), profile);
      encodeTiff([{ width: 4, height: 3, channels: 3, data: new Uint8Array(36), profile }], { exif });
    },
  },
  exr: {
    seeds: async () => [
      await encodeExr({ width, height, channels: { Z: floats } }),
      await encodeExr({ width, height, channels: { R: floats, G: floats, B: floats } }, { precision: "f16" }),
    ],
    read: decodeExr,
  },
  hdf5: {
    seeds: async () => {
      const file = join(folder, "seed.h5");
      await writeHdf5(file, {
        stack: { shape: [2, 3, 4, 5], data: Float32Array.from({ length: 120 }, (_, i) => i) },
        depth: { shape: [4, 5], data: new Uint16Array(20) },
      });
      return [readFileSync(file)];
    },
    read: async (bytes, file) => readHdf5(onDisk(bytes, file)),
  },
  mat: {
    seeds: () => Promise.resolve([mat5({ a: [1, 2, 300] }), mat5({ a: [1, 2, 300], b: [4] }, { compressed: false })]),
    read: decodeMat,
  },
  npy: { seeds: () => Promise.resolve([encodeNpy({ shape: [4, 5], data: new Float32Array(20) }), example("desk/depth.npy").subarray(0, 4096)]), read: decodeNpy }, // prettier-ignore
  pfm: { seeds: async () => (await depthSeeds()).slice(-1), read: decodePfm },
  depth: {
    seeds: depthSeeds,
    read: async (bytes, file) => readDepth(onDisk(bytes, `${file}.${ENDINGS[(bytes[0] ?? 0).toString(16)] ?? "npy"}`), "depth"),
    repair: (bytes) => {
      if (bytes[0] === 0x89) repairPng(bytes);
    },
  },
  safetensors: {
    seeds: () => Promise.resolve(safetensors()),
    read: (bytes, file) => [readWeights(bytes, file), readMetadata(bytes, file)],
  },
  omeXml: { seeds: () => Promise.resolve([text(ome)]), read: (bytes, file) => omeStack(asText(bytes), { file, pages: 3 }) },
  imageJ: { seeds: () => Promise.resolve([text(imageJ)]), read: (bytes, file) => imageJStack(asText(bytes), { file, pages: 3 }) },
  distances: {
    seeds: () => Promise.resolve([text("file,distance_mm\nplane_0.png,500\nplane_1.png,650\n"), text("0.5 m\n0.65\ninf\n"), text("# a\n1\t2\n3\t4\n")]),
    read: (bytes, file) => parseDistanceFile(asText(bytes), file),
  }, // prettier-ignore
  stackJson: { seeds: () => Promise.resolve([example("desk/stack.json")]), read: (bytes, file) => parseStackJson(asText(bytes), file) },
  scene: { seeds: () => Promise.resolve([example("desk/scene.json")]), read: (bytes, file) => parseScene(asText(bytes), file) },
  network: {
    seeds: () => Promise.resolve([text(JSON.stringify(configs.small))]),
    read: (bytes, file) => parseNetworkConfig(asText(bytes), file),
  },
  alignment: {
    seeds: () => Promise.resolve([text(JSON.stringify({ version: 1, width: 20, height: 16, reference: 0, frames: [{ transform: [1, 0, 0, 0], gain: [1], ok: true }] }))]),
    read: (bytes, file) => parseAlignment(asText(bytes), file),
  }, // prettier-ignore
  ...(hasAddon ? { addon: { seeds: () => Promise.resolve([new Uint8Array(64)]), read: callAddon } } : {}),
};
