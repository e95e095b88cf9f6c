import { alignImage } from "../align/alignedRows.ts";
import { alignStack, type AlignedStack, type AlignOptions } from "../align/align.ts";
import { checkFits, formatAlignment, resizeAlignment, type Alignment } from "../align/alignment.ts";
import { estimateAlignment } from "../align/estimate.ts";
import { workingFrame } from "../align/workingFrame.ts";
import { inspectStack, type CheckOptions, type StackReport } from "../check/checkStack.ts";
import { hasFocusChange } from "../check/finding.ts";
import { inOrder, type PlaneOrder } from "../check/planeOrder.ts";
import { DualFocusError } from "../errors.ts";
import type { Image, Size } from "../image/image.ts";
import { baseName } from "../stack/stackFormat.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import type { StackSource } from "../stack/stackSource.ts";
import type { OnStage } from "./progress.ts";
import { readLarger } from "./working.ts";

export interface FrameOptions {
  readonly onStage: OnStage;
  readonly signal: AbortSignal;
}

/** The alignment of the frames: by their content, or saved earlier, in pixels of the files. */
export async function frameAlignment(
  stack: FocalStack,
  source: StackSource,
  { align, ...options }: FrameOptions & { readonly align: "auto" | Alignment },
): Promise<Alignment> {
  if (align === "auto") return estimateFrames(stack, source, options);
  const { width, height, channels } = stack.images[0] as Image;
  const alignment = resizeAlignment(align, { width, height });
  checkFits(alignment, { planes: stack.images.length, width, height, channels }, `${source.name}: the alignment`);
  return alignment;
}

/** The images that can be aligned, in place: for the stack check, and for the network after it. */
export const placedImages = ({ images }: FocalStack, { frames }: Alignment): (Image | undefined)[] =>
  images.map((image, n) => (frames[n]?.ok ? alignImage(image, frames[n]) : undefined));

/** Aligns the frames; the error of frames that cannot be aligned names the stack. */
export async function alignFrames(
  stack: FocalStack,
  source: StackSource,
  how: Required<Pick<AlignOptions, "alignment" | "aligned">>,
): Promise<AlignedStack> {
  try {
    return await alignStack(stack, { ...how, files: planeNames(source) });
  } catch (error) {
    if (!(error instanceof DualFocusError)) throw error;
    throw new DualFocusError(error.code, `${source.name}: ${error.message}`, { facts: error.facts, cause: error });
  }
}

/** Estimates the alignment of the images in working size. */
export const estimateFrames = (stack: FocalStack, { camera }: StackSource, { signal, onStage }: FrameOptions): Promise<Alignment> =>
  estimateAlignment(
    stack.images.map((image) => workingFrame(image)),
    {
      ...stack,
      ...(camera ? { focalLength: camera.focalLength } : {}),
      signal,
      onProgress: (share: number) => {
        onStage("align", Math.round(100 * share), 100);
      },
    },
  );

interface Inspecting extends FrameOptions, Pick<CheckOptions, "aligned"> {
  readonly alignment: Alignment | undefined;
  readonly reverse?: boolean;
}

/**
 * The stack check of the unaligned images, in the files' names and pixels: their order, what was measured, and what is wrong. Before it says that the
 * focus does not change it looks at the images in a larger size, if the files have it: interpolated ones would show nothing more.
 */
export async function inspectFrames(stack: FocalStack, source: StackSource, options: Inspecting): Promise<StackReport> {
  const { alignment, aligned, reverse = false, signal, onStage } = options;
  const inspect = (images: FocalStack, how: Pick<Inspecting, "alignment" | "aligned">): Promise<StackReport> =>
    inspectStack(images, {
      ...how,
      files: planeNames(source),
      focalLength: source.camera?.focalLength,
      enlargement: source.size.width / (images.images[0] as Image).width,
      orderIsKnown: hasKnownOrder(source),
      reverse,
      signal,
    });
  const report = await inspect(stack, { alignment, aligned });
  const larger = hasFocusChange(report.findings) ? undefined : await readLarger(stack, source, signal);
  const known = larger && alignment && resizeAlignment(alignment, larger.images[0] as Image);
  const found = larger ? await inspect(larger, { alignment: known }) : report;
  onStage("check", 1, 1);
  return found;
}

/** Whether focus distances, and not just the files, give the order. */
export const hasKnownOrder = ({ focus }: StackSource): boolean => focus.some(({ source }) => source !== "file order");

/** File names without their folder; pages of one file get their index. */
export function planeNames({ files }: StackSource): string[] {
  const single = new Set(files).size === 1;
  return files.map((file, plane) => (single ? `${baseName(file)} plane ${plane}` : baseName(file)));
}

/** What there is to say to someone who wants to reverse a stack whose order is known. */
export const knownOrder = ({ name }: StackSource): DualFocusError =>
  new DualFocusError("reverse-known-order", `${name}: its focus distances give the order, so it cannot be reversed`, { facts: { name } });

/** The images from near to far; their plane indices are those of their places. */
export const sortedStack = (stack: FocalStack, { planes }: PlaneOrder): FocalStack => ({
  ...stack,
  images: planes.map((plane) => stack.images[plane] as Image),
});

/** An alignment of the planes from near to far in the order of the files. */
export const inFileOrder = (alignment: Alignment, { planes }: PlaneOrder): Alignment =>
  inOrder(alignment, planes.map((_, plane) => planes.indexOf(plane))); // prettier-ignore

/** The alignment that was used, in pixels and in the order of the files, for a later run. */
export function savedAlignment({ aligned, order }: { aligned: AlignedStack; order: PlaneOrder }, size: Size): string {
  return formatAlignment(resizeAlignment(inFileOrder(aligned.alignment, order), size));
}
