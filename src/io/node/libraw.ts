import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { LibRawModule } from "libraw-wasm/dist/libraw.js";
import type { Size } from "../../image/image.ts";

/** RGB with the sRGB curve, 16 bits, as the sensor lay: not turned upright. */
export interface RawPixels extends Size {
  readonly channels: 3;
  readonly data: Uint16Array;
  /** 1 to 8, as in EXIF. */
  readonly orientation: number;
}

/**
 * The same brightness for every frame of a stack: nothing is stretched to what the frame holds. The white balance is the camera's. The curve
 * is that of sRGB, which all other images have.
 */
const SETTINGS = {
  outputBps: 16,
  outputColor: 1,
  gamm: [1 / 2.4, 12.92, 0, 0, 0, 0],
  noAutoBright: true,
  adjustMaximumThr: 0,
  useCameraWb: true,
  userFlip: 0,
};

/** LibRaw's turns → EXIF's. */
const ORIENTATION: Readonly<Record<number, number>> = { 0: 1, 3: 3, 5: 8, 6: 6 };

/** Develops a raw file. Undefined if LibRaw cannot: what it throws says nothing about the reason. */
export async function decodeRaw(bytes: Uint8Array): Promise<RawPixels | undefined> {
  const { LibRaw: Decoder } = await loaded();
  const raw = new Decoder();
  try {
    raw.open(new Uint8Array(bytes), SETTINGS);
    const { flip = 0 } = raw.metadata(false) ?? {};
    const found = raw.imageData();
    if (!found || found.colors !== 3 || !(found.data instanceof Uint16Array)) return undefined;
    const { width, height, data } = found;
    return { width, height, channels: 3, data, orientation: ORIENTATION[flip] ?? 1 };
  } catch {
    return undefined;
  } finally {
    raw.delete();
  }
}

/** One for the process: it reserves a quarter of a gigabyte. */
let module: Promise<LibRawModule> | undefined;

function loaded(): Promise<LibRawModule> {
  return (module ??= (async () => {
    const { default: createModule } = await import("libraw-wasm/dist/libraw.js");
    const wasmBinary = await readFile(createRequire(import.meta.url).resolve("libraw-wasm/dist/libraw.wasm"));
    return createModule({ wasmBinary, print: () => undefined, printErr: () => undefined });
  })());
}
