import { alignImage } from "../align/align.ts";
import { type Alignment, type FrameAlignment, resizeAlignment } from "../align/alignment.ts";
import { commonArea } from "../align/apply.ts";
import { estimateAlignment } from "../align/estimate.ts";
import { resized } from "../align/similarity.ts";
import { reduction, smallLuminance, workingFrame } from "../align/workingFrame.ts";
import type { Image } from "../image/image.ts";
import { type Candidate, checkDescription } from "./description.ts";
import { checkDuplicates } from "./duplicates.ts";
import { blankPlanes, checkBrightness, checkExposure } from "./exposure.ts";
import { bySeverity, type Finding } from "./finding.ts";
import { checkFocus } from "./focus.ts";
import { checkMotion } from "./motion.ts";

export interface CheckOptions {
  /** One name per plane, used in messages. Default: "plane 0" and so on. */
  readonly files?: readonly string[];
  /** Metres; with metric distances it helps the alignment. */
  readonly focalLength?: number | undefined;
  /** Size of the original images relative to those given, so that messages count the originals' pixels. */
  readonly enlargement?: number;
  /** Alignment of these images, if already known; estimated otherwise. */
  readonly alignment?: Alignment | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the share done, in (0, 1]. */
  readonly onProgress?: ((share: number) => void) | undefined;
}

/** Sharpness is measured at about the network's working size, some 600×400. */
const FOCUS_PIXELS = 400_000;

/** Finds what is wrong with a stack, most serious first; empty for a good one. Accepts stacks that `focalStack` would reject. */
export async function checkStack(stack: Candidate, options: CheckOptions = {}): Promise<Finding[]> {
  const { files, enlargement = 1 } = options;
  const nameOf = (plane: number): string => files?.[plane] ?? `plane ${plane}`;
  const findings = checkDescription(stack, nameOf);
  if (!findings.some(({ severity }) => severity === "error")) {
    const alignment = options.alignment ?? (await estimateAlignment(stack.images.map((image) => workingFrame(image)), { ...stack, ...options })); // prettier-ignore
    const blank = blankPlanes(stack.images);
    const small = stack.images.map((image) => smallLuminance(image, reduction(image, FOCUS_PIXELS)));
    findings.push(
      ...checkBrightness(stack.images, nameOf),
      ...checkDuplicates(small, { nameOf, blank }),
      ...checkExposure(alignment, nameOf),
      ...checkMotion(resizeAlignment(alignment, { width: enlargement * alignment.width, height: enlargement * alignment.height }), {
        nameOf,
        space: stack.space,
        known: blank,
      }),
      ...checkAlignedFocus(stack.images, { alignment, nameOf }),
    );
  }
  return bySeverity(findings.map((finding) => withFile(finding, files)));
}

function checkAlignedFocus(
  images: readonly Image[],
  { alignment, nameOf }: { alignment: Alignment; nameOf: (plane: number) => string },
): Finding[] {
  const planes = alignment.frames.flatMap(({ ok }, n) => (ok ? [n] : []));
  const factor = reduction(alignment, FOCUS_PIXELS);
  const aligned = planes.map((n) => {
    const frame = alignment.frames[n] as FrameAlignment;
    return { image: smallLuminance(alignImage(images[n] as Image, frame), factor), transform: resized(frame.transform, 1 / factor) };
  });
  const valid = commonArea(aligned.map(({ transform }) => transform), (aligned[0] as (typeof aligned)[number]).image); // prettier-ignore
  return checkFocus(aligned.map(({ image }) => image), { nameOf, planes, valid }); // prettier-ignore
}

function withFile(finding: Finding, files: readonly string[] | undefined): Finding {
  const file = finding.plane === undefined ? undefined : files?.[finding.plane];
  return file === undefined ? finding : { ...finding, file };
}
