import type { DepthResult } from "../../../src/output/result.ts";
import { pixelsOf } from "../paint.ts";
import { createGather, type Painter } from "./gather.ts";
import type { LensSetting } from "./lens.ts";
import { planRefocus, type RefocusPlan } from "./plan.ts";
import { refocusExactly } from "./reference.ts";

/** Longer side of the image in pixels: enough for a screen, and fast enough on a phone. */
const SIDE = 1024;
/** The same on the CPU, without WebGL. */
const CPU_SIDE = 320;

export interface Refocus {
  set(lens: LensSetting): void;
  dispose(): void;
}

/** The result through another lens. `set` may be called at any rate: only the last setting before a frame is drawn. */
export function createRefocus(canvas: HTMLCanvasElement, { result }: { readonly result: DepthResult }): Refocus {
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
}

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
