import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { isKnown, validRange, type DepthResult } from "../../../src/output/result.ts";
import { TEST_IDS, type ViewResult } from "../contract.ts";
import type { Controller } from "../controller.ts";
import { fileStem, offer } from "../downloads/offer.ts";
import { photographedAt, type LensSetting } from "../refocus/lens.ts";
import { createRefocus, type Refocus } from "../refocus/refocus.ts";
import { animate, animation, eased, film, focusAt, shareOf, thereAndBack, type Animation, type FocusScale } from "../refocus/sweep.ts";
import { IS_STANDALONE } from "../standalone/isStandalone.ts";
import { middleOf, pixelInFrame, type Place } from "../state/viewport.ts";
import type { Pixel } from "../state/curve.ts";
import { depthText } from "../state/words.ts";
import { Slider } from "./fields.tsx";
import { needsDepth } from "./needsDepth.tsx";
import type { ResultProps } from "./ResultView.tsx";
import { ZoomFrame, Zoomed, zoomWords } from "./ZoomFrame.tsx";

const STEPS = 1000;
/** Apertures, as multiples of that of the photographs: full stops from wide open to closed. */
const WIDTHS = [4, 2.8, 2, 1.4, 1, 0.7, 0.5, 0.35, 0.25, 0.125, 0.0625] as const;
/** Seconds to the new focus after a click, and of a whole sweep. */
const [REFOCUS, SWEEP] = [0.6, 4];

/** The scene through another lens: a click focuses there. */
export const RefocusView = needsDepth(function RefocusView({ result: view, state, controller }: ResultProps): VNode {
  const { result } = view;
  const { viewport } = state.look;
  const canvas = useRef<HTMLCanvasElement>(null);
  const { refocus, problem, source } = useRefocus(canvas, view, controller);
  const { scale, share, setShare, target, focusOn } = useFocus(view);
  const [stop, setStop] = useState(WIDTHS.indexOf(1));
  const width = WIDTHS[stop] ?? 1;
  const lens: LensSetting = { focus: focusAt(share, scale), fNumber: photographedAt(result) / width };
  useEffect(() => {
    refocus.current?.set(lens);
  }, [lens.focus, lens.fNumber, view]);
  const focusText = depthText(lens.focus, { unit: result.unit, largest: scale.range[1] });
  const apertureText = apertureWords(result, width);
  return (
    <figure>
      <ZoomFrame
        size={result.depth}
        viewport={viewport}
        onViewport={(next) => {
          controller.setLook({ viewport: next });
        }}
        stage={zoomWords("Refocused image; click to focus, or press Enter to focus on the middle")}
        onTap={(place) => {
          focusOn(pixelInFrame(viewport, place, result.depth));
        }}
        onKey={(event) => {
          if (event.key === "Enter") focusOn(pixelInFrame(viewport, { x: 0.5, y: 0.5 }, result.depth));
          return event.key === "Enter";
        }}
      >
        <Zoomed viewport={viewport}>
          <canvas
            ref={canvas}
            class="painted"
            role="img"
            aria-label={`The scene with the focus at ${focusText}, aperture ${apertureText}`}
            data-testid={TEST_IDS.refocusCanvas}
            data-source={source}
          />
          {target && <FocusMark key={`${target.x},${target.y}`} place={middleOf(target, result.depth)} />}
        </Zoomed>
      </ZoomFrame>
      {problem !== undefined && <p role="alert">{problem}</p>}
      <figcaption class="controls">
        <Slider
          label="Focus"
          value={Math.round(share * STEPS)}
          text={focusText}
          min={0}
          max={STEPS}
          testId={TEST_IDS.refocusFocus}
          onInput={(step) => {
            setShare(step / STEPS);
          }}
        />
        <Slider
          label="Aperture"
          value={stop}
          text={apertureText}
          min={0}
          max={WIDTHS.length - 1}
          testId={TEST_IDS.refocusFNumber}
          onInput={setStop}
        />
        <SaveButtons name={view.name} canvas={canvas} refocus={refocus} lens={lens} scale={scale} />
        <p class="quiet">{SOURCE_TEXTS[source]}</p>
      </figcaption>
    </figure>
  );
});

const SOURCE_TEXTS = {
  photographs:
    "Click where you want the focus. Blur is that of the photographs where they have it; wider apertures and depths beyond the planes are computed.",
  depth: "Click where you want the focus. Blur is computed from depth.",
} as const;

interface FocusState {
  readonly scale: FocusScale;
  /** Of the scale. */
  readonly share: number;
  readonly setShare: (share: number) => void;
  /** The pixel last focused on. */
  readonly target: Pixel | undefined;
  readonly focusOn: (pixel: Pixel) => void;
}

/** The focus, which a click moves smoothly. */
function useFocus({ result: { depth } }: ViewResult): FocusState {
  const scale = useMemo<FocusScale>(() => ({ range: validRange(depth), isDistance: depth.space === "depth" }), [depth]);
  const [share, setShare] = useState(0.25);
  const [target, setTarget] = useState<Pixel>();
  const cancel = useRef<() => void>(() => undefined);
  useEffect(
    () => () => {
      cancel.current();
    },
    [],
  );
  return {
    scale,
    share,
    setShare(next) {
      cancel.current();
      setShare(next);
    },
    target,
    focusOn(pixel) {
      const at = pixel.y * depth.width + pixel.x;
      if (!isKnown(depth, at)) return;
      const to = shareOf(depth.values[at] as number, scale);
      setTarget(pixel);
      cancel.current();
      cancel.current = animate(REFOCUS, (t) => {
        setShare(share + eased(t) * (to - share));
      });
    },
  };
}

