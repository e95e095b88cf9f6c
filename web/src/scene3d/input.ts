import { Vector2 } from "three";

import type { Stage } from "./stage.ts";

/** A press that moves farther than this [pixels] rotates the view; less is a tap. */
const TAP = 5;

/** Calls `tapped` with the position of a click or tap, from -1 to 1 right and up. Returns a function that stops it. */
export function onTap(canvas: HTMLCanvasElement, tapped: (place: Vector2) => void): () => void {
  let start: { x: number; y: number } | undefined;
  const down = ({ clientX, clientY, isPrimary }: PointerEvent): void => {
    start = isPrimary ? { x: clientX, y: clientY } : undefined;
  };
  const up = ({ clientX, clientY }: PointerEvent): void => {
    if (!start || Math.hypot(clientX - start.x, clientY - start.y) > TAP) return;
    const { left, top, width, height } = canvas.getBoundingClientRect();
    tapped(new Vector2((2 * (clientX - left)) / width - 1, 1 - (2 * (clientY - top)) / height));
  };
  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointerup", up);
  return () => {
    canvas.removeEventListener("pointerdown", down);
    canvas.removeEventListener("pointerup", up);
  };
}

const TURN = Math.PI / 24;
const CLOSER = 1.1;

/** Arrow keys rotate, + and - zoom, Home resets, Enter marks the point in the middle. Returns a function that stops it. */
export function onKeys(
  canvas: HTMLCanvasElement,
  { rotate, zoom, reset, mark }: Pick<Stage, "rotate" | "zoom" | "reset"> & { mark: () => void },
): () => void {
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => {
      rotate({ azimuth: -TURN, polar: 0 });
    },
    ArrowRight: () => {
      rotate({ azimuth: TURN, polar: 0 });
    },
    ArrowUp: () => {
      rotate({ azimuth: 0, polar: TURN });
    },
    ArrowDown: () => {
      rotate({ azimuth: 0, polar: -TURN });
    },
    "+": () => {
      zoom(CLOSER);
    },
    "=": () => {
      zoom(CLOSER);
    },
    "-": () => {
      zoom(1 / CLOSER);
    },
    Home: reset,
    Enter: mark,
  };
  const pressed = (event: KeyboardEvent): void => {
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault(); // arrows would scroll the page
    action();
  };
  canvas.addEventListener("keydown", pressed);
  return () => {
    canvas.removeEventListener("keydown", pressed);
  };
}
