import { type Alignment, type FrameAlignment, resizeAlignment } from "../align/alignment.ts";
import { estimateAlignment } from "../align/estimate.ts";
import { reduction, workingFrame } from "../align/workingFrame.ts";
import type { Image } from "../image/image.ts";
import { smallLuminance } from "../image/luminance.ts";
import { type Candidate, checkDescription } from "./description.ts";
import { checkDuplicates } from "./duplicates.ts";
import { blankPlanes, checkBrightness, checkExposure } from "./exposure.ts";
import { checkFocusChange } from "./evidence.ts";
import { bySeverity, type Finding } from "./finding.ts";
import { checkFocus, type FocusOptions } from "./focus.ts";
import { alignedFrames, FOCUS_PIXELS, inPlaneOrder, measureFocus, type FocusMeasurement } from "./measure.ts";
import { checkMotion } from "./motion.ts";
import { findPlaneOrder, inOrder, type PlaneOrder } from "./planeOrder.ts";
import { recordedRange } from "./recordedRange.ts";
import { peakOf, showsScene } from "./sharpness.ts";

export interface CheckOptions {
  /** One name per plane, used in messages. Default: "plane 0" and so on. */
  readonly files?: readonly string[];
  /** Metres; with metric distances it helps the alignment. */
  readonly focalLength?: number | undefined;
  /** Size of the original images relative to those given, so that messages count the originals' pixels. */
  readonly enlargement?: number;
  /** Alignment of these images, if already known; estimated otherwise. */
  readonly alignment?: Alignment | undefined;
  /** The images as this alignment places them, with the exposure of the reference, where they have been computed already. */
  readonly aligned?: readonly (Image | undefined)[] | undefined;
  /** Whether the order of the images is that of the focus. Default: unless the stack is in plane indices. */
  readonly orderIsKnown?: boolean;
  /** Exchanges near and far where the order is not known. Default: false. */
  readonly reverse?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called with the share done, in (0, 1]. */
  readonly onProgress?: ((share: number) => void) | undefined;
}

/** What was measured on one plane. */
export interface PlaneReport {
  /** Index of the image as it was given. */
  readonly frame: number;
  /** Mean energy of fine detail over the textured parts, relative to the sharpest plane; absent if it could not be measured. */
  readonly sharpness?: number;
  /** Share of the textured parts that are sharpest in this plane. */
  readonly inFocus?: number;
  /** From the reference image to this one, in pixels of the originals; absent if the image could not be aligned. */
  readonly shift?: readonly [x: number, y: number];
  readonly scale?: number;
}

export interface StackReport {
  readonly order: PlaneOrder;
  /** Nearest first. */
  readonly planes: readonly PlaneReport[];
  /** Most serious first; empty for a good stack. Planes are counted from the nearest. */
  readonly findings: readonly Finding[];
}

/** Finds what is wrong with a stack, most serious first; empty for a good one. Accepts stacks that `focalStack` would reject. */
export const checkStack = async (stack: Candidate, options: CheckOptions = {}): Promise<readonly Finding[]> =>
  (await inspectStack(stack, options)).findings;

/** The order of the planes, what was measured on each, and what is wrong. Accepts stacks that `focalStack` would reject. */
export async function inspectStack(stack: Candidate, options: CheckOptions = {}): Promise<StackReport> {
  const { files, orderIsKnown = stack.space !== "index", reverse = false } = options;
  const givenName = (plane: number): string => files?.[plane] ?? `plane ${plane}`;
  const rules = { planes: stack.images.length, nameOf: givenName, isKnown: orderIsKnown, reverse };
  const described = checkDescription(stack, givenName);
  if (described.some(({ severity }) => severity === "error")) {
    const { order } = findPlaneOrder(undefined, undefined, rules);
    return { order, planes: order.planes.map((frame) => ({ frame })), findings: named(described, files) };
  }
  const alignment = options.alignment ?? (await estimateAlignment(stack.images.map((image) => workingFrame(image)), { ...stack, ...options })); // prettier-ignore
  const measured = measureFocus(stack.images, alignment, options);
  const unchanged = lookForChange(stack.images, { alignment, measured }, options);
  const { order, findings } = unchanged.length === 0 ? findPlaneOrder(measured, alignment, rules) : findPlaneOrder(undefined, undefined, rules); // prettier-ignore
  const pick = <T>(list: readonly T[]): T[] => order.planes.map((plane) => list[plane] as T);
  const found = compared(
    { ...stack, images: pick(stack.images) },
    { alignment: inOrder(alignment, order.planes), measured: inPlaneOrder(measured, order.planes), unchanged },
    {
      ...options,
      files: order.planes.map(givenName),
      order: orderIsKnown ? undefined : findings.some(({ code }) => code === "order") ? "doubtful" : "right",
    },
  );
  return {
    order,
    planes: planeReports(measured, { alignment, order, enlargement: options.enlargement ?? 1 }),
    findings: named([...described, ...findings, ...found], files && pick(files)),
  };
}

