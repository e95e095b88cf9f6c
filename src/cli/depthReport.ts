import type { Finding } from "../check/finding.ts";
import { createProgress } from "../depth/progress.ts";
import type { RunReport } from "../depth/node/stackRun.ts";

/** Progress, notes and warnings on standard error; nothing if `quiet`. */
export function createReport({ quiet }: { quiet: boolean }): RunReport {
  return {
    onStage: createProgress(process.stderr, { quiet }),
    onNote: (note) => {
      if (!quiet) process.stderr.write(`${note}\n`);
    },
    onFindings: quiet ? () => undefined : warn,
  };
}

function warn(findings: readonly Finding[]): void {
  for (const { severity, message, remedy } of findings)
    if (severity !== "note") process.stderr.write(`${severity === "error" ? "fault" : "warning"}: ${message}\n  ${remedy}\n`);
}
