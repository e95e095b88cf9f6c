import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** Content encodings the server offers, the smaller one first. Browsers name `br` on https and localhost only. */
export const ENCODINGS = ["br", "gzip"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Text and WebAssembly; weights and images hold no more redundancy. */
const COMPRESSIBLE = new Set([".html", ".js", ".mjs", ".css", ".json", ".svg", ".wasm", ".webmanifest"]);

export const isCompressible = (path: string): boolean => COMPRESSIBLE.has(extname(path));

/** The encoding to answer a request with; undefined if the client names none of ours (RFC 9110, 12.5.3). */
export function acceptedEncoding(header: string | undefined): Encoding | undefined {
  const offers = new Map(
    (header ?? "").split(",").map((offer) => {
      const [name = "", ...parameters] = offer.split(";").map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith("q="));
      return [name, weight === undefined ? 1 : Number(weight.slice(2))] as const;
    }),
  );
  return ENCODINGS.find((encoding) => (offers.get(encoding) ?? offers.get("*") ?? 0) > 0);
}

const [brotliOf, gzipOf] = [promisify(brotliCompress), promisify(gzip)];

/** Brotli's level 5 makes 2.9 MB of the 14.2 MB runtime in half a second; level 9 needs three seconds for another 0.2 MB. */
export const compress = (bytes: Uint8Array, encoding: Encoding): Promise<Buffer> =>
  encoding === "gzip"
    ? gzipOf(bytes, { level: 9 })
    : brotliOf(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: 5,
          [constants.BROTLI_PARAM_LGWIN]: 22,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      });

/** Compressed copies of files, made once and kept in memory. `tag` changes with the file. */
export type Compressor = (file: string, options: { readonly encoding: Encoding; readonly tag: string }) => Promise<Buffer>;

export function createCompressor(): Compressor {
  const copies = new Map<string, { readonly tag: string; readonly bytes: Promise<Buffer> }>();
  return (file, { encoding, tag }) => {
    const key = `${encoding} ${file}`;
    const known = copies.get(key);
    if (known?.tag === tag) return known.bytes;
    const bytes = readFile(file).then((content) => compress(content, encoding));
    copies.set(key, { tag, bytes });
    bytes.catch(() => copies.delete(key));
    return bytes;
  };
}
