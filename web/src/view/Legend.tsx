import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

import type { DepthResult } from "../../../src/output/result.ts";
import { displayUnit, ticks } from "../../../src/output/ticks.ts";
import { paintDepthMap, paintValues, type Painting } from "../paint.ts";
import { PaintedCanvas } from "./PaintedCanvas.tsx";

const COLOURS = 256;

/** The legend of the depth map: a strip of colours with round numbers below it. */
export function DepthLegend({ result, range: [least, greatest] }: { result: DepthResult; range: readonly [number, number] }): VNode {
  const strip = useMemo(() => {
    const values = Float32Array.from({ length: COLOURS }, (_, i) => least + ((i + 0.5) / COLOURS) * (greatest - least));
    const depth = { width: COLOURS, height: 1, values, valid: new Uint8Array(COLOURS).fill(1), space: result.depth.space };
    return paintDepthMap({ depth, range: [least, greatest] });
  }, [least, greatest, result]);
  const offset = result.unit === "index" ? 1 : 0; // displayed planes count from one
  const { name, factor } = displayUnit(result.unit, greatest);
  const shown: readonly [number, number] = [least * factor + offset, greatest * factor + offset];
  return (
    <Strip
      painting={strip}
      range={shown}
      unit={name}
      label={`Colours from ${shown[0].toPrecision(3)} to ${shown[1].toPrecision(3)} ${name}`}
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
}

function Strip({ painting, range, unit, label }: StripProps): VNode {
  const [least, greatest] = range;
  const marks = ticks(range, 8);
  return (
    <div class="legend">
      <PaintedCanvas class="legend-strip" painting={painting} label={label} />
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
