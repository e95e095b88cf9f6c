import type { VNode } from "preact";

import type { Unit } from "../../../src/stack/stackFormat.ts";
import { TEST_IDS } from "../contract.ts";
import { inFileOrder, UNIT_NAMES } from "../state/distances.ts";
import { LABELS } from "../state/words.ts";
import type { ViewProps } from "./App.tsx";
import { Choice } from "./fields.tsx";

const CHOICES: readonly Unit[] = ["m", "mm", "um", "dpt"];

/** The unit of the distances; "I don't know" is one of the choices. */
export function DistanceOptions({ state: { draft, draftProblem }, controller }: ViewProps): VNode {
  const units = draft.unit === "index" || CHOICES.includes(draft.unit) ? CHOICES : [...CHOICES, draft.unit];
  return (
    <>
      <Choice
        label="The numbers below the images are in"
        value={draft.unit}
        choices={[...units.map((unit) => [unit, UNIT_NAMES[unit]] as const), ["index", LABELS.noDistances]]}
        testId={TEST_IDS.unit}
        onChange={(unit) => {
          void controller.edit(unit === "index" ? inFileOrder({ ...draft, unit }) : { ...draft, unit });
        }}
      />
      {draft.unit === "index" && (
        <p class="quiet">Depth will be a plane index: it tells what is nearer and what is farther, but not by how much.</p>
      )}
      {draft.unit !== "index" && (
        <p class="quiet">
          A list, or the first distance and the step of a focus rail (150mm+0.1mm), fills all fields in the order of the file names.
        </p>
      )}
      {draftProblem && (
        <p class="field-problem" role="alert">
          {draftProblem.message} {draftProblem.remedy}
        </p>
      )}
    </>
  );
}
