import type { FocusSource, Unit } from "../stack/stackFormat.ts";
import type { DepthUnit } from "./result.ts";

/** The one JSON document of a run: what `--json` prints and `result.json` holds. */
export interface ResultSummary {
  readonly model: string;
  readonly device: string;
  /** Why this device. */
  readonly deviceReason?: string;
  readonly planes: number;
  readonly width: number;
  readonly height: number;
  readonly unit: DepthUnit;
  readonly distances: readonly { readonly file: string; readonly value: number; readonly unit: Unit; readonly source: FocusSource }[];
  readonly range: readonly [number, number];
  readonly validFraction: number;
  readonly invalidFocusTrend?: number;
  readonly aligned?: object;
  readonly notes?: readonly string[];
  /** Output name → file. */
  readonly files: Readonly<Record<string, string>>;
  /** Output name → what its numbers mean. */
  readonly encoding?: Readonly<Record<string, object>>;
  readonly seconds: Readonly<Record<string, number>>;
}

/** Indented, one line feed at the end; numbers JSON cannot hold become null. */
export function encodeResultJson(summary: ResultSummary & Readonly<Record<string, unknown>>): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(summary, null, 2)}\n`);
}
