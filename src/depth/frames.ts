import { alignStack, type AlignedStack } from "../align/align.ts";
import { formatAlignment, resizeAlignment, type Alignment } from "../align/alignment.ts";
import { estimateAlignment } from "../align/estimate.ts";
import { workingFrame } from "../align/workingFrame.ts";
import { checkStack } from "../check/checkStack.ts";
import { DualFocusError } from "../errors.ts";
import type { Finding } from "../check/finding.ts";
import type { Image, Size } from "../image/image.ts";
import { baseName } from "../stack/stackFormat.ts";
import type { FocalStack } from "../stack/focalStack.ts";
import type { StackSource } from "../stack/stackSource.ts";
import type { OnStage } from "./progress.ts";

export interface FrameOptions {
  readonly onStage: OnStage;
  readonly signal: AbortSignal;
}

/** Aligns the frames, by their content or by an alignment saved earlier, in pixels of the files. */
export async function alignFrames(
  stack: FocalStack,
  source: StackSource,
  { align, ...options }: FrameOptions & { readonly align: "auto" | Alignment },
): Promise<AlignedStack> {
  const alignment = align === "auto" ? await estimateFrames(stack, source, options) : resizeAlignment(align, stack.images[0] as Image);
  try {
    return await alignStack(stack, { alignment });
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

/** The stack check of the unaligned images, in the files' names and pixels. */
export async function checkFrames(
  stack: FocalStack,
  source: StackSource,
  { alignment, signal, onStage }: FrameOptions & { readonly alignment: Alignment | undefined },
): Promise<Finding[]> {
  const findings = await checkStack(stack, {
    files: planeNames(source),
    focalLength: source.camera?.focalLength,
    enlargement: source.size.width / (stack.images[0] as Image).width,
    alignment,
    signal,
  });
  onStage("check", 1, 1);
  return findings;
}

/** File names without their folder; pages of one file get their index. */
function planeNames({ files }: StackSource): string[] {
  const single = new Set(files).size === 1;
  return files.map((file, plane) => (single ? `${baseName(file)} plane ${plane}` : baseName(file)));
}

/** The alignment that was used, in pixels of the files, for a later run. */
export const savedAlignment = ({ alignment }: AlignedStack, size: Size): string => formatAlignment(resizeAlignment(alignment, size));
