/** `error`: should be fixed first; otherwise depth is computed from the remaining images, if at all. `warning`: depth will be less accurate. `note`: worth knowing. */
export type Severity = "error" | "warning" | "note";

export type FindingCode =
  | "unreadable"
  | "assumption"
  | "mixed-sizes"
  | "too-few-planes"
  | "missing-distances"
  | "contradictory-distances"
  | "duplicate"
  | "blank-frame"
  | "blurred-frame"
  | "clipped"
  | "exposure-jump"
  | "unaligned"
  | "shake"
  | "scene-moved"
  | "scale-change"
  | "order"
  | "direction"
  | "reversed"
  | "gap"
  | "never-in-focus"
  | "no-focus-change";

/** One problem of a stack, where it is, and what to do about it. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** The plane concerned, near to far from 0; absent when it is the whole stack. */
  readonly plane?: number;
  readonly file?: string;
  readonly message: string;
  readonly remedy: string;
}

/** Most serious first, then by plane. */
export function bySeverity(findings: readonly Finding[]): Finding[] {
  const order: readonly Severity[] = ["error", "warning", "note"];
  const rank = ({ severity, plane = -1 }: Finding): number => order.indexOf(severity) * 1e6 + plane;
  return [...findings].sort((one, two) => rank(one) - rank(two));
}

/** Whether something in the images is sharper in one of them than in another, so that they show depth. */
export const hasFocusChange = (findings: readonly Finding[]): boolean => findings.every(({ code }) => code !== "no-focus-change");
