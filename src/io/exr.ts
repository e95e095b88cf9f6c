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
