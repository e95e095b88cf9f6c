import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

import { TEST_IDS } from "../contract.ts";
import { imageSource } from "../paint.ts";
import { Picture } from "./Picture.tsx";
import type { ResultProps } from "./ResultView.tsx";
import { ScaleBar } from "./ScaleBar.tsx";
import { ZoomFrame, Zoomed, zoomWords } from "./ZoomFrame.tsx";

/** The all-in-focus image. */
export function PictureView({ result: { result, planes }, state, controller }: ResultProps): VNode {
  const { allInFocus, profile } = result;
  const { viewport } = state.look;
  const source = useMemo(() => allInFocus && imageSource(allInFocus, profile), [allInFocus, profile]);
  return (
    <figure>
      {source && (
        <ZoomFrame
          size={source}
          viewport={viewport}
          onViewport={(next) => {
            controller.setLook({ viewport: next });
          }}
          stage={zoomWords("All-in-focus image")}
          overlay={<ScaleBar result={result} viewport={viewport} />}
        >
          <Zoomed viewport={viewport}>
            <Picture source={source} viewport={viewport} label="The all-in-focus image" testId={TEST_IDS.pictureCanvas} />
          </Zoomed>
        </ZoomFrame>
      )}
      <figcaption class="quiet">Every pixel is taken from those of the {planes.length} images in which it is sharp.</figcaption>
    </figure>
  );
}
