import { parseAlignment, reorderAlignment, formatAlignment } from "../../../src/align/alignment.ts";
import type { Finding } from "../../../src/check/finding.ts";
import type { ViewResult } from "../contract.ts";
import type { Figures } from "../worker/protocol.ts";

/** The maps of all planes, [planes, …], in the opposite order. */
export function reversedPlanes(data: Float32Array, planes: number): Float32Array {
  const size = data.length / planes;
  const reversed = new Float32Array(data.length);
  for (let n = 0; n < planes; n++) reversed.set(data.subarray(n * size, (n + 1) * size), (planes - 1 - n) * size);
  return reversed;
}

/**
 * The result as it would be had the images been given in the opposite order: plane indices are mirrored, so near becomes far, and all that
 * follows from them with it. Only for depth as a plane index, whose direction nothing but the order of the files tells. The network need not run again: each
 * plane keeps its p.
 */
export function turnedResult(view: ViewResult): ViewResult {
  const { result, planes, focusDistances, sharpness, summary, findings, alignmentJson } = view;
  if (result.unit !== "index") throw new RangeError("only depth as a plane index can be turned");
  const [first, last] = [focusDistances[0] as number, focusDistances.at(-1) as number];
  const mirrored = (value: number): number => first + last - value;
  const { depth, planeIndex, beyond, probability, range } = result;
  const alignment = alignmentJson === undefined ? undefined : parseAlignment(alignmentJson);
  const frames = alignment?.frames.length ?? planes.length;
  const backwards = Array.from({ length: frames }, (_, n) => frames - 1 - n);
  const turnedAlignment = alignment && reorderAlignment(alignment, backwards);
  return {
    ...view,
    result: {
      ...result,
      depth: { ...depth, values: depth.values.map(mirrored) },
      ...(planeIndex ? { planeIndex: planeIndex.map((plane) => planes.length - 1 - plane) } : {}),
      ...(beyond ? { beyond: beyond.map((side) => -side) } : {}),
      ...(probability ? { probability: { ...probability, data: reversedPlanes(probability.data, probability.planes) } } : {}),
      ...(range ? { range: [mirrored(range[1]), mirrored(range[0])] } : {}),
    },
    planes: [...planes].reverse().map((plane) => ({ ...plane, value: mirrored(plane.value) })),
    focusDistances: [...focusDistances].reverse().map(mirrored),
    sharpness: { ...sharpness, data: reversedPlanes(sharpness.data, sharpness.planes) },
    ...(turnedAlignment ? { alignmentJson: formatAlignment(turnedAlignment) } : {}),
    findings: turnedFindings(findings, frames),
    summary: turnedSummary(summary, { frames, mirrored }),
  };
}

const turnedFindings = (findings: readonly Finding[], frames: number): Finding[] =>
  findings.map((finding) => (finding.plane === undefined ? finding : { ...finding, plane: frames - 1 - finding.plane }));

type Summary = ViewResult["summary"];

/** What result.json says of planes, in the new order. */
function turnedSummary(summary: Summary, { frames, mirrored }: { frames: number; mirrored: (value: number) => number }): Summary {
  const { distances, range, findings, beyond, aligned } = summary as Summary & {
    readonly findings?: readonly Finding[];
    readonly beyond?: { readonly nearer: number; readonly farther: number };
    readonly aligned?: { readonly reference?: number; readonly leftOut?: readonly { readonly plane: number }[] };
  };
  const turnedPlane = (plane: number): number => frames - 1 - plane;
  return {
    ...summary,
    distances: [...distances].reverse().map((distance) => ({ ...distance, value: mirrored(distance.value) })),
    range: [mirrored(range[1]), mirrored(range[0])],
    ...(findings ? { findings: turnedFindings(findings, frames) } : {}),
    ...(beyond ? { beyond: { nearer: beyond.farther, farther: beyond.nearer } } : {}),
    ...(aligned
      ? {
          aligned: {
            ...aligned,
            ...(aligned.reference === undefined ? {} : { reference: turnedPlane(aligned.reference) }),
            ...(aligned.leftOut ? { leftOut: aligned.leftOut.map((each) => ({ ...each, plane: turnedPlane(each.plane) })).reverse() } : {}),
          },
        }
      : {}),
  };
}

/** The same maps, by planes counted from the other end. */
export function turnedFigures({ planes: shown, grid, ...maps }: Figures, planes: number): Figures {
  const reversed = (data: Float32Array): Float32Array => reversedPlanes(data, shown.length);
  return {
    planes: shown.map((plane) => planes - 1 - plane).reverse(),
    grid,
    gradient: reversed(maps.gradient),
    surface: reversed(maps.surface),
    surfaceGradient: reversed(maps.surfaceGradient),
  };
}
