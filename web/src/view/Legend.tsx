import type { ComponentChildren, VNode } from "preact";
import { useMemo, useRef } from "preact/hooks";

import type { DepthResult } from "../../../src/output/result.ts";
import { displayUnit, ticks } from "../../../src/output/ticks.ts";
import { TEST_IDS } from "../contract.ts";
import { depthSource, paintValues, type DepthColors, type Painting } from "../paint.ts";
import { withEnd } from "../state/look.ts";
import { PaintedCanvas } from "./PaintedCanvas.tsx";

const COLOURS = 256;

interface DepthLegendProps {
  readonly result: DepthResult;
  readonly colors: DepthColors;
  /** What the strip spans. */
  readonly full: readonly [number, number];
  /** Undefined resets it. */
  readonly onRange: (range: readonly [number, number] | undefined) => void;
}

/** The legend of the depth map: a strip of colours with round numbers below it, and handles for the first and last colour. */
export function DepthLegend({ result, colors, full, onRange }: DepthLegendProps): VNode {
  const [least, greatest] = full;
  const { range } = colors;
  const strip = useMemo(() => {
    const values = Float32Array.from({ length: COLOURS }, (_, i) => least + ((i + 0.5) / COLOURS) * (greatest - least));
    const depth = { width: COLOURS, height: 1, values, valid: new Uint8Array(COLOURS).fill(1), space: result.depth.space };
    return depthSource({ depth }, colors).paint();
  }, [least, greatest, result, colors.map, colors.flip, range]);
  const offset = result.unit === "index" ? 1 : 0; // displayed planes count from one
  const { name, factor } = displayUnit(result.unit, greatest);
  const shown = (value: number): number => value * factor + offset;
  const text = (value: number): string => `${Number(shown(value).toPrecision(4))} ${name}`;
  const isChanged = range[0] !== full[0] || range[1] !== full[1];
  return (
    <Strip
      painting={strip}
      range={[shown(least), shown(greatest)]}
      unit={name}
      label={`Colours from ${text(range[0])} to ${text(range[1])}`}
    >
      {greatest > least &&
        ([0, 1] as const).map((end) => (
          <Handle
            key={end}
            label={end === 0 ? "First colour" : "Last colour"}
            testId={`${TEST_IDS.legendHandle}${end}`}
            share={(range[end] - least) / (greatest - least)}
            text={text(range[end])}
            onShare={(share) => {
              onRange(withEnd(range, { end, share, full }));
            }}
          />
        ))}
      {isChanged && (
        <button
          type="button"
          class="legend-reset"
          onClick={() => {
            onRange(undefined);
          }}
        >
          Whole range
        </button>
      )}
    </Strip>
  );
}

interface HandleProps {
  readonly label: string;
  readonly testId: string;
  readonly share: number;
  readonly text: string;
  readonly onShare: (share: number) => void;
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  PageUp: 0.1,
  PageDown: -0.1,
};

/** One end of the range, to be dragged along the strip or moved with the arrow keys. */
function Handle({ label, testId, share, text, onShare }: HandleProps): VNode {
  const handle = useRef<HTMLSpanElement>(null);
  const drag = (event: PointerEvent): void => {
    const { left, width } = handle.current?.parentElement?.getBoundingClientRect() ?? { left: 0, width: 1 };
    onShare((event.clientX - left) / width);
  };
  return (
    <span
      ref={handle}
      class="legend-handle"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(100 * share)}
      aria-valuetext={text}
      title={`${label}: ${text}`}
      data-testid={testId}
      style={{ left: `${100 * share}%` }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) drag(event);
      }}
      onKeyDown={(event) => {
        const step = STEPS[event.key];
        if (step === undefined) return;
        event.preventDefault();
        onShare(share + step);
      }}
    />
  );
}

/** The legend of a map in viridis. */
export function ValueLegend({ range, unit }: { range: readonly [number, number]; unit: string }): VNode {
  const strip = useMemo(
    () => paintValues({ width: COLOURS, height: 1, values: Float32Array.from({ length: COLOURS }, (_, i) => i / (COLOURS - 1)) }),
    [],
  );
  return <Strip painting={strip} range={range} unit={unit} label={`Colours from ${range[0]} to ${range[1]} ${unit}`} />;
}

interface StripProps {
  readonly painting: Painting;
  readonly range: readonly [number, number];
  readonly unit: string;
  readonly label: string;
  /** Over the strip. */
  readonly children?: ComponentChildren;
}

function Strip({ painting, range, unit, label, children }: StripProps): VNode {
  const [least, greatest] = range;
  const marks = ticks(range, 8);
  return (
    <div class="legend">
      <div class="legend-track">
        <PaintedCanvas class="legend-strip" painting={painting} label={label} />
        {children}
      </div>
      <div class="legend-marks" aria-hidden="true">
        {marks.map(({ value, label: text }) => (
          <span key={text} style={{ left: `${greatest > least ? (100 * (value - least)) / (greatest - least) : 50}%` }}>
            {text}
          </span>
        ))}
      </div>
      <span class="legend-unit" aria-hidden="true">
        {unit}
      </span>
    </div>
  );
}
