import type * as geotiffModule from "geotiff";
import { unpackLzw, unpackPackBits } from "./tiffUnpack.ts";

type Geotiff = typeof geotiffModule;

let loaded: Promise<Geotiff> | undefined;

/**
 * geotiff, with our own LZW and PackBits: its LZW never ends on some codes, and both collect what they unpack as a list, which ends the
 * process at a hundred million values.
 */
export function loadGeotiff(): Promise<Geotiff> {
  return (loaded ??= (async () => {
    const geotiff = await import("geotiff");
    const decoder = (unpack: typeof unpackLzw): typeof geotiff.BaseDecoder =>
      class extends geotiff.BaseDecoder {
        override decodeBlock(packed: ArrayBufferLike): ArrayBufferLike {
          return unpack(new Uint8Array(packed), blockBytes(this.parameters)).buffer;
        }
      };
    geotiff.addDecoder(5, () => Promise.resolve(decoder(unpackLzw)), blockParameters);
    geotiff.addDecoder(32773, () => Promise.resolve(decoder(unpackPackBits)), blockParameters);
    return geotiff;
  })());
}

type Parameters = InstanceType<Geotiff["BaseDecoder"]>["parameters"];

/** As geotiff finds them for its own decoders; a strip ends with the image, whatever its height is said to be. */
async function blockParameters(directory: geotiffModule.ImageFileDirectory): Promise<Parameters> {
  const isTiled = !directory.hasTag("StripOffsets");
  const [width, rows] = isTiled ? (["TileWidth", "TileLength"] as const) : (["ImageWidth", "RowsPerStrip"] as const);
  const height = Number(await directory.loadValue("ImageLength"));
  const stated = directory.hasTag(rows) ? Number(await directory.loadValue(rows)) || height : height;
  return {
    tileWidth: Number(await directory.loadValue(width)),
    tileHeight: isTiled ? stated : Math.min(stated, height),
    planarConfiguration: directory.hasTag("PlanarConfiguration") ? Number(await directory.loadValue("PlanarConfiguration")) : 1,
    bitsPerSample: (await directory.loadValue("BitsPerSample")) ?? 1,
    predictor: directory.hasTag("Predictor") ? Number(await directory.loadValue("Predictor")) || 1 : 1,
    samplesPerPixel: directory.hasTag("SamplesPerPixel") ? Number(await directory.loadValue("SamplesPerPixel")) : 1,
  };
}

/** Of the pixels of one strip or tile; a row may end within a byte. */
function blockBytes({ tileWidth, tileHeight, bitsPerSample, planarConfiguration, samplesPerPixel = 1 }: Parameters): number {
  const bits = typeof bitsPerSample === "number" ? [bitsPerSample] : Array.from(bitsPerSample, Number);
  const most = Math.max(...bits) * (planarConfiguration === 2 ? 1 : Math.max(samplesPerPixel, bits.length));
  return tileHeight * Math.ceil((tileWidth * most) / 8);
}
