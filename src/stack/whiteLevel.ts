import { FormatError } from "../io/formatError.ts";
import type { Frame } from "./focus.ts";
import type { ImageInfo, StackFiles } from "./stackFiles.ts";

export interface ProbedFrame {
  readonly frame: Frame;
  readonly info: ImageInfo;
}

const CAMERA_BITS = [10, 12, 14] as const;

/**
 * The value that counts as white in a stack of TIFFs, as a factor after integers were scaled to [0, 1]. Floats and 32-bit integers have no
 * natural white: the maximum over all planes. 16-bit files of 10 to 14-bit cameras fill only part of their range: the bits in use, from the
 * file's metadata or from the first, middle and last plane. One level for all planes, so that their brightness stays comparable.
 */
export async function whiteLevel(
  { name, probed, significantBits }: { name: string; probed: readonly ProbedFrame[]; significantBits: number | undefined },
  files: StackFiles,
): Promise<{ white: number; note?: string }> {
  const tiffs = probed.filter(({ info }) => info.tiff && info.depth !== "8");
  const [first] = tiffs;
  if (!first) return { white: 1 };
  if (tiffs.some(({ info }) => !isUint16(info))) {
    const brightest = await largest(tiffs, files);
    if (brightest === 0) throw new FormatError(`${name}: every image is black`);
    const isInteger = tiffs.every(({ info }) => info.depth !== "float");
    if (isInteger) return { white: brightest / (first.info.tiff?.pages[0]?.isSigned ? 1 : 2 ** 32 - 1) }; // as `tiffImage` scales
    return brightest <= 1
      ? { white: 1 }
      : { white: brightest, note: `${name}: brightness goes up to ${brightest}, which is taken as white` };
  }
  const bits = significantBits ?? (await bitsInUse([first, tiffs[tiffs.length >> 1] ?? first, tiffs.at(-1) ?? first], files));
  if (bits >= 16) return { white: 1 };
  return { white: (2 ** bits - 1) / 65535, note: `${name}: only ${bits} of 16 bits are in use; ${2 ** bits - 1} is taken as white` };
}

const isUint16 = ({ depth, tiff }: ImageInfo): boolean => {
  const page = tiff?.pages[0];
  return depth === "16" && page !== undefined && page.bits <= 16 && !page.isSigned;
};

async function bitsInUse(probed: readonly ProbedFrame[], files: StackFiles): Promise<number> {
  const brightest = await largest(probed, files);
  return CAMERA_BITS.find((bits) => brightest < 2 ** bits) ?? 16;
}

/** The largest stored value, one plane in memory at a time. */
async function largest(probed: readonly ProbedFrame[], files: StackFiles): Promise<number> {
  let most = 0;
  for (const { frame } of probed) {
    const { data } = await files.readTiffPage(frame.file, frame.page);
    for (let i = 0; i < data.length; i++) {
      const value = data[i] as number;
      if (!Number.isFinite(value)) throw new FormatError(`${frame.file}: page ${frame.page + 1} contains the value ${value}`);
      if (value > most) most = value;
    }
  }
  return most;
}
