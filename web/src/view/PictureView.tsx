import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

import { paintImage } from "../paint.ts";
import { PaintedCanvas } from "./PaintedCanvas.tsx";
import type { ResultProps } from "./ResultView.tsx";

/** The all-in-focus image. */
export function PictureView({ result: { result, planes } }: ResultProps): VNode {
  const { allInFocus } = result;
  const painting = useMemo(() => allInFocus && paintImage(allInFocus), [allInFocus]);
  return (
    <figure>
      {painting && <PaintedCanvas painting={painting} label="The all-in-focus image" />}
      <figcaption class="quiet">Every pixel is taken from those of the {planes.length} images in which it is sharp.</figcaption>
    </figure>
  );
}
