import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import type { Painting, PictureSource } from "../paint.ts";
import { regionInView, type Region, type Viewport } from "../state/viewport.ts";
import { PaintedCanvas } from "./PaintedCanvas.tsx";

interface PictureProps {
  readonly source: PictureSource;
  readonly viewport: Viewport;
  readonly label: string;
  readonly testId?: string;
}

/** A picture inside `Zoomed`. The part in view is painted again, pixel by pixel, where the whole had to be shrunk for the screen. */
export function Picture({ source, viewport, label, testId }: PictureProps): VNode {
  const whole = useMemo(() => source.paint(), [source]);
  const detail = useDetail(source, { viewport, isShrunk: whole.width < source.width });
  return (
    <>
      <PaintedCanvas painting={whole} label={label} {...(testId === undefined ? {} : { testId })} />
      {detail && (
        <div class="detail" style={placeOf(detail.region, source)}>
          <PaintedCanvas painting={detail.painting} />
        </div>
      )}
    </>
  );
}

const placeOf = ({ left, top, width, height }: Region, whole: PictureSource): Record<string, string> => ({
  left: `${(100 * left) / whole.width}%`,
  top: `${(100 * top) / whole.height}%`,
  width: `${(100 * width) / whole.width}%`,
  height: `${(100 * height) / whole.height}%`,
});

/** Painted when the view has been still for this long [ms]. */
const STILL = 80;

function useDetail(
  source: PictureSource,
  { viewport, isShrunk }: { viewport: Viewport; isShrunk: boolean },
): { region: Region; painting: Painting } | undefined {
  const [detail, setDetail] = useState<{ source: PictureSource; region: Region; painting: Painting }>();
  const isWanted = isShrunk && viewport.zoom > 1;
  useEffect(() => {
    if (!isWanted) return undefined;
    const timer = setTimeout(() => {
      const region = regionInView(viewport, source);
      setDetail({ source, region, painting: source.paint(region) });
    }, STILL);
    return () => {
      clearTimeout(timer);
    };
  }, [source, viewport, isWanted]);
  return isWanted && detail?.source === source ? detail : undefined;
}