interface Compared {
  readonly alignment: Alignment;
  readonly measured: FocusMeasurement;
}

/**
 * Whether the focus changes at all: what reduced images do not show, the images as they are may. Noise and plain areas, which cannot be
 * aligned, are compared as they are; what shows a scene and cannot be aligned shows different ones, which says nothing about focus.
 */
function lookForChange(images: readonly Image[], { alignment, measured }: Compared, { aligned }: CheckOptions): Finding[] {
  const isAligned = measured.frames.length > 1;
  if (!isAligned && showsScene(measured.sharpness)) return [];
  const range = recordedRange(alignment.frames);
  const look = (pixels: number): Finding[] => {
    if (!isAligned) return checkFocusChange(images.map((image) => smallLuminance(image, reduction(image, pixels))));
    const { frames, transforms } =
      !range && pixels === FOCUS_PIXELS ? measured : alignedFrames(images, alignment, { aligned, pixels, range });
    return checkFocusChange(frames, { transforms, darkest: range?.darkest });
  };
  const found = look(FOCUS_PIXELS);
  return found.length === 0 || reduction(alignment, FOCUS_PIXELS) === 1 ? found : look(Infinity);
}

/** The checks that compare the images, in focus order. Without a change of focus they have no order, and nothing depends on their alignment. */
function compared(
  stack: Candidate,
  { alignment, measured, unchanged }: Compared & { readonly unchanged: readonly Finding[] },
  { files, enlargement = 1, order }: CheckOptions & { readonly files: readonly string[] } & Pick<FocusOptions, "order">,
): Finding[] {
  const nameOf = (plane: number): string => files[plane] as string;
  const blank = blankPlanes(stack.images);
  const small = stack.images.map((image) => smallLuminance(image, reduction(image, FOCUS_PIXELS)));
  const seen = [
    ...checkBrightness(stack.images, nameOf),
    ...checkDuplicates(small, { nameOf, blank }),
    ...checkExposure(alignment, nameOf),
  ];
  if (unchanged.length > 0) return [...seen, ...unchanged];
  const original = resizeAlignment(alignment, { width: enlargement * alignment.width, height: enlargement * alignment.height });
  return [...seen, ...checkMotion(original, { nameOf, space: stack.space, known: blank }), ...checkFocus(measured, { nameOf, order })];
}

interface Reporting {
  readonly alignment: Alignment;
  readonly order: PlaneOrder;
  readonly enlargement: number;
}

function planeReports(measured: FocusMeasurement, { alignment, order, enlargement }: Reporting): PlaneReport[] {
  const { sharpness, textured, planes } = measured;
  const energies = sharpness.fine.map((plane) => textured.reduce((sum, block) => sum + (plane[block] as number), 0));
  const most = Math.max(...energies);
  const peaks = textured.map((block) => peakOf(sharpness, block));
  return order.planes.map((frame): PlaneReport => {
    const { ok, transform } = alignment.frames[frame] as FrameAlignment;
    const at = planes.indexOf(frame);
    return {
      frame,
      ...(at >= 0 && most > 0
        ? { sharpness: (energies[at] as number) / most, inFocus: peaks.filter((peak) => peak === at).length / peaks.length }
        : {}),
      ...(ok ? { shift: [transform.shift[0] * enlargement, transform.shift[1] * enlargement] as const, scale: transform.scale } : {}),
    };
  });
}

/** With the file of each plane, most serious first. */
function named(findings: readonly Finding[], files: readonly string[] | undefined): Finding[] {
  return bySeverity(
    findings.map((finding) => {
      const file = finding.plane === undefined ? undefined : files?.[finding.plane];
      return file === undefined ? finding : { ...finding, file };
    }),
  );
}
