import type { VNode } from "preact";

import { isKnown } from "../../../src/output/result.ts";
import { distanceTexts } from "../../../src/stack/quantity.ts";
import { TEST_IDS, type ViewResult } from "../contract.ts";
import { asShares, columnAt, curvePoints, planeOfDepth, planeX, valueY, type Frame, type Pixel } from "../state/curve.ts";
import { UNIT_SYMBOLS } from "../state/distances.ts";

const FRAME: Frame = { width: 360, height: 220, left: 44, right: 14, top: 14, bottom: 40 };

/** The network's p over the planes at one pixel, and the measured sharpness of each image there. */
export function CurvePanel({ view, pixel }: { view: ViewResult; pixel: Pixel }): VNode | null {
  const { result, sharpness, focusDistances, planes } = view;
  const { depth, probability } = result;
  if (!probability) return null;
  const p = columnAt(probability, pixel, depth);
  const sharp = asShares(columnAt(sharpness, pixel, depth));
  const most = Math.max(0.5, ...p, ...sharp);
  const at = pixel.y * depth.width + pixel.x;
  const hasDepth = isKnown(depth, at);
  const found = planeX(planeOfDepth(depth.values[at] as number, { focusDistances, space: depth.space }), p.length, FRAME);
  const peak = p.indexOf(Math.max(...p));
  const label = `Focus probability over ${p.length} planes: most likely plane ${peak + 1} with ${Math.round(100 * (p[peak] as number))} %; ${p
    .map((value, n) => `plane ${n + 1} ${Math.round(100 * value)} %`)
    .join(", ")}`;
  return (
    <section class="card" aria-labelledby="curve-title">
      <h2 id="curve-title">Where is this pixel sharp?</h2>
      <svg class="curve" viewBox={`0 0 ${FRAME.width} ${FRAME.height}`} role="img" aria-label={label} data-testid={TEST_IDS.curve}>
        <Axes planes={planes} most={most} />
        {hasDepth && <line class="curve-depth" x1={found} x2={found} y1={FRAME.top} y2={FRAME.height - FRAME.bottom} />}
        <polyline class="curve-sharpness" points={curvePoints(sharp, { most, frame: FRAME })} />
        <polyline class="curve-probability" points={curvePoints(p, { most, frame: FRAME })} />
        {p.map((value, n) => (
          <circle key={n} class="curve-dot" cx={planeX(n, p.length, FRAME)} cy={valueY(value, most, FRAME)} r="3.5" />
        ))}
      </svg>
      <ul class="curve-key" aria-hidden="true">
        <li class="key-probability">focus probability (network)</li>
        <li class="key-sharpness">measured sharpness</li>
        {hasDepth && <li class="key-depth">depth</li>}
      </ul>
    </section>
  );
}

/** Most labels that fit below the curve. */
const MOST_LABELS = 6;

function Axes({ planes, most }: { planes: ViewResult["planes"]; most: number }): VNode {
  const base = FRAME.height - FRAME.bottom;
  const every = Math.ceil(planes.length / MOST_LABELS);
  const unit = planes[0]?.unit ?? "index";
  const texts = unit === "index" ? planes.map((_, n) => String(n + 1)) : distanceTexts(planes.map(({ value }) => value));
  return (
    <g class="axes" aria-hidden="true">
      {[0, 0.5, 1].map((share) => (
        <g key={share}>
          <line
            x1={FRAME.left}
            x2={FRAME.width - FRAME.right}
            y1={valueY(share * most, most, FRAME)}
            y2={valueY(share * most, most, FRAME)}
          />
          <text x={FRAME.left - 6} y={valueY(share * most, most, FRAME) + 4} text-anchor="end">
            {Math.round(100 * share * most)}
            {share === 1 ? " %" : ""}
          </text>
        </g>
      ))}
      {planes.map((_, n) =>
        n % every === 0 ? (
          <text key={n} x={planeX(n, planes.length, FRAME)} y={base + 16} text-anchor="middle">
            {texts[n]}
          </text>
        ) : null,
      )}
      <text x={(FRAME.left + FRAME.width - FRAME.right) / 2} y={base + 33} text-anchor="middle">
        {unit === "index" ? "plane" : `focus distance${UNIT_SYMBOLS[unit] ? ` [${UNIT_SYMBOLS[unit]}]` : ""}`}
      </text>
    </g>
  );
}
