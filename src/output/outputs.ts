import type { Size } from "../image/image.ts";
import { encodeExr } from "../io/exr.ts";
import { withJpegMetadata } from "../io/jpegMetadata.ts";
import { encodeNpy } from "../io/npy.ts";
import { compressPngPixels, encodePngPixels, integers, pngPixels, type PngPixels } from "../io/png.ts";
import type { Deflate } from "../io/pngWriter.ts";
import { encodeTiff } from "../io/tiff.ts";
import { canvasJpeg } from "./canvasJpeg.ts";
import { drawColorPicture } from "./colorPicture.ts";
import type { ColorMap } from "./colorMap.ts";
import { depth16Pixels } from "./depthCode.ts";
import { encodeMesh, encodePoints } from "./model.ts";
import type { MeshOptions } from "./model.ts";
import { describeProjection, projectionOf } from "./projection.ts";
import { isKnown, valuesOrNaN } from "./result.ts";
import type { DepthResult } from "./result.ts";
import { doubtfulPixels, LEAST_CONFIDENCE, vouchedOnly } from "./trust.ts";

/** The outputs and their file names. */
export const OUTPUT_FILES = {
  depth16: "depth16.png",
  depth: "depth.tif",
  exr: "depth.exr",
  npy: "depth.npy",
  color: "color.png",
  aif: "aif.png",
  aifTiff: "aif.tif",
  aifJpeg: "aif.jpg",
  confidence: "confidence.png",
  error: "error.tif",
  beyond: "beyond.png",
  filled: "filled.png",
  index: "index.png",
  ply: "points.ply",
  glb: "mesh.glb",
  probability: "probability.npy",
} as const;

export type OutputName = keyof typeof OUTPUT_FILES;
export const OUTPUT_NAMES = Object.keys(OUTPUT_FILES) as readonly OutputName[];
export const DEFAULT_OUTPUTS: readonly OutputName[] = ["depth16", "depth", "color", "aif", "confidence"];

export interface OutputFile {
  readonly name: OutputName;
  readonly file: string;
  readonly bytes: Uint8Array;
  /** The meaning of the stored numbers, for result.json. */
  readonly encoding: Readonly<Record<string, string | number>>;
}

export interface OutputOptions {
  readonly colorMap?: ColorMap;
  /** Exchanges the colours of near and far. */
  readonly flipColors?: boolean;
  /** Whether the coloured depth map has a legend below it. Default: true. */
  readonly legend?: boolean;
  /** Whether it fades and hatches depth below `leastConfidence`. Default: false. */
  readonly hatch?: boolean;
  readonly mesh?: MeshOptions;
  /** Points and surfaces leave out depth of less confidence; 0 keeps everything. Default: `LEAST_CONFIDENCE`. */
  readonly leastConfidence?: number;
  /** The compressor for PNG files; the next file is encoded meanwhile. Default: one that runs everywhere. */
  readonly deflate?: Deflate;
  /** Encodes pixels of 8 bits as JPEG. Default: the browser's encoder; elsewhere there is none. */
  readonly jpeg?: EncodeJpeg;
}

export type EncodeJpeg = (pixels: Size & { readonly channels: 1 | 3; readonly data: Uint8Array }) => Promise<Uint8Array>;

/** What an output needs besides the depth map. */
const NEEDS: Readonly<Partial<Record<OutputName, keyof DepthResult>>> = {
  aif: "allInFocus",
  aifTiff: "allInFocus",
  aifJpeg: "allInFocus",
  confidence: "confidence",
  error: "error",
  beyond: "beyond",
  filled: "filled",
  index: "planeIndex",
  probability: "probability",
};

/** The outputs that this result has the data for. Does not read it: a map may be computed when it is first read. */
export function availableOutputs(result: DepthResult, { jpeg = canvasJpeg }: Pick<OutputOptions, "jpeg"> = {}): OutputName[] {
  return OUTPUT_NAMES.filter((name) => (NEEDS[name] ?? "depth") in result && (name !== "aifJpeg" || jpeg !== undefined));
}

