import { FormatError } from "../io/formatError.ts";
import type { Frame } from "./focus.ts";
import type { PictureInfo, StackFiles } from "./stackFiles.ts";

interface Probed {
  readonly frame: Frame;
  readonly info: PictureInfo;
}

const CAMERA_BITS = [10, 12, 14] as const;

/**
 * What stands for white in a stack of TIFFs, as a factor after integers were scaled to [0, 1]. Floats and 32-bit numbers have no natural
 * white: the brightest of all planes. 16-bit files of 10 to 14-bit cameras fill only part of their range: the bits in use, from the
 * file's own word or from the first, middle and last plane. One level for all planes, so that their brightness stays comparable.
 */
export async function whiteLevel(
  { name, probed, significantBits }: { name: string; probed: readonly Probed[]; significantBits: number | undefined },
  files: StackFiles,
): Promise<{ white: number; note?: string }> {
  const tiffs = probed.filter(({ info }) => info.tiff && info.depth !== "8");
  if (tiffs.length === 0) return { white: 1 };
  if (tiffs.some(({ info }) => !isUint16(info))) {
    const brightest = await largest(tiffs, files);
    if (brightest === 0) throw new FormatError(`${name}: every picture is black`);
    const isInteger = tiffs.every(({ info }) => info.depth !== "float");
    if (isInteger) return { white: brightest / scaleOf(tiffs[0]?.info) };
    return brightest <= 1
      ? { white: 1 }
      : { white: brightest, note: `${name}: brightness runs up to ${brightest}, which is taken as white` };
  }
  const bits =
    significantBits ??
    (await bitsInUse(
      [tiffs[0], tiffs[tiffs.length >> 1], tiffs.at(-1)].filter((each) => each !== undefined),
      files,
    ));
  if (bits >= 16) return { white: 1 };
  return { white: (2 ** bits - 1) / 65535, note: `${name}: only ${bits} of 16 bits are in use; ${2 ** bits - 1} is taken as white` };
}

const isUint16 = ({ depth, tiff }: PictureInfo): boolean => {
  const page = tiff?.pages[0];
  return depth === "16" && page !== undefined && page.bits <= 16 && !page.isSigned;
};

/** What `tiffImage` divides by: the range of unsigned numbers. */
const scaleOf = (info: PictureInfo | undefined): number => (info?.tiff?.pages[0]?.isSigned ? 1 : 2 ** 32 - 1);

async function bitsInUse(probed: readonly Probed[], files: StackFiles): Promise<number> {
  const brightest = await largest(probed, files);
  return CAMERA_BITS.find((bits) => brightest < 2 ** bits) ?? 16;
}

/** The largest stored value, one plane in memory at a time. */
async function largest(probed: readonly Probed[], files: StackFiles): Promise<number> {
  let most = 0;
  for (const { frame } of probed) {
    const { data } = await files.readTiffPlane(frame.file, frame.page);
    for (let i = 0; i < data.length; i++) {
      const value = data[i] as number;
      if (!Number.isFinite(value)) throw new FormatError(`${frame.file}: page ${frame.page + 1} holds ${value}, which is no brightness`);
      if (value > most) most = value;
    }
  }
  return most;
}
