import type { VNode } from "preact";

import type { Finding } from "../../../src/check/finding.ts";
import { TEST_IDS } from "../contract.ts";
import type { CheckState } from "../state/state.ts";
import { ProgressBar } from "./ProgressBar.tsx";
import { checkSummary, findingRemedy, sentence, SEVERITY_WORDS } from "../state/words.ts";

/** The findings of the stack check. */
export function FindingsPanel({ check }: { check: CheckState }): VNode {
  return (
    <section class="card" aria-labelledby="check-title" data-testid={TEST_IDS.findings} data-status={check.status}>
      <h2 id="check-title">Stack check</h2>
      <p role="status">{summaryOf(check)}</p>
      {check.status === "busy" && check.progress && (
        <ProgressBar progress={check.progress} label="Progress of the check" testId={TEST_IDS.checkProgress} />
      )}
      {check.status === "done" && <FindingsList findings={check.findings} />}
    </section>
  );
}

export function FindingsList({ findings }: { findings: readonly Finding[] }): VNode | null {
  if (findings.length === 0) return null;
  return (
    <ul class="findings">
      {findings.map((finding) => (
        <li key={`${finding.code} ${finding.plane ?? ""} ${finding.message}`} class={`finding finding-${finding.severity}`}>
          <p class="finding-kind">{SEVERITY_WORDS[finding.severity]}</p>
          <p>{sentence(finding.message)}</p>
          <p class="quiet">{findingRemedy(finding)}</p>
        </li>
      ))}
    </ul>
  );
}

function summaryOf(check: CheckState): string {
  switch (check.status) {
    case "waiting":
    case "busy":
      return "Checking order, sharpness, exposure and camera shake …";
    case "failed":
      return [check.problem.message, check.problem.remedy].filter(Boolean).join(" ");
    case "done":
      return checkSummary(check.findings);
  }
}
