import type { Image } from "../../../src/image/image.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { canvasBlob } from "../downloads/offer.ts";
import { pixelsOf } from "../paint.ts";
import { createGather, type Painter } from "./gather.ts";
import { lensFor, type LensSetting } from "./lens.ts";
import { photographs, type Photographs } from "./photographs.ts";
import { planRefocus, type RefocusPlan } from "./plan.ts";
import { refocusExactly } from "./reference.ts";

/** Longer side of the image in pixels: enough for a screen, and fast enough on a phone. */
const SIDE = 1024;
/** The same of a saved image. */
const SAVED_SIDE = 2560;
/** The same on the CPU, without WebGL. */
const CPU_SIDE = 320;

export interface Refocus {
  set(lens: LensSetting): void;
  /** Draws at once. */
  draw(lens: LensSetting): void;
  /** The photographs, near to far: from now on blur comes from them where they have it. Returns whether they can be used. */
  use(images: readonly Image[]): boolean;
  /** The image in the result's own size, as a file. */
  picture(lens: LensSetting, type: "image/png" | "image/jpeg"): Promise<Blob>;
  dispose(): void;
}

/** What refocusing needs of a result. */
export interface RefocusInput {
  readonly result: DepthResult;
  /** Of the photographs. */
  readonly focusDistances: readonly number[];
}

/** The result through another lens. `set` may be called at any rate: only the last setting before a frame is drawn. */
export function createRefocus(canvas: HTMLCanvasElement, { result, focusDistances }: RefocusInput): Refocus {
  const painter = painterFor(canvas, result, SIDE);
  let photos: Photographs | undefined;
  let [frame, next]: [number, LensSetting | undefined] = [0, undefined];
  const draw = (): void => {
    frame = 0;
    if (next) painter.paint(next);
  };
  return {
    set(setting) {
      next = setting;
      frame ||= requestAnimationFrame(draw);
    },
    draw(setting) {
      next = setting;
      painter.paint(setting);
    },
    use(images) {
      const lens = lensFor(result);
      const { allInFocus, profile } = result;
      const nearness = focusDistances.map((value) => lens.nearness(value));
      photos = allInFocus && photographs(images, { nearness, allInFocus, profile });
      if (photos) painter.use(photos);
      frame ||= requestAnimationFrame(draw);
      return photos !== undefined;
    },
    async picture(setting, type) {
      const large = document.createElement("canvas");
      const once = painterFor(large, result, SAVED_SIDE);
      if (photos) once.use(photos);
      once.paint(setting);
      try {
        return await canvasBlob(large, type);
      } finally {
        once.dispose();
      }
    },
    dispose() {
      cancelAnimationFrame(frame);
      painter.dispose();
    },
  };
}

function painterFor(canvas: HTMLCanvasElement, result: DepthResult, side: number): Painter {
  const plan = planRefocus(result, { side });
  fit(canvas, plan);
  return createGather(canvas, plan) ?? paintExactly(canvas, planRefocus(result, { side: CPU_SIDE }));
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
    use: () => undefined, // blur is computed
    dispose: () => undefined,
  };
}
