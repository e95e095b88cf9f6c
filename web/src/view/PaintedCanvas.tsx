import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";

import type { Painting } from "../paint.ts";

interface PaintedCanvasProps {
  readonly painting: Painting;
  /** Description for screen readers; without one they do not see it. */
  readonly label?: string;
  readonly testId?: string;
  readonly class?: string;
}

/** A canvas that shows a painting. */
export function PaintedCanvas({ painting, label, testId, class: name = "painted" }: PaintedCanvasProps): VNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height, data } = painting;
  useEffect(() => {
    canvas.current?.getContext("2d")?.putImageData(new ImageData(data, width, height), 0, 0);
  }, [width, height, data]);
  return (
    <canvas
      ref={canvas}
      class={name}
      width={width}
      height={height}
      {...(label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label })}
      data-testid={testId}
      style={{ "--aspect": width / height }}
    />
  );
}
