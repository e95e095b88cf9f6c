import type { ComponentChildren, HTMLAttributes, TargetedPointerEvent, VNode } from "preact";
import { useRef } from "preact/hooks";

import type { Size } from "../../../src/image/image.ts";
import { mostZoom, panBy, WHOLE, zoomBy, type Place, type Viewport } from "../state/viewport.ts";

interface ZoomFrameProps {
  /** Of the image in pixels. */
  readonly size: Size;
  readonly viewport: Viewport;
  readonly onViewport: (viewport: Viewport) => void;
  /** Attributes of the element that takes the keyboard: its role and name. */
  readonly stage: HTMLAttributes<HTMLDivElement>;
  /** A click or tap. */
  readonly onTap?: (place: Place) => void;
  readonly onHover?: (place: Place | undefined) => void;
  /** A drag while the whole image is in view, when there is nothing to pan. */
  readonly onDrag?: (place: Place) => void;
  /** Keys that the view uses itself; returns whether it did. Other arrow keys pan. */
  readonly onKey?: (event: KeyboardEvent) => boolean;
  /** Drawn over the image: legends, handles. */
  readonly overlay?: ComponentChildren;
  readonly children: ComponentChildren;
}

const CLOSER = 1.5;
const PAN: Readonly<Record<string, Place>> = {
  ArrowLeft: { x: 0.1, y: 0 },
  ArrowRight: { x: -0.1, y: 0 },
  ArrowUp: { x: 0, y: 0.1 },
  ArrowDown: { x: 0, y: -0.1 },
};

/** A picture that wheel, pinch, double click, keys and buttons enlarge, down to its pixels, and that is dragged when enlarged. */
export function ZoomFrame({ size, viewport, onViewport, stage, onKey, overlay, children, ...taps }: ZoomFrameProps): VNode {
  const most = mostZoom(size);
  const zoom = (factor: number, about?: Place): void => {
    onViewport(zoomBy(viewport, factor, { most, ...(about ? { about } : {}) }));
  };
  const pointers = usePointers({ viewport, onViewport, most, ...taps });
  const pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || onKey?.(event)) return;
    const by = viewport.zoom > 1 ? PAN[event.key] : undefined;
    if (event.key === "+" || event.key === "=") zoom(CLOSER);
    else if (event.key === "-") zoom(1 / CLOSER);
    else if (event.key === "0") onViewport(WHOLE);
    else if (by) onViewport(panBy(viewport, by));
    else return;
    event.preventDefault(); // arrows would scroll the page
  };
  return (
    <div class="zoom-frame" style={{ "--aspect": size.width / size.height }}>
      <div
        {...stage}
        class={`zoom-stage${viewport.zoom > 1 ? " is-zoomed" : ""}${size.width / viewport.zoom <= PIXELS_SEEN ? " is-pixelated" : ""}`}
        tabIndex={0}
        onKeyDown={pressed}
        onWheel={(event) => {
          const next = zoomBy(viewport, Math.exp(-wheelPixels(event) / 400), { most, about: placeOf(event) });
          if (next.zoom === viewport.zoom) return; // the page scrolls
          event.preventDefault();
          onViewport(next);
        }}
        onDblClick={(event) => {
          event.preventDefault();
          zoom(event.shiftKey ? 0.5 : 2, placeOf(event));
        }}
        {...pointers}
      >
        {children}
      </div>
      <div class="zoom-buttons" role="group" aria-label="Zoom">
        <ZoomButton
          name="Zoom in"
          sign="+"
          isEnd={viewport.zoom >= most}
          onClick={() => {
            zoom(CLOSER);
          }}
        />
        <ZoomButton
          name="Zoom out"
          sign="−"
          isEnd={viewport.zoom <= 1}
          onClick={() => {
            zoom(1 / CLOSER);
          }}
        />
        <ZoomButton
          name="Show the whole image"
          shortcut="0"
          sign="⤢"
          isEnd={viewport.zoom <= 1}
          onClick={() => {
            onViewport(WHOLE);
          }}
        />
      </div>
      {overlay}
    </div>
  );
}

interface ZoomButtonProps {
  readonly name: string;
  readonly sign: string;
  /** The key that does the same; by default the sign. */
  readonly shortcut?: string;
  /** There is no further to go. */
  readonly isEnd: boolean;
  readonly onClick: () => void;
}

function ZoomButton({ name, sign, shortcut = sign, isEnd, onClick }: ZoomButtonProps): VNode {
  return (
    <button type="button" title={`${name} (${shortcut})`} aria-label={name} disabled={isEnd} onClick={onClick}>
      {sign}
    </button>
  );
}

