import type { VNode } from "preact";
import { useState } from "preact/hooks";

import { numberText } from "../../../src/stack/quantity.ts";
import type { Unit } from "../../../src/stack/stackFormat.ts";
import { TEST_IDS } from "../contract.ts";
import { calibrate, type Spacing } from "../state/calibration.ts";
import { UNIT_SYMBOLS, type Draft } from "../state/distances.ts";
import type { OpenedStack } from "../worker/protocol.ts";
import { Choice, DecimalInput, FieldProblem } from "./fields.tsx";

interface CalibrateProps {
  readonly stack: OpenedStack;
  readonly draft: Draft;
  readonly onDistances: (draft: Draft) => void;
}

interface Known {
  readonly plane: number;
  readonly text: string;
}

const LENGTHS: readonly (readonly [Unit, string])[] = [
  ["m", "metres"],
  ["mm", "millimetres"],
  ["um", "micrometres"],
];

/** Computes the distances of all images from two known ones. */
export function CalibratePanel({ stack, draft, onDistances }: CalibrateProps): VNode {
  const planes = stack.planes.length;
  const [one, setOne] = useState<Known>({ plane: 0, text: "" });
  const [two, setTwo] = useState<Known>({ plane: planes - 1, text: "" });
  const [length, setLength] = useState<Unit>(draft.unit === "mm" || draft.unit === "um" ? draft.unit : "m");
  const [spacing, setSpacing] = useState<Spacing>("dioptres");
  const [problem, setProblem] = useState<string>();
  const fill = (): void => {
    const points = [one, two].map(({ plane, text }) => ({ plane, distance: Number(text.replace(",", ".")) }));
    const found = calibrate([points[0], points[1]] as Parameters<typeof calibrate>[0], { planes, spacing });
    setProblem("problem" in found ? found.problem : undefined);
    if ("problem" in found) return;
    const texts = stack.planes.map(({ frame }, n): [number, string] => [frame, numberText(found.distances[n] as number)]);
    onDistances({ ...draft, unit: length, texts: Object.fromEntries(texts) });
  };
  return (
    <details class="calibrate" data-testid={TEST_IDS.calibrate}>
      <summary>I know only two distances</summary>
      <KnownPlane label="First" planes={planes} known={one} unit={length} onChange={setOne} />
      <KnownPlane label="Second" planes={planes} known={two} unit={length} onChange={setTwo} />
      <Choice label="in" value={length} choices={LENGTHS} onChange={setLength} />
      <SpacingChoice spacing={spacing} onChange={setSpacing} />
      <FieldProblem problem={problem} />
      <button type="button" onClick={fill}>
        Fill in the rest
      </button>
    </details>
  );
}

interface KnownPlaneProps {
  readonly label: string;
  readonly planes: number;
  readonly known: Known;
  readonly unit: Unit;
  readonly onChange: (known: Known) => void;
}

function KnownPlane({ label, planes, known, unit, onChange }: KnownPlaneProps): VNode {
  return (
    <fieldset class="known">
      <legend class="visually-hidden">{label} known distance</legend>
      <label>
        Image
        <select
          value={known.plane}
          onChange={({ currentTarget }) => {
            onChange({ ...known, plane: Number(currentTarget.value) });
          }}
        >
          {Array.from({ length: planes }, (_, n) => (
            <option key={n} value={n}>
              {n + 1}
            </option>
          ))}
        </select>
      </label>
      <label>
        is at
        <DecimalInput
          value={known.text}
          onInput={(text) => {
            onChange({ ...known, text });
          }}
        />
      </label>
      <span class="unit">{UNIT_SYMBOLS[unit]}</span>
    </fieldset>
  );
}

/** What increases evenly from image to image. */
export function SpacingChoice({ spacing, onChange }: { spacing: Spacing; onChange: (spacing: Spacing) => void }): VNode {
  return <Choice label="The focus moved in even steps of" value={spacing} choices={SPACINGS} onChange={onChange} />;
}

const SPACINGS = [
  ["dioptres", "the focus ring (focus bracketing)"],
  ["distance", "distance (rail, microscope)"],
] as const;
