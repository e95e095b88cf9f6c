import type { GeoTIFFImage } from "geotiff";
import { createInflate } from "node:zlib";

import { DualFocusError } from "../errors.ts";
import { decoderReason } from "../io/formatError.ts";
import { tiffPages } from "../io/tiff.ts";
import type { ByteSource } from "../io/tiffDirectories.ts";
import { withTiff } from "../stack/node/diskFiles.ts";
import type { Limits } from "./limits.ts";
import { lzwLength, packBitsLength } from "../io/tiffUnpack.ts";
import { invalid, Problem, tooLarge } from "./problem.ts";

/** TIFF's codes of the accepted compressions: those whose result can be measured without keeping it. */
const COMPRESSIONS = { 1: "none", 5: "lzw", 8: "deflate", 32946: "deflate", 32773: "packbits" } as const;
type Compression = (typeof COMPRESSIONS)[keyof typeof COMPRESSIONS];

interface Checking {
  /** For people. */
  readonly name: string;
  readonly limits: Limits;
}

/**
 * Unlike in other formats, a TIFF's header does not bound what its data unpack to, nor its data what it asks to be read. Refuses too many
 * pages, too many pixels, strips that overlap, and strips that unpack to more than the header says. Nothing unpacked is kept.
 */
export async function checkTiff(file: string, { name, limits }: Checking): Promise<void> {
  try {
    await withTiff(file, async (tiff, bytes) => {
      let [pages, unread] = [0, bytes.size];
      for await (const page of tiffPages(tiff)) {
        if ((pages += 1) > 2 * limits.frames) throw tooLarge(`${name} has more than ${2 * limits.frames} pages`); // thumbnails included
        unread -= await checkPage(page, { bytes, name, limits, unread });
      }
    });
  } catch (cause) {
    throw cause instanceof Problem ? cause : damaged(name, cause);
  }
}

const damaged = (name: string, cause: unknown): Problem =>
  invalid(new DualFocusError("bad-file", `${name} is a damaged TIFF: ${decoderReason(cause)}`, { cause }));

interface PageCheck extends Checking {
  readonly bytes: ByteSource;
  /** Bytes of the file that no page before has claimed. */
  readonly unread: number;
}

/** Returns the bytes the page's pixels take in the file. */
async function checkPage(page: GeoTIFFImage, { bytes, name, limits, unread }: PageCheck): Promise<number> {
  const [width, height] = [page.getWidth(), page.getHeight()];
  if (!(width > 0 && height > 0)) throw damaged(name, new RangeError("a page has no size"));
  const block = page.getTileWidth() * page.getTileHeight();
  if (Math.max(width * height, block) > limits.pixels)
    throw tooLarge(`${name} has ${width}×${height} pixels; at most ${limits.pixels / 1e6} megapixels are accepted`);
  const tags = page.fileDirectory;
  const number = tags.hasTag("Compression") ? Number(await tags.loadValue("Compression")) : 1;
  const compression = COMPRESSIONS[number as keyof typeof COMPRESSIONS] as Compression | undefined;
  if (compression === undefined)
    throw new Problem("unsupported-type", {
      detail: `${name} is a TIFF with compression ${number}`,
      remedy: "save it with LZW, Deflate or no compression",
    });
  const samples = page.getSamplesPerPixel();
  const bits = Array.from({ length: samples }, (_, n) => page.getBitsPerSample(n)).reduce((sum, each) => sum + each, 0);
  const most = block * Math.ceil(bits / 8) + block; // a row may end within a byte
  const strips = await stripsOf(page);
  const claimed = strips.reduce((sum, { length }) => sum + length, 0);
  if (claimed > unread) throw damaged(name, new RangeError(`its strips claim ${claimed} bytes of ${unread}`));
  if (compression !== "none")
    for (const strip of strips)
      if ((await unpackedLength(bytes, { ...strip, compression, most })) > most)
        throw tooLarge(`${name} unpacks to more than its ${width}×${height} pixels`);
  return claimed;
}

interface Strip {
  readonly start: number;
  readonly length: number;
}

async function stripsOf({ fileDirectory: tags }: GeoTIFFImage): Promise<Strip[]> {
  const [start, length] = tags.hasTag("TileOffsets")
    ? (["TileOffsets", "TileByteCounts"] as const)
    : (["StripOffsets", "StripByteCounts"] as const);
  if (!tags.hasTag(start) || !tags.hasTag(length)) return [];
  const numbers = (value: unknown): number[] => (typeof value === "number" ? [value] : Array.from(value as ArrayLike<number>, Number));
  const [starts, lengths] = [numbers(await tags.loadValue(start)), numbers(await tags.loadValue(length))];
  return starts.map((at, n) => ({ start: at, length: lengths[n] ?? 0 }));
}

type Unpacking = Strip & { readonly compression: Exclude<Compression, "none">; readonly most: number };

/** What the strip unpacks to, or something more than `most` as soon as it is. */
async function unpackedLength(source: ByteSource, { start, length, compression, most }: Unpacking): Promise<number> {
  const bytes = await source.read(start, length);
  if (compression === "lzw") return lzwLength(bytes, most);
  if (compression === "packbits") return packBitsLength(bytes, most);
  return inflatedLength(bytes, most);
}

function inflatedLength(bytes: Uint8Array, most: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const inflate = createInflate();
    let total = 0;
    inflate.on("data", (chunk: Buffer) => {
      if ((total += chunk.length) <= most) return;
      inflate.destroy();
      resolve(total);
    });
    inflate.on("end", () => {
      resolve(total);
    });
    inflate.on("error", reject);
    inflate.end(bytes);
  });
}
