import type { VNode } from "preact";

import { isKnown } from "../../../src/output/result.ts";
import type { ViewResult } from "../contract.ts";
import type { Pixel } from "../state/curve.ts";
import type { Place } from "../state/viewport.ts";
import { depthText, errorText } from "../state/words.ts";

interface PointerNoteProps {
  readonly view: ViewResult;
  readonly pixel: Pixel;
  /** Of the pointer, as shares of the frame. */
  readonly place: Place;
  /** Largest depth of the map. */
  readonly largest: number;
}

/** Depth and error beside the pointer, on the side where there is room. The readout below the picture says the same to screen readers. */
export function PointerNote({ view: { result }, pixel, place, largest }: PointerNoteProps): VNode {
  const { depth, unit, error } = result;
  const at = pixel.y * depth.width + pixel.x;
  const depthWords = isKnown(depth, at) ? depthText(depth.values[at] as number, { unit, largest }) : "unknown";
  const isMeasured = isKnown(depth, at) && error !== undefined;
  const [across, down] = [place.x > 0.7 ? "before" : "after", place.y > 0.8 ? "above" : "below"];
  return (
    <p class={`pointer-note is-${across} is-${down}`} aria-hidden="true" style={{ left: `${100 * place.x}%`, top: `${100 * place.y}%` }}>
      <strong>{depthWords}</strong> {isMeasured && errorText(error[at] as number, { unit, largest })}
    </p>
  );
}
