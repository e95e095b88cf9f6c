import { parseAlignment } from "../../../src/align/alignment.ts";
import type { PlaneOrder } from "../../../src/check/planeOrder.ts";
import { baseName } from "../../../src/stack/stackFormat.ts";
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
  const { result, planes, focusDistances, sharpness, summary, alignmentJson } = view;
  if (result.unit !== "index") throw new RangeError("only depth as a plane index can be turned");
  const [first, last] = [focusDistances[0] as number, focusDistances.at(-1) as number];
  const mirrored = (value: number): number => first + last - value;
  const { depth, planeIndex, beyond, probability, range } = result;
  const alignment = alignmentJson === undefined ? undefined : parseAlignment(alignmentJson);
  const frames = alignment?.frames.length ?? planes.length;
  return {
    ...view,
    result: {
      ...result,
      depth: { ...depth, values: depth.values.map(mirrored) },
      ...(planeIndex ? { planeIndex: planeIndex.map((plane) => frames - 1 - plane) } : {}),
      ...(beyond ? { beyond: beyond.map((side) => -side) } : {}),
      ...(probability ? { probability: { ...probability, data: reversedPlanes(probability.data, probability.planes) } } : {}),
      ...(range ? { range: [mirrored(range[1]), mirrored(range[0])] } : {}),
    },
    planes: [...planes].reverse().map((plane) => ({ ...plane, value: mirrored(plane.value) })),
    focusDistances: [...focusDistances].reverse().map(mirrored),
    sharpness: { ...sharpness, data: reversedPlanes(sharpness.data, sharpness.planes) },
    ...said(view, { frames, summary: turnedSummary(summary, { frames, mirrored }) }),
  };
}

/** What is said of the order: that the user turned it, or, turned back, what was said at first. */
function said(
  { findings, unturned, planes, ...view }: ViewResult,
  { frames, summary }: { frames: number; summary: Summary },
): Pick<ViewResult, "findings" | "summary" | "unturned"> {
  const order = view.summary["order"] as PlaneOrder | undefined;
  if (unturned) return { findings: unturned.findings, summary: withOrder(summary, unturned), unturned: undefined };
  const nearest = baseName(planes.at(-1)?.file ?? "");
  const sentence = `${nearest} taken as nearest, because you turned the order`;
  const turned: PlaneOrder | undefined = order && {
    ...order,
    planes: [...order.planes].reverse(),
    nearest,
    certainty: "known",
    probability: 1,
    reversed: !order.reversed,
    sentence,
  };
  const others = turnedFindings(findings, frames).map((each) => (each.code === "direction" ? { ...each, message: sentence } : each));
  return { findings: others, summary: withOrder(summary, { order: turned, findings: others }), unturned: { order, findings } };
}

const withOrder = (summary: Summary, { order, findings }: NonNullable<ViewResult["unturned"]>): Summary => ({
  ...summary,
  ...(order ? { order } : {}),
  ...("findings" in summary ? { findings } : {}),
});

const turnedFindings = (findings: readonly Finding[], frames: number): Finding[] =>
  findings.map((finding) => (finding.plane === undefined ? finding : { ...finding, plane: frames - 1 - finding.plane }));

type Summary = ViewResult["summary"];

/** What result.json says of planes, in the new order. */
function turnedSummary(summary: Summary, { frames, mirrored }: { frames: number; mirrored: (value: number) => number }): Summary {
  const { distances, range, beyond, aligned } = summary as Summary & {
    readonly beyond?: { readonly nearer: number; readonly farther: number };
    readonly aligned?: { readonly reference?: number; readonly leftOut?: readonly { readonly plane: number }[] };
  };
  const turnedPlane = (plane: number): number => frames - 1 - plane;
  return {
    ...summary,
    distances: [...distances].reverse().map((distance) => ({ ...distance, value: mirrored(distance.value) })),
    range: range && [mirrored(range[1]), mirrored(range[0])],
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