/** Encodes one file after the other, and the next while one is compressed, so that at most two are in memory. A mesh without triangles is left out. */
export async function* encodeOutputs(
  result: DepthResult,
  names: readonly OutputName[],
  options: OutputOptions = {},
): AsyncGenerator<OutputFile> {
  const available = availableOutputs(result, options);
  const absent = names.find((name) => !available.includes(name));
  if (absent === "aifJpeg" && "allInFocus" in result) throw new RangeError("encodeOutputs: aifJpeg needs the option jpeg outside browsers");
  if (absent !== undefined) throw new RangeError(`encodeOutputs: the result has no data for the output ${absent}`);
  let next = encodeOutput(result, names[0], options);
  for (const name of names.slice(1)) {
    const current = next;
    next = encodeOutput(result, name, options);
    next.catch(() => undefined); // reported when its turn comes, if it comes
    const file = await current;
    if (file) yield file;
  }
  const last = await next;
  if (last) yield last;
}

async function encodeOutput(result: DepthResult, name: OutputName | undefined, options: OutputOptions): Promise<OutputFile | undefined> {
  const encoded = name && (await ENCODERS[name](result, options));
  if (!encoded) return undefined;
  const { encoding, ...content } = encoded;
  return { name, file: OUTPUT_FILES[name], bytes: "png" in content ? await encodePicture(content, options) : content.bytes, encoding };
}

const encodePicture = async ({ png, content }: Picture, { deflate }: OutputOptions): Promise<Uint8Array> =>
  deflate ? compressPngPixels(png, deflate, content) : encodePngPixels(png);

/** Far enough apart to distinguish by eye. */
const BEYOND = { nearer: 128, farther: 255 } as const;

/** What is measured is black; what is unknown is neither black nor white. */
const FILLED = { measured: 0, unknown: 64, filled: 255 } as const;

/** Pixels that become a PNG file. */
interface Picture {
  readonly png: Omit<PngPixels, "text"> & Partial<PngPixels>;
  readonly content?: "photo";
}

type Encoded = Pick<OutputFile, "encoding"> & (Pick<OutputFile, "bytes"> | Picture);
type Encoder = (result: DepthResult, options: OutputOptions) => Encoded | undefined | Promise<Encoded | undefined>;

