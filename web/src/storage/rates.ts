import { RATES, STAGES, type WorkStage } from "../state/progress.ts";

const KEY = "dualfocus-rates";

/** The speed of this machine as earlier runs measured it; the built-in values where there was none. */
export function storedRates(): Readonly<Record<WorkStage, number>> {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Record<WorkStage, unknown>>;
    const rate = (stage: WorkStage): number => {
      const value = kept[stage];
      return typeof value === "number" && value > 0 && Number.isFinite(value) ? value : RATES[stage];
    };
    return Object.fromEntries(STAGES.map((stage) => [stage, rate(stage)])) as Record<WorkStage, number>;
  } catch {
    return RATES; // no storage, or something else in it
  }
}

export function storeRates(rates: Readonly<Record<WorkStage, number>>): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(rates));
  } catch {
    // Without storage the next visit begins with the built-in values.
  }
}
