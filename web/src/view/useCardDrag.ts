import type { TargetedPointerEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface CardDrag {
  /** The image that is being dragged. */
  readonly frame: number | undefined;
  /** The order as it would be if the image were dropped now. */
  readonly order: readonly number[];
  /** A handler of `pointerdown` that takes hold of an image: with the mouse only, or with any pointer. */
  readonly start: (frame: number, by: "mouse" | "any") => (event: TargetedPointerEvent<HTMLElement>) => void;
}

/** Pixels the pointer must move before a press becomes a drag. */
const THRESHOLD = 5;

/** Drags cards of a list (`li[data-frame]`) to other places, with mouse, pen or finger; Escape puts the card back. */
export function useCardDrag(order: readonly number[], onDrop: (frame: number, to: number) => void): CardDrag {
  const [dragged, setDragged] = useState<{ readonly frame: number; readonly to: number }>();
  const stop = useRef<(() => void) | undefined>(undefined);
  useEffect(() => () => stop.current?.(), []);
  const start: CardDrag["start"] = (frame, by) => (down) => {
    if (down.button !== 0 || (by === "mouse" && down.pointerType !== "mouse")) return;
    stop.current?.();
    let to = order.indexOf(frame);
    let hasMoved = false;
    const move = (event: PointerEvent): void => {
      hasMoved ||= Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > THRESHOLD;
      if (!hasMoved) return;
      event.preventDefault();
      to = placeUnder(event, { order, frame }) ?? to;
      setDragged({ frame, to });
    };
    const end = (drops: boolean): void => {
      stop.current?.();
      if (drops && hasMoved && to !== order.indexOf(frame)) onDrop(frame, to);
    };
    const listeners = {
      pointermove: move,
      pointerup: () => {
        end(true);
      },
      pointercancel: () => {
        end(false);
      },
      keydown: (event: KeyboardEvent) => {
        if (event.key === "Escape") end(false);
      },
    } as const;
    for (const [kind, listener] of Object.entries(listeners)) window.addEventListener(kind, listener as EventListener);
    stop.current = () => {
      for (const [kind, listener] of Object.entries(listeners)) window.removeEventListener(kind, listener as EventListener);
      stop.current = undefined;
      setDragged(undefined);
    };
  };
  return { frame: dragged?.frame, order: dragged ? placed(order, dragged) : order, start };
}

function placed(order: readonly number[], { frame, to }: { frame: number; to: number }): readonly number[] {
  const others = order.filter((each) => each !== frame);
  return [...others.slice(0, to), frame, ...others.slice(to)];
}

/** The place of the card under the pointer; its neighbour's side that the pointer is on decides nothing: cards make room at once. */
function placeUnder({ clientX, clientY }: PointerEvent, { order, frame }: { order: readonly number[]; frame: number }): number | undefined {
  const card = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>("li[data-frame]");
  const over = card && Number(card.dataset["frame"]);
  if (over === null || over === undefined || over === frame) return undefined;
  const list = [...(card?.parentElement?.children ?? [])].map((each) => Number((each as HTMLElement).dataset["frame"]));
  const at = list.indexOf(over);
  return at >= 0 && at < order.length ? at : undefined;
}
