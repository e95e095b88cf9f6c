import type { CameraPreset } from "../optics/synthesize/cameras.ts";
import type { DepthMap } from "../image/depthMap.ts";
import type { Image } from "../image/image.ts";
import type { Split } from "./dataset.ts";

/** A sharp image and its depth in metres, the raw material of the synthetic sets. */
export interface RgbdPair {
  readonly name: string;
  /** The files, for messages. */
  readonly where: string;
  readonly image: Image;
  readonly depth: DepthMap;
}

/** Pairs and how each is read: what a loader of an RGB-D set finds on disk. */
export interface PairList<T> {
  readonly split: Split;
  readonly items: readonly T[];
  readonly nameOf: (item: T) => string;
  readonly filesOf: (item: T) => readonly string[];
  readonly read: (item: T) => Promise<RgbdPair>;
  readonly close: () => void;
}

/** A pair in the fewest bytes that hold it exactly. */
export interface StoredPair {
  readonly name: string;
  readonly where: string;
  readonly width: number;
  readonly height: number;
  /** Interleaved RGB: bytes where the image has no more than 8 bits, else values in [0, 1]. */
  readonly pixels: Uint8Array | Float32Array;
  /** Metres, 0 where unknown. */
  readonly depth: Float32Array;
}

/** An RGB-D set by index, before any blur. */
export interface PairSet {
  readonly camera: Extract<CameraPreset, "nyu" | "arkit">;
  readonly names: readonly string[];
  stored(index: number): Promise<StoredPair>;
  close(): void;
}

export function pairSet<T>(camera: PairSet["camera"], list: PairList<T>): PairSet {
  return {
    camera,
    names: list.items.map((item) => list.nameOf(item)),
    stored: async (index) => storePair(await list.read(list.items[index] as T)),
    close: list.close,
  };
}

export function storePair({ name, where, image, depth }: RgbdPair): StoredPair {
  const { width, height } = image;
  const metres = depth.values.map((value, i) => (depth.valid[i] ? value : 0));
  return { name, where, width, height, pixels: compactPixels(image), depth: metres };
}

/** Interleaved RGB, grey repeated; as bytes where that loses nothing. */
export function compactPixels({ width, height, channels, data }: Image): Uint8Array | Float32Array {
  const values = channels === 3 ? data : Float32Array.from({ length: 3 * width * height }, (_, i) => data[Math.floor(i / 3)] as number);
  const bytes = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = 255 * (values[i] as number);
    const byte = Math.round(value);
    if (!(byte >= 0 && byte <= 255 && Math.abs(value - byte) < 1e-3)) return values;
    bytes[i] = byte;
  }
  return bytes;
}
