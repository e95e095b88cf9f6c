import type { AlignedStack } from "../align/align.ts";
import { resized } from "../align/similarity.ts";
import { DeviceLimitError } from "../engine/errors.ts";
import type { Image, Size, StoredImage } from "../image/image.ts";
import { resizeNearest } from "../image/nearest.ts";
import { enlarge } from "../image/upsample.ts";
import type { DepthResult, DepthUnit } from "../output/result.ts";
import type { PhotoMetadata, StackSource } from "../stack/stackSource.ts";
import type { FusionOptions } from "./allInFocus/fusion.ts";
import type { CreateStackFusion } from "./allInFocus/stackFusion.ts";
import { enlargeDepth } from "./edges.ts";
import type { DepthEstimate } from "./estimate.ts";
import { beyondUnfilled, type FilledDepth } from "./fill.ts";
import { nearestPlanes } from "./nearestPlanes.ts";
import type { OnStage } from "./progress.ts";

export interface FullSizeOptions extends FusionOptions {
  readonly estimate: DepthEstimate;
  /** Whether the images show depth at all; if not, it is unknown everywhere. */
  readonly focusChange: boolean;
  /** Its finished depth, if it is to be. */
  readonly finished: FilledDepth | undefined;
  readonly aligned: AlignedStack | undefined;
  /** Planes of the source that are in the estimate. */
  readonly planes: readonly number[];
  readonly createFusion: CreateStackFusion;
  readonly onStage: OnStage;
  readonly signal: AbortSignal;
}

/** The result in the size of the files, from the estimate in working size. */
export async function fullSize(source: StackSource, options: FullSizeOptions): Promise<DepthResult> {
  const { estimate, focusChange, finished, aligned, planes, prefer, onStage } = options;
  const isReady = isSameSize(estimate.probability, source.size) && !aligned && !prefer; // else the frames are read again
  const allInFocus = isReady ? estimate.allInFocus : await fullImage(source, options, options.createFusion);
  const metadata = await source.readMetadata(aligned?.alignment.reference ?? planes[planes.length >> 1] ?? 0);
  const result = fullMaps(source, { estimate, focusChange, finished, allInFocus, aligned, metadata, planes });
  if (!isReady) onStage("enlarge", planes.length + 1, planes.length + 1);
  return result;
}

const isSameSize = (one: Size, other: Size): boolean => one.width === other.width && one.height === other.height;

/** The all-in-focus image. Memory holds its pyramid, one plane, and the next plane, which is decoded meanwhile. */
async function fullImage(source: StackSource, options: FullSizeOptions, createFusion: CreateStackFusion): Promise<Image> {
  try {
    return await fusedImage(source, options, createFusion);
  } catch (error) {
    const { otherwise } = createFusion;
    if (!otherwise || !(error instanceof DeviceLimitError)) throw error;
    return await fullImage(source, options, otherwise); // from the first frame: what the device has of the others is lost
  }
}

async function fusedImage(source: StackSource, options: FullSizeOptions, createFusion: CreateStackFusion): Promise<Image> {
  const { estimate, aligned, planes, prefer, onStage, signal } = options;
  const factor = source.size.width / estimate.probability.width;
  const read = (n: number): Promise<Image | StoredImage> | undefined => {
    const plane = planes[n];
    const reading = plane === undefined ? undefined : source.readStored(plane);
    reading?.catch(() => undefined); // reported where it is awaited, unless the run has been stopped before
    return reading;
  };
  let next = read(0);
  const fusion = createFusion({ ...source.size, channels: source.channels }, estimate.probability, { prefer });
  try {
    for (const [n, plane] of planes.entries()) {
      signal.throwIfAborted();
      const frame = aligned?.report[plane];
      const alignment = frame && { ...frame, transform: resized(frame.transform, factor) };
      const isReference = plane === aligned?.alignment.reference;
      const adding = fusion.add({ image: (await next) as Image | StoredImage, alignment, isReference }, n); // no name keeps the image alive
      next = read(n + 1);
      await adding;
      onStage("enlarge", n + 1, planes.length + 1); // the last step is for the maps
    }
    return await fusion.finish();
  } finally {
    await fusion.close();
  }
}

interface Maps extends Pick<FullSizeOptions, "estimate" | "focusChange" | "finished" | "aligned" | "planes"> {
  readonly allInFocus: Image;
  readonly metadata: PhotoMetadata;
}

function fullMaps(source: StackSource, { estimate, focusChange, finished, allInFocus, aligned, metadata, planes }: Maps): DepthResult {
  const { width, height } = source.size;
  const small = { width: estimate.probability.width, height: estimate.probability.height };
  const same = isSameSize(small, source.size);
  const grown = (values: Float32Array): Float32Array => (same ? values : enlarge({ ...small, values }, source.size));
  const nearest = <T extends Int8Array | Uint8Array | Uint16Array>(values: T): T =>
    same ? values : resizeNearest(values, small, source.size);
  const isEnlarged = focusChange && finished && !same;
  const depth = isEnlarged ? enlargeDepth(finished.depth, estimate, allInFocus) : grown((finished ?? estimate).depth.values);
  const result: DepthResult = {
    depth: {
      width,
      height,
      values: depth,
      valid:
        focusChange && aligned
          ? covered(grown(Float32Array.from(aligned.valid)))
          : new Uint8Array(width * height).fill(Number(focusChange)),
      space: source.space,
    },
    unit: unitOf(source),
    // Full-size maps that may never be saved are computed when they are read.
    get confidence() {
      return grown(estimate.confidence);
    },
    get error() {
      return grown(estimate.error);
    },
    get beyond() {
      return nearest(beyondUnfilled(estimate.beyond, finished));
    },
    get planeIndex() {
      return nearestPlanes(result.depth, source.focusDistances, planes);
    },
    allInFocus,
    bits: source.bits,
    ...metadata,
    probability: { planes: planes.length, ...small, data: estimate.probability.values },
    ...(source.camera ? { camera: source.camera } : {}),
    ...(source.pixelSize === undefined ? {} : { pixelSize: source.pixelSize }),
  };
  if (!finished) return result;
  return Object.defineProperty(result, "filled", { enumerable: true, get: () => nearest(finished.filled) }); // a spread would compute it
}

/** 1 where every frame covers the pixel. */
function covered(shares: Float32Array): Uint8Array {
  const valid = new Uint8Array(shares.length);
  for (let i = 0; i < shares.length; i++) valid[i] = (shares[i] as number) > 0.999 ? 1 : 0;
  return valid;
}

const unitOf = ({ space, unit }: StackSource): DepthUnit =>
  space === "depth" || space === "position" ? "m" : space === "index" ? "index" : unit === "dpt" ? "dpt" : "disparity";
