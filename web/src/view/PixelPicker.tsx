import type { ComponentChildren, TargetedPointerEvent, VNode } from "preact";

import type { Size } from "../../../src/image/image.ts";
import { movePixel, type Pixel } from "../state/curve.ts";

interface PixelPickerProps {
  readonly size: Size;
  readonly chosen: Pixel;
  readonly onChoose: (pixel: Pixel) => void;
  readonly onHover: (pixel: Pixel | undefined) => void;
  readonly children: ComponentChildren;
}

/** An image whose pixels can be selected with the pointer or the arrow keys. */
export function PixelPicker({ size, chosen, onChoose, onHover, children }: PixelPickerProps): VNode {
  const pixelAt = ({ currentTarget, clientX, clientY }: TargetedPointerEvent<HTMLElement> | MouseEvent): Pixel => {
    const { left, top, width, height } = (currentTarget as HTMLElement).getBoundingClientRect();
    const held = (value: number, side: number): number => Math.min(Math.max(Math.floor(value * side), 0), side - 1);
    return { x: held((clientX - left) / width, size.width), y: held((clientY - top) / height, size.height) };
  };
  return (
    <div
      class="picker"
      style={{ "--aspect": size.width / size.height }}
      role="slider"
      tabIndex={0}
      aria-label="Selected pixel; arrow keys move it, with Shift ten times as far"
      aria-valuemin={0}
      aria-valuemax={size.width * size.height - 1}
      aria-valuenow={chosen.y * size.width + chosen.x}
      aria-valuetext={`column ${chosen.x + 1}, row ${chosen.y + 1}`}
      onPointerMove={(event) => {
        onHover(pixelAt(event));
      }}
      onPointerLeave={() => {
        onHover(undefined);
      }}
      onClick={(event) => {
        onChoose(pixelAt(event));
      }}
      onKeyDown={(event) => {
        const next = movePixel(chosen, event.key, { size, far: event.shiftKey });
        if (!next) return;
        event.preventDefault();
        onChoose(next);
      }}
    >
      {children}
      <span
        class="cross"
        aria-hidden="true"
        style={{ left: `${(100 * (chosen.x + 0.5)) / size.width}%`, top: `${(100 * (chosen.y + 0.5)) / size.height}%` }}
      />
    </div>
  );
}
