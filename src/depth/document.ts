import { hasFocusChange, type Finding } from "../check/finding.ts";
import type { PlaneOrder } from "../check/planeOrder.ts";
import type { Size } from "../image/image.ts";
import type { DepthNetwork } from "../network/depthNetwork.ts";
import type { Average, NetworkFacts } from "../network/facts.ts";
import { validFraction, validRange } from "../output/result.ts";
import type { ResultSummary } from "../output/resultJson.ts";
import type { StackSource } from "../stack/stackSource.ts";
import { beyondUnfilled } from "./fill.ts";
import type { DepthRun } from "./run.ts";
import type { TruthErrors } from "./node/truth.ts";

export interface DepthDocument extends ResultSummary {
  /** What the weights file says about the network (docs/library.md). */
  readonly network: Pick<NetworkFacts, "planes" | "licence" | "training"> & {
    readonly average: Average;
    /** Whether its errors have been calibrated; else they are those of the shipped small network. */
    readonly calibrated: boolean;
  };
  /** Whether something is sharper in one image than in another. If not, depth is unknown everywhere and `range` is null. */
  readonly focusChange: boolean;
  /** Mean ±e of the pixels that every image covers, in the unit of the depth; null if there are none. */
  readonly expectedError: number | null;
  /** Shares of the pixels at the first plane or nearer, and at the last or farther: how far beyond, no one can tell. Filled pixels are neither. */
  readonly beyond: { readonly nearer: number; readonly farther: number };
  /** The longer side that was asked for; absent where there is no choice. */
  readonly size?: number | "full" | "auto";
  /** Size of the images that the network saw. */
  readonly working: Size;
  /** Which image was taken as the nearest, and why. */
  readonly order: PlaneOrder;
  /** Whether depth was to be finished: edges moved, plain areas filled, grain smoothed. */
  readonly fill: "on" | "off";
  /** Share of the pixels whose depth was carried in from around them; absent with `--fill off`. */
  readonly filled?: number;
  readonly findings: readonly Finding[];
  readonly errors?: TruthErrors;
}

export type RunDescription = Omit<DepthDocument, "files" | "encoding" | "errors">;

export interface RunFacts {
  readonly model: string;
  readonly network: Pick<DepthNetwork, "device" | "reason" | "facts" | "average" | "notes">;
  /** "off", "auto", or the file it came from. */
  readonly align: string;
  readonly seconds: Readonly<Record<string, number>>;
}

/** What result.json says about a run, but for what was saved of it. */
export function describeRun(run: DepthRun, { model, network, align, seconds }: RunFacts): RunDescription {
  const { source, result } = run;
  const { depth, unit } = result;
  const working = run.stack.images[0] as Size;
  const focusChange = hasFocusChange(run.findings);
  const beyond = beyondUnfilled(run.estimate.beyond, run.finished);
  return {
    model,
    network: factsOf(network),
    device: network.device,
    deviceReason: network.reason,
    planes: run.planes.length,
    width: depth.width,
    height: depth.height,
    working: { width: working.width, height: working.height },
    unit,
    ...(source.zeroPosition === undefined ? {} : { zeroPosition: source.zeroPosition }),
    distances: run.planes.map((n) => ({ file: source.files[n] as string, ...(source.focus[n] as StackSource["focus"][number]) })),
    order: run.order,
    focusChange,
    range: focusChange ? validRange(depth) : null,
    validFraction: validFraction(depth),
    expectedError: meanError(run),
    beyond: { nearer: shareOf(beyond, -1), farther: shareOf(beyond, 1) },
    fill: run.finished ? "on" : "off",
    ...(run.finished ? { filled: shareOf(run.finished.filled, 1) } : {}),
    invalidFocusTrend: run.estimate.invalidFocusTrend,
    aligned: alignmentSummary(run, align),
    findings: run.findings,
    notes: [...source.notes, ...network.notes],
    seconds: Object.fromEntries(Object.entries(seconds).map(([name, value]) => [name, Number(value.toFixed(3))])),
  };
}

/** As they were used; how it was calibrated is in docs/confidence.md. */
const factsOf = ({ facts, average }: RunFacts["network"]): DepthDocument["network"] => ({
  average,
  ...(facts.planes ? { planes: facts.planes } : {}),
  calibrated: facts.errorModel !== undefined,
  ...(facts.licence === undefined ? {} : { licence: facts.licence }),
  ...(facts.training ? { training: facts.training } : {}),
});

/** In working size: the mean of the enlarged map is the same. */
function meanError({ estimate: { error }, aligned }: DepthRun): number | null {
  let [sum, count] = [0, 0];
  for (let i = 0; i < error.length; i++) {
    if (aligned?.valid[i] === 0) continue;
    sum += error[i] as number;
    count += 1;
  }
  return count > 0 ? sum / count : null;
}

function shareOf(values: ArrayLike<number>, wanted: number): number {
  let count = 0;
  for (let i = 0; i < values.length; i++) if (values[i] === wanted) count += 1;
  return count / values.length;
}

function alignmentSummary({ aligned, result }: DepthRun, align: string): object {
  if (!aligned) return align === "off" ? { mode: "off" } : { mode: "off", reason: "the images show too little to be aligned" };
  const factor = result.depth.width / aligned.alignment.width;
  const left = aligned.report.flatMap(({ ok, reason }, plane) => (ok ? [] : [{ plane, reason }]));
  const residuals = aligned.report.flatMap(({ residual }) => (residual === undefined ? [] : [residual * factor]));
  return {
    mode: align === "auto" ? "auto" : "file",
    reference: aligned.alignment.reference,
    ...(residuals.length > 0 ? { residual: Math.max(...residuals) } : {}),
    ...(left.length > 0 ? { leftOut: left } : {}),
  };
}
