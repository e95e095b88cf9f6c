import type { VNode } from "preact";

import { isKnown } from "../../../src/output/result.ts";
import { TEST_IDS, type ViewResult } from "../contract.ts";
import type { Pixel } from "../state/curve.ts";
import { depthText, errorText } from "../state/words.ts";

/** The values of one pixel. */
export function Readout({ view, pixel: { x, y }, largest }: { view: ViewResult; pixel: Pixel; largest: number }): VNode {
  const { result } = view;
  const { depth, unit, confidence, error, beyond, filled, planeIndex } = result;
  const at = y * depth.width + x;
  const facts: readonly (readonly [string, string])[] = isKnown(depth, at)
    ? [
        [
          "Depth",
          `${depthText(depth.values[at] as number, { unit, largest })}${filled?.[at] ? ", filled in" : ""}${beyondWords(beyond?.[at])}`,
        ],
        ["Error", errorText(error?.[at] ?? NaN, { unit, largest })],
        ["Confidence", `${Math.round(100 * (confidence?.[at] ?? 0))} %`],
        ["Nearest focus", `plane ${(planeIndex?.[at] ?? 0) + 1}`],
      ]
    : [["Depth", `unknown: ${view.focusChange ? "not covered by all images" : "no focus change found"}`]];
  return (
    <figcaption class="readout" data-testid={TEST_IDS.readout} aria-live="polite">
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <div>
          <dt>Pixel</dt>
          <dd>
            {x + 1}, {y + 1}
          </dd>
        </div>
      </dl>
    </figcaption>
  );
}

/** At an end of the planes no one can tell how far beyond it a pixel lies. */
function beyondWords(beyond: number | undefined): string {
  if (beyond === -1) return " or nearer";
  return beyond === 1 ? " or farther" : "";
}
