import type { Size } from "../image/image.ts";
import { decodingAsync, FormatError } from "./formatError.ts";

/** One image of an OpenEXR file: each channel by name, row by row. Half floats are widened. */
interface ExrLayer {
  readonly name: string | null;
  readonly channels: Readonly<Record<string, Float32Array>>;
}

interface ExrFile extends Size {
  readonly layers: readonly ExrLayer[];
}

/** Reads every channel of every layer, half or float, any compression but B44 and DWA. */
export async function decodeExr(bytes: Uint8Array, file = "EXR data"): Promise<ExrFile> {
  const exrs = await import("exrs"); // WebAssembly; loaded only when EXR is read
  await exrs.init();
  return decodingAsync({ file, format: "OpenEXR" }, () => {
    checkExrSizes(bytes);
    const { width, height, layers } = withoutTraces(() => exrs.decodeExr(bytes));
    const read = layers.map((layer) => ({
      name: layer.name,
      channels: Object.fromEntries(
        layer.channelNamesAlphabetical.map((name) => [name, layer.getInterleavedPixels([name]) ?? new Float32Array(0)]),
      ),
    }));
    return Promise.resolve({ width, height, layers: read });
  });
}

const MULTI_PART = 0x1000;
const PIXEL_BYTES = [4, 2, 4]; // UINT, HALF, FLOAT
/** The highest ratios of no compression, RLE, ZIPS and ZIP; of the others, one that means a damaged header. */
const MAX_RATIO = [1, 64, 1033, 1033];
const ANY_RATIO = 5000;

/** Refuses attributes that the file does not have, and images that its data cannot unpack to: the decoder makes room for them first. */
function checkExrSizes(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length < 12 || view.getUint32(0) !== 0x762f3101) throw new RangeError("its first bytes are not those of the format");
  const isMultiPart = (view.getUint32(4, true) & MULTI_PART) !== 0;
  for (let at = 8; at < bytes.length && bytes[at] !== 0; at = isMultiPart ? at : bytes.length) {
    const attributes = new Map<string, { start: number; size: number }>();
    while (bytes[at] !== 0) {
      const typeAt = textEnd(bytes, at);
      const sizeAt = textEnd(bytes, typeAt);
      if (sizeAt + 4 > bytes.length) throw new RangeError("it is truncated within its header");
      const [name, size, start] = [textAt(bytes, at), view.getInt32(sizeAt, true), sizeAt + 4];
      if (size < 0 || size > bytes.length - start) throw new RangeError(`${name} claims ${size} bytes, the file has ${bytes.length}`);
      attributes.set(name, { start, size });
      at = start + size;
    }
    at += 1;
    checkExrPart(view, attributes);
  }
}

type Attributes = ReadonlyMap<string, { readonly start: number; readonly size: number }>;

function checkExrPart(view: DataView, attributes: Attributes): void {
  const place = (name: string, size: number): number => {
    const found = attributes.get(name);
    if (!found || found.size < size) throw new RangeError(`it has no ${name}`);
    return found.start;
  };
  const window = place("dataWindow", 16);
  const corner = (n: number): number => view.getInt32(window + 4 * n, true);
  const [width, height] = [corner(2) - corner(0) + 1, corner(3) - corner(1) + 1];
  const ratio = MAX_RATIO[view.getUint8(place("compression", 1))] ?? ANY_RATIO;
  const pixelBytes = channelBytes(view, { start: place("channels", 1), size: attributes.get("channels")?.size ?? 0 });
  if (!(width > 0 && height > 0) || width * height * pixelBytes > ratio * view.byteLength)
    throw new RangeError(`an image of ${width}×${height} does not fit into a file of ${view.byteLength} bytes`);
}

/** Bytes of a pixel over all channels. */
function channelBytes(view: DataView, { start, size }: { start: number; size: number }): number {
  const list = new Uint8Array(view.buffer, view.byteOffset + start, size);
  let sum = 0;
  for (let at = 0; at < size && list[at] !== 0;) {
    const channel = textEnd(list, at);
    if (channel + 16 > size) throw new RangeError("its list of channels is truncated");
    const number = (n: number): number => view.getInt32(start + channel + 4 * n, true);
    const sampling = number(2) * number(3);
    if (!(sampling > 0)) throw new RangeError("one of its channels has no pixels");
    sum += (PIXEL_BYTES[number(0)] ?? 4) / sampling;
    at = channel + 16;
  }
  return sum;
}

/** Where the text that begins at `from` is over, its mark of the end included. */
function textEnd(bytes: Uint8Array, from: number): number {
  const end = bytes.indexOf(0, from);
  if (end < 0) throw new RangeError("it is truncated within its header");
  return end + 1;
}

const textAt = (bytes: Uint8Array, from: number): string =>
  new TextDecoder("latin1").decode(bytes.subarray(from, textEnd(bytes, from) - 1));

/** The decoder prints a trace where it fails, besides throwing the error that we report. */
function withoutTraces<T>(body: () => T): T {
  const { console: printer } = globalThis;
  const { error } = printer;
  printer.error = () => undefined;
  try {
    return body();
  } finally {
    printer.error = error;
  }
}

/** The channel called `name` in the first layer that has it. */
export function exrChannel(exr: ExrFile, name: string, file = "EXR data"): Float32Array {
  const layer = exr.layers.find(({ channels }) => name in channels);
  const channel = layer?.channels[name];
  if (channel) return channel;
  const present = exr.layers.flatMap(({ channels }) => Object.keys(channels)).join(", ");
  throw new FormatError(`${file}: there is no channel ${name}; the file has ${present || "none"}`);
}

/** Writes one layer, ZIP compressed. All channels in the same precision. */
export async function encodeExr(
  { width, height, channels }: Size & { readonly channels: ExrLayer["channels"] },
  { precision = "f32" }: { precision?: "f16" | "f32" } = {},
): Promise<Uint8Array> {
  const names = Object.keys(channels);
  const pixels = width * height;
  const interleavedPixels = new Float32Array(pixels * names.length);
  for (const [c, name] of names.entries()) {
    const values = channels[name] ?? new Float32Array(0);
    if (values.length !== pixels)
      throw new RangeError(`encodeExr: channel ${name} needs ${width}×${height} = ${pixels} values, got ${values.length}`);
    for (let i = 0; i < pixels; i++) interleavedPixels[i * names.length + c] = values[i] as number;
  }
  const exrs = await import("exrs");
  await exrs.init();
  return exrs.encodeExr({ width, height, layers: [{ channelNames: names, interleavedPixels, precision, compression: "zip16" }] });
}
