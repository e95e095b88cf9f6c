import type { GifOptions } from "../../../src/io/gif.ts";
import { availableOutputs, OUTPUT_FILES } from "../../../src/output/outputs.ts";
import type { OutputName, OutputOptions } from "../../../src/output/outputs.ts";
import type { DepthResult } from "../../../src/output/result.ts";
import { encodeResultJson } from "../../../src/output/resultJson.ts";
import type { ViewResult } from "../contract.ts";
import type { Look } from "../state/look.ts";
import { resultPageOf } from "./resultPage.ts";
import type { EncodeAnswer, EncodeRequest } from "./encodeWorker.ts";

const LABELS: Readonly<Record<OutputName, string>> = {
  depth16: "Depth, 16-bit PNG, scale in its metadata",
  depth: "Depth, floating-point TIFF",
  exr: "Depth, OpenEXR for compositing",
  npy: "Depth, NumPy array",
  color: "Depth in colour with a legend, PNG",
  aif: "All-in-focus image, PNG",
  aifTiff: "All-in-focus image, TIFF",
  aifJpeg: "All-in-focus image, JPEG",
  confidence: "Confidence, 16-bit PNG",
  error: "Expected error of the depth, floating-point TIFF",
  beyond: "Pixels at the end of the planes or beyond, PNG",
  filled: "Pixels whose depth was carried in from around, PNG",
  index: "Image focused nearest to every pixel, PNG",
  ply: "Coloured points, PLY",
  glb: "Textured surface, glTF binary",
  probability: "Focus probability over the planes, NumPy array",
};

export interface Download {
  /** The library's output name, or "page", "alignment", "result". */
  readonly name: string;
  readonly file: string;
  /** One line for display. */
  readonly label: string;
  make(): Promise<Blob>;
}

/** Everything `dualfocus depth --save` writes, from the same encoders, with the colours and the limit of error of the page. */
export const downloads = (view: ViewResult, look: Look): Download[] => {
  const { result, summary, alignmentJson } = view;
  return [
    ...(result.allInFocus
      ? [
          {
            name: "page",
            file: "result.html",
            label: "One page to send: depth, refocus and 3-D in any browser, offline",
            make: () => resultPageOf(view),
          },
        ]
      : []),
    ...availableOutputs(result).map((name) => ({
      name,
      file: OUTPUT_FILES[name],
      label: LABELS[name],
      make: () => makeOutput(result, name, look),
    })),
    ...(alignmentJson === undefined
      ? []
      : [
          {
            name: "alignment",
            file: "alignment.json",
            label: "Alignment of the images, to reuse",
            make: () => Promise.resolve(new Blob([alignmentJson], { type: "application/json" })),
          },
        ]),
    {
      name: "result",
      file: "result.json",
      label: "Distances, range, findings and times, JSON",
      make: () =>
        Promise.resolve(new Blob([encodeResultJson({ ...summary, files: {} }) as Uint8Array<ArrayBuffer>], { type: "application/json" })),
    },
  ];
};

export const makeOutput = (result: DepthResult, name: OutputName, look: Look): Promise<Blob> =>
  inWorker({ kind: "one", name, result: lean(inRange(result, look), name), options: optionsOf(look) }, () => undefined);

/** Every file of `downloads` in one zip. */
export const zipAll = async (
  view: ViewResult,
  { look, onProgress }: { look: Look; onProgress: (share: number) => void },
): Promise<Blob> => {
  const { result, summary, alignmentJson } = view;
  const input = {
    ...{ result: inRange(result, look), summary, options: optionsOf(look) },
    ...(result.allInFocus ? { page: new Uint8Array(await (await resultPageOf(view)).arrayBuffer()) } : {}),
    ...(alignmentJson === undefined ? {} : { alignmentJson }),
  };
  return inWorker({ kind: "all", input }, onProgress);
};

/** Frames as an animation that repeats. */
export const makeGif = (frames: readonly Uint8ClampedArray[], options: GifOptions): Promise<Blob> =>
  inWorker({ kind: "gif", frames, options }, () => undefined);

const inRange = (result: DepthResult, { range }: Look): DepthResult => (range ? { ...result, range } : result);

const optionsOf = ({ map, flip, legend, leastConfidence }: Look): OutputOptions => ({
  colorMap: map,
  flipColors: flip,
  legend,
  hatch: true,
  leastConfidence,
});

/** Large maps, and the outputs that need them. */
const USERS: Readonly<Partial<Record<keyof DepthResult, readonly OutputName[]>>> = {
  confidence: ["confidence", "color", "ply", "glb"], // the last three leave out or hatch what is not certain
  error: ["error"],
  beyond: ["beyond"],
  filled: ["filled"],
  planeIndex: ["index"],
  probability: ["probability"],
  allInFocus: ["aif", "aifTiff", "aifJpeg", "ply", "glb"],
};

/** The result without the maps that this output does not need: everything sent to a worker is copied. */
function lean(result: DepthResult, name: OutputName): DepthResult {
  const entries = Object.entries(result).filter(([key]) => USERS[key as keyof DepthResult]?.includes(name) ?? true);
  return Object.fromEntries(entries) as unknown as DepthResult;
}

function inWorker(request: EncodeRequest, onProgress: (share: number) => void): Promise<Blob> {
  const worker = new Worker(new URL("./encodeWorker.ts", import.meta.url), { type: "module" });
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  return new Promise<Blob>((resolve, reject) => {
    worker.addEventListener("message", ({ data }: MessageEvent<EncodeAnswer>) => {
      if (data.kind === "piece") pieces.push(data.bytes);
      else if (data.kind === "progress") onProgress(data.share);
      else if (data.kind === "done") resolve(new Blob(pieces, { type: "application/octet-stream" }));
      else reject(new Error(data.message));
    });
    worker.addEventListener("error", ({ message }) => {
      reject(new Error(`this file could not be created: ${message || "the browser stopped it, perhaps because memory ran out"}`));
    });
    worker.postMessage(request);
  }).finally(() => {
    worker.terminate();
  });
}
