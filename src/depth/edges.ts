import type { DepthMap } from "../image/depthMap.ts";
import { discMedians } from "../image/discMedian.ts";
import type { Image } from "../image/image.ts";
import { jointMedian } from "../image/jointMedian.ts";
import { localMinimum, localRange } from "../image/localExtremes.ts";
import { enlarge } from "../image/upsample.ts";
import type { DepthEstimate } from "./estimate.ts";
import { evenDepth, evenErrors, valuesInSpace } from "./evenScale.ts";
import { expectedPlanes, LEAST_ERROR } from "./maps.ts";

/** There is a depth edge where depths differ by more than this many times their expected error, and by more than this many planes. */
const [SIGNIFICANT, LEAST_JUMP] = [1.5, 0.25];

/** How far from a pixel depths are compared. As measured, edges are soft over about four pixels; finished, they are steps from one pixel of the map to the next. */
const [SOFT, STEP] = [2, 1];

const MEDIAN = { radius: 3, reach: 2, likeness: 0.5 } as const;

/** Radius of the discs, in pixels of the map, whose median an outline in full size takes last. */
const OUTLINE = 0.75;

type EdgeSource = Pick<DepthEstimate, "depth" | "error" | "confidence" | "allInFocus">;

/**
 * An even depth map with its edges where the image has them. A network decides at a quarter of the resolution, so across a depth edge its depth changes gradually, over a few pixels. There each depth
 * becomes the joint median of those around it, each of which counts 1/√e, with e its expected error in planes: the depth that most pixels of its colour agree on, the surer ones counting more. As a median it was
 * measured nearby, and is not one between object and background. All other depth is untouched. `covered` is 0 where a frame was moved out of the image: depth there counts nothing,
 * and stays what it is until it is filled.
 */
export function edgesOfImage(source: EdgeSource, covered?: Uint8Array): DepthMap {
  const { depth, confidence, allInFocus } = source;
  const trust = confidence.map((each, i) => (covered?.[i] === 0 ? 0 : 1 / Math.sqrt(Math.max(expectedPlanes(each), LEAST_ERROR))));
  const windowAt = jointMedian({ map: depth, colours: allInFocus, weights: trust }, MEDIAN);
  const values = depth.values.slice();
  forEachEdge(source, SOFT, (x, y, i) => {
    if (covered?.[i] !== 0) values[i] = windowAt(x, y)(x, y, allInFocus.data, i * allInFocus.channels);
  });
  return { ...depth, values };
}

/**
 * The finished depth of an estimate in the size of `photo`, the all-in-focus image in full size: interpolated in its even scale, but at depth edges each pixel of the photo takes the joint median of the depths
 * around it by its own colour. Grain and texture would leave teeth along outlines, so the plain median of what lies around it there is taken last.
 */
export function enlargeDepth(depth: DepthMap, estimate: EdgeSource, photo: Image): Float32Array {
  const { confidence, allInFocus } = estimate;
  const even = evenDepth(depth);
  const windowAt = jointMedian({ map: even, colours: allInFocus }, MEDIAN);
  const [across, down] = [photo.width / depth.width, photo.height / depth.height];
  const values = enlarge(even, photo);
  const outlines: number[] = [];
  forEachEdge({ depth: even, error: evenErrors(estimate), confidence }, STEP, (x, y) => {
    const median = windowAt(x, y);
    const [left, right, top, bottom] = [firstOf(x, across), firstOf(x + 1, across), firstOf(y, down), firstOf(y + 1, down)];
    for (let v = top; v < bottom; v++)
      for (let u = left; u < right; u++) {
        const j = v * photo.width + u;
        values[j] = median((u + 0.5) / across - 0.5, (v + 0.5) / down - 0.5, photo.data, j * photo.channels);
        outlines.push(j);
      }
  });
  const { width, height } = photo;
  const smooth = discMedians({ width, height, values }, outlines, OUTLINE * Math.max(across, down));
  for (let k = 0; k < outlines.length; k++) values[outlines[k] as number] = smooth[k] as number;
  return valuesInSpace(depth.space, values);
}

/** The first pixel of the photo whose centre lies within a pixel of the map. */
const firstOf = (pixel: number, factor: number): number => Math.ceil(pixel * factor - 0.5);

/** In the unit of an expected error, which is also given in planes: so both say how far apart planes are, but for an error of 0. */
const significantJump = (error: number, planes: number): number => Math.max(SIGNIFICANT, planes > 0 ? LEAST_JUMP / planes : 0) * error;

/** Calls `visit` with each pixel at a depth edge: what the surest of the depths around it takes for one. */
function forEachEdge(
  { depth, error, confidence }: Omit<EdgeSource, "allInFocus">,
  around: number,
  visit: (x: number, y: number, i: number) => void,
): void {
  const { width, height } = depth;
  const significant = error.map((each, i) => significantJump(each, expectedPlanes(confidence[i] as number)));
  const least = localMinimum({ width, height, values: significant }, around);
  const range = localRange(depth, around);
  for (let y = 0, i = 0; y < height; y++)
    for (let x = 0; x < width; x++, i++) if ((range[i] as number) > (least[i] as number)) visit(x, y, i);
}
