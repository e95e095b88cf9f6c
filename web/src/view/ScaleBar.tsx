import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

import { scaleBar } from "../../../src/output/scaleBar.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import type { Viewport } from "../state/viewport.ts";

/** A bar of known length over the picture; nothing where lengths are unknown. */
export function ScaleBar({ result, viewport }: { result: DepthResult; viewport: Viewport }): VNode | null {
  const within = result.depth.width / viewport.zoom;
  const bar = useMemo(() => scaleBar(result, { within }), [result, within]);
  if (!bar) return null;
  return (
    <div class="scale-bar" style={{ width: `${(100 * bar.pixels) / within}%` }}>
      {bar.label}
    </div>
  );
}
