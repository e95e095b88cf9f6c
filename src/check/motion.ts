import type { Alignment, FrameAlignment } from "../align/alignment.ts";
import { compose, invert } from "../align/similarity.ts";
import type { Space } from "../image/depthMap.ts";
import type { Finding } from "./finding.ts";

/** Shift or rotation between neighbours, as a share of the diagonal. A tripod stays below the first; beyond the second the borders are lost. */
const SHAKE = { note: 0.002, warning: 0.02 } as const;
/**
 * Motion that a common motion of the image does not explain: a share of the diagonal (about a pixel of the network's working size), and at
 * least this many pixels; from so many times as much on, outlines appear twice in the all-in-focus image.
 */
const SCENE_MOVED = { share: 0.001, least: 0.7, times: 1.5 } as const;
/** Change of scale from the first to the last frame. Half a percent moves the corners by a pixel or two at the network's working size. */
const BREATHING = { note: 0.005, warning: 0.12 } as const;
/** Lenses magnify when they focus nearer; a change of this size the other way suggests that the files are in reverse order. */
const BACKWARDS = 0.01;

export interface MotionOptions {
  readonly nameOf: (plane: number) => string;
  readonly space: Space;
  /** Planes that have already been reported. */
  readonly known: readonly number[];
}

export function checkMotion(alignment: Alignment, { nameOf, space, known }: MotionOptions): Finding[] {
  const aligned = alignment.frames.flatMap(({ ok }, n) => (ok ? [n] : []));
  return [
    ...checkAligned(alignment, { nameOf, known }),
    ...checkShake(alignment, { aligned, nameOf }),
    ...checkScene(alignment, nameOf),
    ...checkScale(alignment, { aligned, space }),
  ];
}

function checkAligned({ frames }: Alignment, { nameOf, known }: Pick<MotionOptions, "nameOf" | "known">): Finding[] {
  const failed = frames.flatMap(({ ok }, n) => (ok || known.includes(n) ? [] : [n]));
  if (frames.length - failed.length - known.length < 2 && failed.length > 0) {
    const message = "the images cannot be aligned to one another";
    const remedy = "check that they show one still scene; switch alignment off if they need none";
    return [{ code: "unaligned", severity: "error", message, remedy }];
  }
  return failed.map((plane) => ({
    code: "unaligned",
    severity: "warning",
    plane,
    message: `${nameOf(plane)} cannot be aligned: ${frames[plane]?.reason ?? "it matches no other image"}`,
    remedy: "it is left out; remove it or retake it",
  }));
}

function checkShake(
  alignment: Alignment,
  { aligned, nameOf }: { aligned: readonly number[]; nameOf: (plane: number) => string },
): Finding[] {
  const diagonal = Math.hypot(alignment.width, alignment.height);
  const moves = aligned.slice(1).map((plane, i) => {
    const [first, second] = [alignment.frames[aligned[i] as number], alignment.frames[plane]] as [FrameAlignment, FrameAlignment];
    const { angle, shift } = compose({ first: invert(first.transform), second: second.transform });
    return { plane, before: aligned[i] as number, pixels: Math.hypot(...shift) + (Math.abs(angle) * diagonal) / 4 };
  });
  const worst = moves.sort((one, two) => two.pixels - one.pixels)[0];
  if (!worst || worst.pixels < SHAKE.note * diagonal) return [];
  const { plane, before, pixels } = worst;
  const severity = pixels < SHAKE.warning * diagonal ? "note" : "warning";
  const message = `the camera moved, by up to ${Math.round(pixels)} ${Math.round(pixels) === 1 ? "pixel" : "pixels"} from ${nameOf(before)} to ${nameOf(plane)}`;
  return [
    {
      code: "shake",
      severity,
      plane,
      message,
      remedy: "alignment corrects it, at the cost of the borders; a tripod and a remote release avoid it",
    },
  ];
}

function checkScene({ width, height, frames }: Alignment, nameOf: (plane: number) => string): Finding[] {
  const limit = Math.max(SCENE_MOVED.share * Math.hypot(width, height), SCENE_MOVED.least);
  return frames.flatMap(({ residual = 0 }, plane): Finding[] => {
    if (residual < limit) return [];
    const isMuch = residual >= SCENE_MOVED.times * limit;
    const message = `${nameOf(plane)}: parts of the image moved differently, by about ${residual.toFixed(1)} pixels`;
    const remedy = isMuch
      ? "depth is wrong there, and the all-in-focus image may show outlines twice; use a tripod, let nothing move, and retake the photo if you can"
      : "this is little: depth is less accurate where something moved, and right elsewhere";
    return [{ code: "scene-moved", severity: isMuch ? "warning" : "note", plane, message, remedy }];
  });
}

function checkScale({ frames }: Alignment, { aligned, space }: { aligned: readonly number[]; space: Space }): Finding[] {
  const scales = aligned.map((n) => (frames[n] as FrameAlignment).transform.scale);
  const change = Math.max(...scales) / Math.min(...scales) - 1;
  if (!(change >= BREATHING.note)) return [];
  const found: Finding = {
    code: "scale-change",
    severity: change < BREATHING.warning ? "note" : "warning",
    message: `the image's scale changes by ${(100 * change).toFixed(1)} % over the stack (focus breathing)`,
    remedy: "alignment corrects it; borders that are not in all frames are masked",
  };
  if (space === "index") return [found]; // `findPlaneOrder` says what follows for the order
  const growth = (scales.at(-1) as number) / (scales[0] as number) - 1;
  if (growth < BACKWARDS) return [found];
  const reversed: Finding = {
    code: "reversed",
    severity: "warning",
    message: `the scene appears ${(100 * growth).toFixed(1)} % larger at the far end; with most lenses it appears smaller, so near and far may be swapped`,
    remedy: "check the focus distances; with a camera that was moved on a rail this is normal",
  };
  return [found, reversed];
}