const ENCODERS: Readonly<Record<OutputName, Encoder>> = {
  depth16: ({ depth, unit }) => {
    const { png, code } = depth16Pixels(depth, unit);
    return { png, encoding: { ...code, unit, invalid: 0 } };
  },
  depth: ({ depth, unit }) => {
    const description = `dualfocus depth; unit ${unit}; NaN is unknown`;
    const page = { width: depth.width, height: depth.height, channels: 1 as const, data: valuesOrNaN(depth), description };
    return { bytes: encodeTiff([page]), encoding: { unit, invalid: "NaN" } };
  },
  // Z is OpenEXR's name for depth; Y lets image viewers show it.
  exr: async ({ depth, unit }) => {
    const values = valuesOrNaN(depth);
    const bytes = await encodeExr({ width: depth.width, height: depth.height, channels: { Y: values, Z: values } });
    return { bytes, encoding: { unit, invalid: "NaN" } };
  },
  npy: ({ depth, unit }) => ({
    bytes: encodeNpy({ shape: [depth.height, depth.width], data: valuesOrNaN(depth) }),
    encoding: { unit, invalid: "NaN" },
  }),
  color: (result, { colorMap = "turbo", flipColors = false, legend = true, hatch = false, leastConfidence = LEAST_CONFIDENCE }) => {
    const hatched = hatch ? { hatched: doubtfulPixels(result, leastConfidence) } : {};
    return {
      png: { channels: 3, ...drawColorPicture(result, { map: colorMap, flip: flipColors, legend, ...hatched }) },
      encoding: {
        colorMap,
        ...(flipColors ? { flipped: "yes" } : {}),
        ...(hatch ? { hatchedBelow: leastConfidence } : {}),
        invalid: "black",
        legend: legend ? "below the image" : "none",
      },
    };
  },
  aif: ({ allInFocus, bits = 8, exif, profile }) =>
    allInFocus && {
      png: pngPixels(allInFocus, { depth: bits, exif, profile }),
      ...(bits === 8 ? { content: "photo" } : {}),
      encoding: { bits },
    },
  aifTiff: ({ allInFocus, bits = 8, exif, profile }) =>
    allInFocus && {
      bytes: encodeTiff([{ ...allInFocus, data: integers(allInFocus.data, bits), profile }], { exif }),
      encoding: { bits },
    },
  aifJpeg: encodeJpegImage,
  confidence: ({ depth, confidence }) => {
    if (!confidence) return undefined;
    const data = new Float32Array(confidence.length);
    for (let pixel = 0; pixel < data.length; pixel++) if (isKnown(depth, pixel)) data[pixel] = confidence[pixel] as number;
    const text = { meaning: "65535 is certain, 0 is unknown" };
    const png = pngPixels({ width: depth.width, height: depth.height, channels: 1, data }, { depth: 16, text });
    return { png, encoding: { scale: 1 / 65535, offset: 0, invalid: 0 } };
  },
  error: ({ depth, unit, error }) => {
    if (!error) return undefined;
    const data = error.map((value, pixel) => (isKnown(depth, pixel) ? value : NaN));
    const description = `dualfocus expected error of the depth; unit ${unit}; NaN is unknown`;
    const page = { width: depth.width, height: depth.height, channels: 1 as const, data, description };
    return { bytes: encodeTiff([page]), encoding: { unit, invalid: "NaN", within: 0.68 } };
  },
  beyond: ({ depth, beyond }) => {
    if (!beyond) return undefined;
    const data = Uint8Array.from(beyond, (side, pixel) =>
      !isKnown(depth, pixel) || side === 0 ? 0 : BEYOND[side < 0 ? "nearer" : "farther"],
    );
    const text = { meaning: `${BEYOND.nearer} is the first plane or nearer, ${BEYOND.farther} the last or farther, 0 neither` };
    return {
      png: { width: depth.width, height: depth.height, channels: 1, data, text },
      encoding: { ...BEYOND, neither: 0 },
    };
  },
  filled: ({ depth, filled }) => {
    if (!filled) return undefined;
    const data = Uint8Array.from(filled, (is, pixel) => FILLED[!isKnown(depth, pixel) ? "unknown" : is ? "filled" : "measured"]);
    const meaning = `${FILLED.filled}: more than half of the depth is filled in from its surroundings; ${FILLED.measured}: half or less; ${FILLED.unknown}: unknown`;
    return {
      png: { width: depth.width, height: depth.height, channels: 1, data, text: { meaning } },
      encoding: { ...FILLED, meaning },
    };
  },
  index: encodeIndex,
  ply: (result, { leastConfidence = LEAST_CONFIDENCE }) => ({
    bytes: encodePoints(vouchedOnly(result, leastConfidence)),
    encoding: { projection: describeProjection(projectionOf(result)), leastConfidence },
  }),
  glb: (result, { mesh, leastConfidence = LEAST_CONFIDENCE }) => {
    const bytes = encodeMesh(vouchedOnly(result, leastConfidence), mesh);
    return bytes && { bytes, encoding: { projection: describeProjection(projectionOf(result)), leastConfidence } };
  },
  probability: ({ probability }) =>
    probability && {
      bytes: encodeNpy({ shape: [probability.planes, probability.height, probability.width], data: probability.data }),
      encoding: { order: "plane, row, column" },
    },
};

async function encodeJpegImage(
  { allInFocus, exif, profile }: DepthResult,
  { jpeg = canvasJpeg }: OutputOptions,
): Promise<Encoded | undefined> {
  if (!allInFocus || !jpeg) return undefined;
  const bytes = await jpeg({ ...allInFocus, data: integers(allInFocus.data, 8) as Uint8Array });
  return { bytes: withJpegMetadata(bytes, { exif, profile }), encoding: { bits: 8 } };
}

/** Plane indices from 1, near to far, in 8 or 16 bits; 0 where depth is unknown. */
function encodeIndex({ depth, planeIndex }: DepthResult): Encoded | undefined {
  if (!planeIndex) return undefined;
  let largest = 0;
  for (const plane of planeIndex) if (plane > largest) largest = plane;
  const data = largest < 255 ? new Uint8Array(planeIndex.length) : new Uint16Array(planeIndex.length);
  for (let pixel = 0; pixel < data.length; pixel++) data[pixel] = isKnown(depth, pixel) ? (planeIndex[pixel] as number) + 1 : 0;
  const text = { meaning: "image focused nearest to the depth, 1 is the nearest of the stack, 0 is unknown" };
  return {
    png: { width: depth.width, height: depth.height, channels: 1, data, text },
    encoding: { first: 1, invalid: 0 },
  };
}
