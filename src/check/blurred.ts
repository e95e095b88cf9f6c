import type { Finding } from "./finding.ts";
import { LEAST_BLOCKS, type FocusMeasurement } from "./measure.ts";

/** A block counts if the frame or both its neighbours show detail in it: fine energy of this many times the noise. */
const OVER_NOISE = 4;
/**
 * The energy of fine detail relative to the less sharp of the two neighbours. In focus order each block gets sharper and then blurs again, so
 * that this is above 1 nearly everywhere: in good stacks half of the blocks have 1.2 or more. Of a frame that is blurred throughout, half have
 * less than `half` and nine tenths less than `most`. In a wrong order the end of a stack, between frames that are sharper all over, looks the same.
 */
const BLURRED = { half: 0.7, most: 1 } as const;

/** The frames of the measurement that are less sharp all over than both their neighbours: shaken, or not focused on the scene. */
export function blurredFrames({ sharpness: { fine, noise }, textured }: FocusMeasurement): number[] {
  const energy = (frame: number, block: number): number => fine[frame]?.[block] as number;
  return [...fine.keys()].slice(1, -1).filter((frame) => {
    const ratios = textured.flatMap((block) => {
      const around = Math.min(energy(frame - 1, block), energy(frame + 1, block));
      return Math.max(energy(frame, block), around) < OVER_NOISE * noise ? [] : [energy(frame, block) / around];
    });
    if (ratios.length < LEAST_BLOCKS) return false;
    const share = (limit: number): number => ratios.filter((ratio) => ratio < limit).length / ratios.length;
    return share(BLURRED.half) > 0.5 && share(BLURRED.most) > 0.9;
  });
}

export function checkBlurred({ planes }: FocusMeasurement, blurred: readonly number[], nameOf: (plane: number) => string): Finding[] {
  return blurred.map((frame): Finding => {
    const plane = planes[frame] as number;
    const message = `${nameOf(plane)} is blurred: nothing in it is as sharp as in the images before and after it`;
    return { code: "blurred-frame", severity: "warning", plane, message, remedy: "remove it; a stack can do without one image" };
  });
}

/** The measurement without these frames: where one that is blurred throughout belongs in the focus order cannot be told from it. */
export function withoutFrames(measured: FocusMeasurement, dropped: readonly number[]): FocusMeasurement {
  if (dropped.length === 0) return measured;
  const keep = <T>(list: readonly T[]): T[] => list.filter((_, frame) => !dropped.includes(frame));
  const { fine, coarse, ...rest } = measured.sharpness;
  return {
    ...measured,
    planes: keep(measured.planes),
    frames: keep(measured.frames),
    transforms: keep(measured.transforms),
    sharpness: { ...rest, fine: keep(fine), coarse: keep(coarse) },
  };
}
