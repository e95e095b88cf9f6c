import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

import type { Size } from "../../../src/image/image.ts";
import { extent, type DepthResult } from "../../../src/output/result.ts";
import { displayUnit, ticks } from "../../../src/output/ticks.ts";
import { TEST_IDS } from "../contract.ts";
import { profilePoints, type Frame } from "../state/curve.ts";
import { lineFacts, profileOf, type MeasuredLine } from "../state/measure.ts";

const FRAME: Frame = { width: 360, height: 180, left: 52, right: 14, top: 12, bottom: 36 };

interface ProfilePanelProps {
  readonly result: DepthResult;
  /** Undefined while nothing is measured; then up to two ends. */
  readonly line: Partial<MeasuredLine> | undefined;
  readonly onLine: (line: Partial<MeasuredLine> | undefined) => void;
}

/** A line between two pixels: the distance in space, and depth along the line. */
export function ProfilePanel({ result, line, onLine }: ProfilePanelProps): VNode {
  const { from, to } = line ?? {};
  return (
    <section class="card" aria-labelledby="profile-title">
      <div class="card-title">
        <h2 id="profile-title">Measure</h2>
        <button
          type="button"
          aria-pressed={line !== undefined}
          data-testid={TEST_IDS.profileButton}
          onClick={() => {
            onLine(line ? undefined : {});
          }}
        >
          Line between two points
        </button>
      </div>
      {line && !(from && to) && (
        <p role="status" class="quiet">
          {from
            ? "Click the other end, or move there with the arrow keys and press Enter."
            : "Click one end on the image, or press Enter there."}
        </p>
      )}
      {from && to && <Profile result={result} line={{ from, to }} />}
    </section>
  );
}

function Profile({ result, line }: { result: DepthResult; line: MeasuredLine }): VNode {
  const values = useMemo(() => profileOf(result, line), [result, line]);
  const facts = useMemo(() => lineFacts(result, line), [result, line]);
  const [least, greatest] = extent(values);
  const { name, factor } = displayUnit(result.unit, greatest);
  const offset = result.unit === "index" ? 1 : 0; // displayed planes count from one
  const margin = 0.05 * (greatest - least) || Math.abs(greatest) * 0.01 || 1;
  const range: readonly [number, number] = [least - margin, greatest + margin];
  const y = (value: number): number =>
    FRAME.height - FRAME.bottom - ((value - range[0]) / (range[1] - range[0])) * (FRAME.height - FRAME.top - FRAME.bottom);
  return (
    <div data-testid={TEST_IDS.profile}>
      <dl class="facts" aria-live="polite">
        {facts.map(([title, value]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {least <= greatest && (
        <svg class="curve" viewBox={`0 0 ${FRAME.width} ${FRAME.height}`} role="img" aria-label="Depth along the line">
          <g class="axes" aria-hidden="true">
            {ticks([range[0] * factor + offset, range[1] * factor + offset], 4).map(({ value, label }) => {
              const at = y((value - offset) / factor);
              return (
                <g key={label}>
                  <line x1={FRAME.left} x2={FRAME.width - FRAME.right} y1={at} y2={at} />
                  <text x={FRAME.left - 6} y={at + 4} text-anchor="end">
                    {label}
                  </text>
                </g>
              );
            })}
            <text x={FRAME.left} y={FRAME.height - 8}>
              A
            </text>
            <text x={(FRAME.left + FRAME.width - FRAME.right) / 2} y={FRAME.height - 8} text-anchor="middle">
              depth along the line [{name}]
            </text>
            <text x={FRAME.width - FRAME.right} y={FRAME.height - 8} text-anchor="end">
              B
            </text>
          </g>
          {profilePoints(values, { range, frame: FRAME }).map((points) => (
            <polyline key={points} class="curve-probability" points={points} />
          ))}
        </svg>
      )}
    </div>
  );
}

/** The line over the image, its ends named as in the profile. */
export function LineOverlay({ line: { from, to }, size: { width, height } }: { line: Partial<MeasuredLine>; size: Size }): VNode {
  const ends = [...(from ? [["A", from] as const] : []), ...(to ? [["B", to] as const] : [])];
  return (
    <>
      {from && to && (
        <svg class="line-overlay" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {["line-halo", "line-stroke"].map((name) => (
            <line key={name} class={name} x1={from.x + 0.5} y1={from.y + 0.5} x2={to.x + 0.5} y2={to.y + 0.5} />
          ))}
        </svg>
      )}
      {ends.map(([name, { x, y }]) => (
        <span
          key={name}
          class="line-end"
          aria-hidden="true"
          style={{ left: `${(100 * (x + 0.5)) / width}%`, top: `${(100 * (y + 0.5)) / height}%` }}
        >
          {name}
        </span>
      ))}
    </>
  );
}
