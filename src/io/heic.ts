import type { Size } from "../image/image.ts";
import { decodingAsync } from "./formatError.ts";
import { readHeifHeader } from "./heif.ts";

/** RGB, interleaved; more than 8 bits are spread to 16. */
export interface HeicPixels extends Size {
  readonly channels: 3;
  readonly data: Uint8Array | Uint16Array;
}

/**
 * The main image of a HEIC file, upright, by libheif as WebAssembly, which is loaded by the first such file. Each image gets a decoder of its
 * own: its memory is freed with it.
 */
export async function decodeHeic(bytes: Uint8Array, file = "HEIC data"): Promise<HeicPixels> {
  const { bits } = readHeifHeader(bytes, file);
  return decodingAsync({ file, format: "HEIC" }, async () => {
    const { default: createLibheif } = await import("libheif-js/libheif-wasm/libheif-bundle.mjs");
    const libheif = createLibheif({ print: () => undefined, printErr: () => undefined });
    const context = libheif.heif_context_alloc();
    try {
      const opened = libheif.heif_context_read_from_memory(context, bytes);
      if (opened.code !== libheif.heif_error_code.heif_error_Ok) throw new Error(opened.message);
      const handle = libheif.heif_js_context_get_primary_image_handle(context);
      if ("code" in handle) throw new Error(handle.message);
      try {
        const { heif_chroma_interleaved_RGB: bytesOfEach, heif_chroma_interleaved_RRGGBB_LE: wordsOfEach } = libheif.heif_chroma;
        const decoded = libheif.heif_js_decode_image2(
          handle,
          libheif.heif_colorspace.heif_colorspace_RGB,
          bits > 8 ? wordsOfEach : bytesOfEach,
        );
        if (!decoded || "code" in decoded) throw new Error(decoded?.message ?? "it cannot be decoded");
        const [channel] = decoded.channels;
        if (!channel) throw new Error("it has no colours");
        const { width, height } = channel;
        const data = bits > 8 ? words(channel) : rows(channel);
        libheif.heif_image_release(decoded.image);
        return { width, height, channels: 3, data };
      } finally {
        libheif.heif_image_handle_release(handle);
      }
    } finally {
      libheif.heif_context_free(context);
    }
  });
}

interface Plane extends Size {
  readonly stride: number;
  readonly bits_per_pixel: number;
  readonly data: Uint8Array;
}

/** Rows without the bytes that fill them up. */
function rows({ width, height, stride, data }: Plane): Uint8Array {
  const out = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y++) out.set(data.subarray(y * stride, y * stride + 3 * width), 3 * width * y);
  return out;
}

function words({ width, height, stride, data, bits_per_pixel: bits }: Plane): Uint16Array {
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const scale = 65535 / (2 ** bits - 1);
  const out = new Uint16Array(3 * width * height);
  for (let y = 0; y < height; y++)
    for (let i = 0; i < 3 * width; i++) out[3 * width * y + i] = view.getUint16(y * stride + 2 * i, true) * scale + 0.5;
  return out;
}
