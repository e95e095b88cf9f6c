import type { CreateRefocus } from "../contract.ts";
import { pixelsOf } from "../paint.ts";
import { createGather, type Painter } from "./gather.ts";
import type { LensSetting } from "./lens.ts";
import { planRefocus, type RefocusPlan } from "./plan.ts";
import { refocusExactly } from "./reference.ts";

/** Longer side of the picture, in pixels: what a screen shows, at a cost a phone's graphics can pay. */
const SIDE = 1024;
/** The same on the CPU, where graphics are missing. */
const CPU_SIDE = 320;

/** The result seen through another lens. `set` may be called as often as a slider moves: only the last setting before a frame is drawn. */
export const createRefocus: CreateRefocus = (canvas, { result }) => {
  const plan = planRefocus(result, { side: SIDE });
  fit(canvas, plan);
  const painter = createGather(canvas, plan) ?? paintExactly(canvas, planRefocus(result, { side: CPU_SIDE }));
  let [frame, next]: [number, LensSetting | undefined] = [0, undefined];
  return {
    set(setting) {
      next = setting;
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        if (next) painter.paint(next);
      });
    },
    dispose() {
      cancelAnimationFrame(frame);
      painter.dispose();
    },
  };
};

function fit(canvas: HTMLCanvasElement, { width, height }: RefocusPlan): void {
  canvas.width = width;
  canvas.height = height;
}

function paintExactly(canvas: HTMLCanvasElement, plan: RefocusPlan): Painter {
  fit(canvas, plan);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser can draw neither with WebGL nor on a canvas");
  return {
    paint(setting) {
      const { width, height, data } = pixelsOf(refocusExactly(plan, setting));
      context.putImageData(new ImageData(data, width, height), 0, 0);
    },
    dispose: () => undefined,
  };
}