interface SaveButtonsProps {
  readonly name: string;
  readonly canvas: { readonly current: HTMLCanvasElement | null };
  readonly refocus: { readonly current: Refocus | undefined };
  readonly lens: LensSetting;
  readonly scale: FocusScale;
}

interface SavedSweep {
  readonly bytes: Blob;
  readonly extension: string;
}

/** In a worker; a self-contained page has none. */
async function gifOf({ frames, ...options }: Animation): Promise<Blob> {
  if (!IS_STANDALONE) return (await import("../downloads/downloads.ts")).makeGif(frames, options);
  const { encodeGif } = await import("../../../src/io/gif.ts");
  return new Blob([encodeGif(frames, options)], { type: "image/gif" });
}

/** The picture as a file, and a sweep through all depths as a video or an animation. */
function SaveButtons({ name, canvas, refocus, lens, scale }: SaveButtonsProps): VNode {
  const [words, setWords] = useState("");
  const [isFilming, setFilming] = useState(false);
  const attempt = (work: (shown: Refocus) => Promise<void>): void => {
    setWords("");
    if (refocus.current)
      work(refocus.current).catch((error: unknown) => {
        setWords(error instanceof Error ? error.message : String(error));
      });
  };
  const savePicture = (type: "image/png" | "image/jpeg"): void => {
    attempt(async (shown) => {
      offer(await shown.picture(lens, type), `${fileStem(name)}-refocused.${type === "image/png" ? "png" : "jpg"}`);
    });
  };
  const saveSweep = (said: string, make: (painted: HTMLCanvasElement, draw: (t: number) => void) => Promise<SavedSweep>): void => {
    attempt(async (shown) => {
      if (!canvas.current) return;
      setFilming(true);
      setWords(said);
      try {
        const { bytes, extension } = await make(canvas.current, (t) => {
          shown.draw({ ...lens, focus: focusAt(t, scale) });
        });
        offer(bytes, `${fileStem(name)}-sweep.${extension}`);
        setWords("");
      } finally {
        setFilming(false);
        shown.set(lens);
      }
    });
  };
  const saveVideo = (): void => {
    saveSweep(`Recording for ${SWEEP} seconds …`, async (painted, draw) => {
      const { video, extension } = await film(painted, SWEEP, (t) => {
        draw(thereAndBack(t));
      });
      return { bytes: video, extension };
    });
  };
  const saveGif = (): void => {
    saveSweep("Drawing and encoding …", async (painted, draw) => ({
      bytes: await gifOf(await animation(painted, draw)),
      extension: "gif",
    }));
  };
  return (
    <>
      <div class="buttons">
        <button
          type="button"
          data-testid={TEST_IDS.refocusSave}
          onClick={() => {
            savePicture("image/png");
          }}
        >
          Save PNG
        </button>
        <button
          type="button"
          onClick={() => {
            savePicture("image/jpeg");
          }}
        >
          Save JPEG
        </button>
        <button type="button" disabled={isFilming} data-testid={TEST_IDS.refocusSweep} onClick={saveVideo}>
          Save sweep as video
        </button>
        <button type="button" disabled={isFilming} data-testid={TEST_IDS.refocusGif} onClick={saveGif}>
          Save sweep as GIF
        </button>
      </div>
      <p role="status">{words}</p>
    </>
  );
}

/** Where the last click focused; it fades. */
function FocusMark({ place: { x, y } }: { place: Place }): VNode {
  return <span class="focus-mark" aria-hidden="true" style={{ left: `${100 * x}%`, top: `${100 * y}%` }} />;
}

/** The f-number where the camera is known, else how much wider or narrower than the photographs' aperture. */
function apertureWords({ camera }: DepthResult, width: number): string {
  if (camera) return `f/${Number((camera.fNumber / width).toPrecision(2))}${width === 1 ? ", as taken" : ""}`;
  return width === 1 ? "as photographed" : `${width} × as wide`;
}

interface RefocusState {
  readonly refocus: { current: Refocus | undefined };
  readonly problem: string | undefined;
  /** What blur comes from. */
  readonly source: "photographs" | "depth";
}

/** Starts with computed blur; the photographs follow when they are loaded. */
function useRefocus(
  canvas: { current: HTMLCanvasElement | null },
  view: ViewResult,
  controller: Pick<Controller, "picture">,
): RefocusState {
  const refocus = useRef<Refocus | undefined>(undefined);
  const [problem, setProblem] = useState<string>();
  const [source, setSource] = useState<RefocusState["source"]>("depth");
  useEffect(() => {
    if (!canvas.current) return undefined;
    let isShown = true;
    const load = async (): Promise<void> => {
      const images = [];
      for (let plane = 0; plane < view.planes.length && isShown; plane++) images.push(await controller.picture(plane));
      if (isShown && refocus.current?.use(images)) setSource("photographs");
    };
    try {
      refocus.current = createRefocus(canvas.current, view);
      load().catch(() => undefined); // a result from an earlier visit has no photographs; blur stays computed
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    return () => {
      isShown = false;
      refocus.current?.dispose();
      refocus.current = undefined;
    };
  }, [view]);
  return { refocus, problem, source };
}
