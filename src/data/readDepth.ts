import type { Size } from "../image/image.ts";
import { extname } from "node:path";
import { depthMap, type DepthMap, type Space } from "../image/depthMap.ts";
import { decodeExr, exrChannel } from "../io/exr.ts";
import { FormatError } from "../io/formatError.ts";
import { decodeNpy } from "../io/npy.ts";
import { decodePfm } from "../io/pfm.ts";
import { decodePngPixels } from "../io/png.ts";
import { decodeTiff } from "../io/tiff.ts";
import { readBytes } from "../stack/node/diskFiles.ts";

/** One number per pixel as stored; `integer` ones are millimetres in the field's depth files. */
interface StoredMap extends Size {
  readonly data: ArrayLike<number>;
  readonly integer: boolean;
  /** Units per step, where the file states them, and the value of step 0. */
  readonly scale?: number;
  readonly offset?: number;
  /** As `depth16.png` states it. */
  readonly unit?: string | undefined;
  /** The stored number that means an unknown value. */
  readonly invalid?: number;
}

/**
 * Reads npy, png, tif, exr (channel Z, Y or R) or pfm. Floats are in the unit of `space` (metres for depth and position); integers are millimetres
 * unless a PNG's text chunks `scale` and `offset` give the unit per step and the first value; `scale` overrides both. Depth is valid where finite and above 0, the others where finite.
 * Where depth is asked for, a PNG whose chunk `unit` says dioptres is converted, and one of plane indices or disparity is refused, unless `relative`.
 */
export async function readDepth(
  file: string,
  space: Space,
  { scale, relative = false }: { readonly scale?: number; readonly relative?: boolean } = {},
): Promise<DepthMap> {
  const stored = await readMap(file);
  if (stored.width * stored.height !== stored.data.length || stored.data.length === 0)
    throw new FormatError(`${file}: says ${stored.width}×${stored.height} pixels but holds ${stored.data.length} values`);
  const factor = scale ?? stored.scale ?? (stored.integer && (space === "depth" || space === "position") ? 0.001 : 1);
  const { offset = 0, invalid, unit } = scale === undefined ? stored : {};
  if (space === "depth" && !relative && (unit === "index" || unit === "disparity"))
    throw new FormatError(`${file}: holds ${unit === "index" ? "plane indices" : "disparity"}, but depth in metres is needed`);
  const isReciprocal = space === "depth" && unit === "dpt";
  const { width, height, data } = stored;
  const [values, valid] = [new Float32Array(data.length), new Uint8Array(data.length)];
  const least = space === "depth" ? 0 : -Infinity;
  // A plain loop: `from` with a function takes ten times as long, which a set of hundreds of pairs feels.
  for (let i = 0; i < data.length; i++) {
    const code = data[i] as number;
    const value = code === invalid ? NaN : code * factor + offset;
    values[i] = isReciprocal ? 1 / value : value;
    valid[i] = Number(Number.isFinite(values[i]) && (values[i] as number) > least);
  }
  return depthMap({ width, height, values, valid, space });
}

async function readMap(file: string): Promise<StoredMap> {
  const bytes = await readBytes(file);
  switch (extname(file).toLowerCase()) {
    case ".npy": {
      const { shape, data } = decodeNpy(bytes, file);
      const [height = 0, width = 0] = shape.filter((size) => size !== 1);
      if (width * height !== data.length) throw new FormatError(`${file}: expected one number per pixel, got [${shape.join(", ")}]`);
      return { width, height, data, integer: !(data instanceof Float32Array || data instanceof Float64Array) };
    }
    case ".png": {
      const { width, height, channels, data, text } = decodePngPixels(bytes, file);
      if (channels !== 1) throw new FormatError(`${file}: expected a grey image, got ${channels} channels`);
      const scale = Number(text.scale);
      const offset = Number(text.offset ?? 0);
      const invalid = text.invalid === undefined ? {} : { invalid: Number(text.invalid) };
      const coded = scale > 0 ? { scale, offset, unit: text.unit, ...invalid } : {};
      return { width, height, data, integer: true, ...coded };
    }
    case ".tif":
    case ".tiff": {
      const [page] = await decodeTiff(bytes, file);
      if (page?.channels !== 1) throw new FormatError(`${file}: expected one number per pixel`);
      return { ...page, integer: !(page.data instanceof Float32Array || page.data instanceof Float64Array) };
    }
    case ".exr": {
      const exr = await decodeExr(bytes, file);
      const name = ["Z", "Y"].find((channel) => exr.layers.some(({ channels }) => channel in channels)) ?? "R";
      return { width: exr.width, height: exr.height, data: exrChannel(exr, name, file), integer: false };
    }
    case ".pfm": {
      const pfm = decodePfm(bytes, file);
      if (pfm.channels !== 1) throw new FormatError(`${file}: expected one number per pixel, got a colour PFM`);
      return { ...pfm, integer: false };
    }
    default:
      throw new FormatError(`${file}: depth is read from npy, png, tif, exr or pfm`);
  }
}
