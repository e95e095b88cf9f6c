import type { VNode } from "preact";

import { TEST_IDS } from "../contract.ts";
import { inPageWords } from "../state/words.ts";
import type { Problem } from "../worker/protocol.ts";

/** What went wrong and what to do about it; read out at once. */
export function ProblemAlert({ problem: { message, remedy } }: { problem: Problem }): VNode {
  return (
    <div class="problem" role="alert" data-testid={TEST_IDS.problem}>
      <p class="problem-message">{inPageWords(message)}</p>
      {remedy !== undefined && <p>{inPageWords(remedy)}</p>}
    </div>
  );
}
