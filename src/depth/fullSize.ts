import { alignedRows, type AlignedStack } from "../align/align.ts";
import { resized } from "../align/similarity.ts";
import type { Image } from "../image/image.ts";
import { resizeNearest } from "../image/resize.ts";
import { imageRows } from "../image/rows.ts";
import { enlarge, guidedEnlarge } from "../image/upsample.ts";
import type { DepthResult, DepthUnit } from "../output/result.ts";
import type { StackSource } from "../stack/stackSource.ts";
import { createBlender } from "./blend.ts";
import type { DepthEstimate } from "./estimate.ts";
import type { OnStage } from "./progress.ts";

export interface FullSizeOptions {
  readonly estimate: DepthEstimate;
  readonly aligned: AlignedStack | undefined;
  /** Planes of the source that are in the estimate. */
  readonly planes: readonly number[];
  readonly onStage: OnStage;
  readonly signal: AbortSignal;
}

/** The result in the size of the files, from the estimate in working size. */
export async function fullSize(source: StackSource, options: FullSizeOptions): Promise<DepthResult> {
  const { estimate, aligned, planes, onStage } = options;
  const allInFocus = await fullImage(source, options);
  const result = fullMaps(source, { estimate, allInFocus, aligned });
  if (allInFocus !== estimate.allInFocus) onStage("enlarge", planes.length + 1, planes.length + 1);
  return result;
}

/** The all-in-focus image. Memory holds the sum, one plane, and the next plane, which is decoded meanwhile. */
async function fullImage(source: StackSource, { estimate, aligned, planes, onStage, signal }: FullSizeOptions): Promise<Image> {
  const { width } = estimate.allInFocus;
  if (width === source.size.width) return estimate.allInFocus;
  const blender = createBlender({ ...source.size, channels: source.channels }, estimate.probability);
  const factor = source.size.width / width;
  const read = (n: number): Promise<Image> | undefined => {
    const plane = planes[n];
    const reading = plane === undefined ? undefined : source.readPlane(plane);
    reading?.catch(() => undefined); // reported where it is awaited, unless the run has been stopped before
    return reading;
  };
  let next = read(0);
  for (const [n, plane] of planes.entries()) {
    signal.throwIfAborted();
    const image = (await next) as Image;
    next = read(n + 1);
    const frame = aligned?.report[plane];
    const rows = frame ? alignedRows(image, { ...frame, transform: resized(frame.transform, factor) }) : imageRows(image);
    blender.add(rows, n);
    onStage("enlarge", n + 1, planes.length + 1); // the last step is for the maps
  }
  return blender.finish();
}

function fullMaps(
  source: StackSource,
  { estimate, allInFocus, aligned }: { estimate: DepthEstimate; allInFocus: Image; aligned: AlignedStack | undefined },
): DepthResult {
  const { width, height } = source.size;
  const small = estimate.allInFocus;
  const same = small.width === width && small.height === height;
  const grown = (values: Float32Array): Float32Array => (same ? values : enlarge({ ...small, values }, source.size));
  const { values } = estimate.depth;
  const depth = small.width < width ? guidedEnlarge({ ...small, values }, { small, guide: allInFocus }) : grown(values);
  const { planes, values: data } = estimate.probability;
  return {
    depth: {
      width,
      height,
      values: depth,
      valid: aligned ? covered(grown(Float32Array.from(aligned.valid))) : new Uint8Array(width * height).fill(1),
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
      return same
        ? estimate.beyond
        : resizeNearest({ ...small, data: estimate.beyond }, { ...source.size, into: new Int8Array(width * height) });
    },
    get planeIndex() {
      const into = new Uint16Array(same ? 0 : width * height);
      return same ? estimate.planeIndex : resizeNearest({ ...small, data: estimate.planeIndex }, { ...source.size, into });
    },
    allInFocus,
    bits: source.bits,
    probability: { planes, width: small.width, height: small.height, data },
    ...(source.camera ? { camera: source.camera } : {}),
    ...(source.pixelSize === undefined ? {} : { pixelSize: source.pixelSize }),
  };
}

/** 1 where every frame covers the pixel. */
function covered(shares: Float32Array): Uint8Array {
  const valid = new Uint8Array(shares.length);
  for (let i = 0; i < shares.length; i++) valid[i] = (shares[i] as number) > 0.999 ? 1 : 0;
  return valid;
}

const unitOf = ({ space, unit }: StackSource): DepthUnit =>
  space === "depth" ? "m" : space === "index" ? "index" : unit === "dpt" ? "dpt" : "disparity";
