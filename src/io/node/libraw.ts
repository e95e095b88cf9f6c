import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { LibRawModule } from "libraw-wasm/dist/libraw.js";
import { developRaw, type RawPixels } from "../libraw.ts";

/** Develops a raw file; undefined if LibRaw cannot. */
export const decodeRaw = async (bytes: Uint8Array): Promise<RawPixels | undefined> => developRaw(bytes, await loaded());

/** One for the process: it reserves a quarter of a gigabyte. */
let module: Promise<LibRawModule> | undefined;

function loaded(): Promise<LibRawModule> {
  return (module ??= (async () => {
    const { default: createModule } = await import("libraw-wasm/dist/libraw.js");
    const wasmBinary = await readFile(createRequire(import.meta.url).resolve("libraw-wasm/dist/libraw.wasm"));
    return createModule({ wasmBinary, print: () => undefined, printErr: () => undefined });
  })());
}
