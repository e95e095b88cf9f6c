import type { FocusSource, Unit } from "../stack/stackFormat.ts";
import type { DepthUnit } from "./result.ts";

/** The JSON document of a run: printed by `--json`, saved as `result.json`. */
export interface ResultSummary {
  /** Of the program; absent where the page made the result. */
  readonly version?: string;
  readonly model: string;
  readonly device: string;
  /** Why this device was chosen. */
  readonly deviceReason?: string;
  readonly planes: number;
  readonly width: number;
  readonly height: number;
  readonly unit: DepthUnit;
  /** For microscopes: the z position of the first plane [m], which depth counts from. Added to a depth, it gives the stage's own z. */
  readonly zeroPosition?: number;
  readonly distances: readonly { readonly file: string; readonly value: number; readonly unit: Unit; readonly source: FocusSource }[];
  /** Least and greatest depth; null without a change of focus. */
  readonly range: readonly [number, number] | null;
  readonly validFraction: number;
  readonly invalidFocusTrend?: number;
  readonly aligned?: object;
  readonly notes?: readonly string[];
  /** Output name → file. */
  readonly files: Readonly<Record<string, string>>;
  /** Output name → meaning of its numbers. */
  readonly encoding?: Readonly<Record<string, object>>;
  readonly seconds: Readonly<Record<string, number>>;
}

/** Indented, with a newline at the end; NaN and infinities become null. */
export function encodeResultJson(summary: ResultSummary & Readonly<Record<string, unknown>>): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(summary, null, 2)}\n`);
}