/** Role and name of a picture that can only be looked at. */
export const zoomWords = (name: string): HTMLAttributes<HTMLDivElement> => ({
  role: "group",
  "aria-label": `${name}; plus and minus zoom, 0 shows the whole, arrow keys move when enlarged`,
});

/** With fewer pixels than this across, they are shown as squares. */
const PIXELS_SEEN = 200;

/** What moves with the image. */
export function Zoomed({ viewport: { zoom, x, y }, children }: { viewport: Viewport; children: ComponentChildren }): VNode {
  const shift = (middle: number): string => `${100 * (0.5 - middle * zoom)}%`;
  return (
    <div class="zoomed" style={{ transform: `translate(${shift(x)}, ${shift(y)}) scale(${zoom})`, "--zoom": zoom }}>
      {children}
    </div>
  );
}

type PointerAt = Pick<PointerEvent, "clientX" | "clientY" | "currentTarget">;

function placeOf({ clientX, clientY, currentTarget }: PointerAt | MouseEvent): Place {
  const { left, top, width, height } = (currentTarget as HTMLElement).getBoundingClientRect();
  return { x: (clientX - left) / width, y: (clientY - top) / height };
}

/** Wheels report pixels, lines or pages; a pinch on a touchpad is a wheel with Ctrl, in smaller steps. */
function wheelPixels({ deltaY, deltaMode, ctrlKey }: WheelEvent): number {
  return deltaY * ([1, 30, 300][deltaMode] ?? 1) * (ctrlKey ? 4 : 1);
}

/** A press that moves farther than this [pixels] is a drag. */
const TAP = 4;

interface Press {
  readonly start: Place;
  readonly x: number;
  readonly y: number;
  isDrag: boolean;
  last: Place;
}

type PointerHandlers = Readonly<
  Record<
    "onPointerDown" | "onPointerMove" | "onPointerUp" | "onPointerCancel" | "onPointerLeave",
    (event: TargetedPointerEvent<HTMLDivElement>) => void
  >
>;

function usePointers({
  viewport,
  onViewport,
  most,
  onTap,
  onHover,
  onDrag,
}: Pick<ZoomFrameProps, "viewport" | "onViewport" | "onTap" | "onHover" | "onDrag"> & { most: number }): PointerHandlers {
  const presses = useRef(new Map<number, Press>());
  const pinch = (moved: Press, to: Place): void => {
    const other = [...presses.current.values()].find((each) => each !== moved);
    if (!other) return;
    const [before, now] = [distance(moved.last, other.last), distance(to, other.last)];
    const by = { x: (to.x - moved.last.x) / 2, y: (to.y - moved.last.y) / 2 };
    const about = { x: (to.x + other.last.x) / 2, y: (to.y + other.last.y) / 2 };
    onViewport(panBy(zoomBy(viewport, before > 0 ? now / before : 1, { most, about }), by));
    for (const each of [moved, other]) each.isDrag = true;
  };
  return {
    onPointerDown(event) {
      if (event.button !== 0) return;
      const place = placeOf(event);
      presses.current.set(event.pointerId, { start: place, last: place, x: event.clientX, y: event.clientY, isDrag: false });
    },
    onPointerMove(event) {
      const place = placeOf(event);
      const press = presses.current.get(event.pointerId);
      if (!press) {
        onHover?.(place);
        return;
      }
      if (presses.current.size > 1) pinch(press, place);
      else {
        if (!press.isDrag && Math.hypot(event.clientX - press.x, event.clientY - press.y) > TAP) {
          press.isDrag = true;
          event.currentTarget.setPointerCapture(event.pointerId);
        }
        if (press.isDrag && viewport.zoom > 1) onViewport(panBy(viewport, { x: place.x - press.last.x, y: place.y - press.last.y }));
        else if (press.isDrag) onDrag?.(place);
      }
      press.last = place;
    },
    onPointerUp(event) {
      const press = presses.current.get(event.pointerId);
      presses.current.delete(event.pointerId);
      if (press && !press.isDrag) onTap?.(placeOf(event));
    },
    onPointerCancel(event) {
      presses.current.delete(event.pointerId);
    },
    onPointerLeave(event) {
      if (!event.currentTarget.hasPointerCapture(event.pointerId)) presses.current.delete(event.pointerId);
      onHover?.(undefined);
    },
  };
}

const distance = (a: Place, b: Place): number => Math.hypot(a.x - b.x, a.y - b.y);
