import type { LibRawModule } from "libraw-wasm/dist/libraw.js";
import type { Size } from "../image/image.ts";

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

/** Develops a raw file with LibRaw, however it was loaded. Undefined if LibRaw cannot: what it throws says nothing about the reason. */
export function developRaw(bytes: Uint8Array, { LibRaw: Decoder }: LibRawModule): RawPixels | undefined {
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
    release(raw);
  }
}

/** After some damaged files LibRaw cannot even do that. */
function release(raw: { delete: () => void }): void {
  try {
    raw.delete();
  } catch {
    // its memory goes with the module
  }
}
