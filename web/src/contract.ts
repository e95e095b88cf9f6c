import type { Finding } from "../../src/check/finding.ts";
import type { Session } from "../../src/network/session.ts";
import type { FocusSource, Unit } from "../../src/stack/stackFormat.ts";
import type { DepthResult } from "../../src/output/result.ts";
import type { ResultSummary } from "../../src/output/resultJson.ts";

/** Where the network runs, and why there. */
export interface EngineInfo {
  readonly device: Session["device"];
  readonly threads: number;
  /** A sentence for people. */
  readonly reason: string;
}

/** One plane of the result, near to far. */
export interface ResultPlane {
  readonly file: string;
  /** As it was given, in `unit`. */
  readonly value: number;
  readonly unit: Unit;
  readonly source: FocusSource;
  /** An object URL of a small picture. */
  readonly thumbnail: string;
}

/** Maps of every plane in the size the network saw, [planes, height, width]. */
export interface PlaneMaps {
  readonly planes: number;
  readonly width: number;
  readonly height: number;
  readonly data: Float32Array;
}

/** All that is known about a stack when a run has ended: what every view and every download is made of. */
export interface ViewResult {
  /** Of the folder or the example: the stem of a file name for downloads. */
  readonly name: string;
  /** In full size, as the library saves it: depth, unit, confidence, allInFocus, error, beyond, planeIndex; probability in working size. */
  readonly result: DepthResult;
  readonly planes: readonly ResultPlane[];
  /** Metres, disparities or plane numbers, as in the library's FocalStack. */
  readonly focusDistances: readonly number[];
  /** Measured in the aligned pictures: the modified Laplacian, in the size of `result.probability`. */
  readonly sharpness: PlaneMaps;
  /** What `dualfocus depth` writes as alignment.json; absent where the frames were not aligned. */
  readonly alignmentJson?: string;
  /** result.json but for the two entries that depend on what is saved. */
  readonly summary: Omit<ResultSummary, "files" | "encoding"> & Readonly<Record<string, unknown>>;
  readonly findings: readonly Finding[];
  readonly engine: EngineInfo;
}

export interface Measurement {
  /** In the result's unit; parts of the longer side where that is no length. */
  readonly distance: number;
  /** For people: "12.3 mm". */
  readonly text: string;
}

export interface Scene3d {
  /** 1 is true to scale. */
  setExaggeration(factor: number): void;
  /** Radians to turn by. */
  rotate(turn: { readonly azimuth: number; readonly polar: number }): void;
  /** Above 1 comes nearer. */
  zoom(factor: number): void;
  reset(): void;
  /** The next two points that are clicked are measured; again until `stopRuler`. */
  startRuler(): void;
  stopRuler(): void;
  /** Told after the second point, and undefined when a measurement is taken away. */
  onMeasure(listener: (measurement: Measurement | undefined) => void): void;
  /** After the canvas changed its size on the page. */
  resize(): void;
  dispose(): void;
}
/** web/src/scene3d/scene3d.ts. Throws an Error with a readable message where WebGL is missing. */
export type CreateScene3d = (canvas: HTMLCanvasElement, input: Pick<ViewResult, "result">) => Scene3d;

export interface Refocus {
  /** `focus` in the unit of the depth; `fNumber` as on a lens: small is a shallow depth of field. */
  set(lens: { readonly focus: number; readonly fNumber: number }): void;
  dispose(): void;
}
/** web/src/refocus/refocus.ts. */
export type CreateRefocus = (canvas: HTMLCanvasElement, input: Pick<ViewResult, "result" | "focusDistances">) => Refocus;

export interface Download {
  /** The library's output name, or "alignment", "result". */
  readonly name: string;
  readonly file: string;
  /** For people, one line. */
  readonly label: string;
  make(): Promise<Blob>;
}
/** web/src/downloads/downloads.ts. */
export type Downloads = (result: ViewResult) => readonly Download[];
/** web/src/downloads/downloads.ts: everything, result.json included, as one zip; `onProgress` is told the share done. */
export type ZipAll = (result: ViewResult, onProgress: (share: number) => void) => Promise<Blob>;

/** Addresses, relative to the page. The build puts the files there. */
export const PATHS = {
  weights: "models/small.safetensors",
  /** ONNX Runtime's .wasm and .mjs files. */
  runtime: "runtime/",
  /** examples/NAME/plane_00.png …, stack.json; web/src/examples.ts lists them. */
  examples: "examples/",
} as const;

/** What the address of the page may ask for: `?device=webgpu|wasm&threads=N`; without it the page chooses. */
export const QUERY = { device: "device", threads: "threads" } as const;

/** `data-testid` of what tests, screenshots and benchmarks touch. */
export const TEST_IDS = {
  /** Says how far the network is: `data-status` is loading, ready or failed; `data-device` is webgpu or wasm, `data-threads` a number. */
  engine: "engine",
  dropZone: "drop-zone",
  filesInput: "files-input",
  folderInput: "folder-input",
  /** Followed by the example's name: example-desk. */
  example: "example-",
  problem: "problem",
  planes: "planes",
  /** Followed by the plane's number from 0. */
  distance: "distance-",
  unit: "unit",
  calibrate: "calibrate",
  findings: "findings",
  run: "run",
  cancel: "cancel",
  startOver: "start-over",
  progress: "progress",
  result: "result",
  /** Followed by a name of VIEWS. */
  tab: "tab-",
  depthCanvas: "depth-canvas",
  readout: "readout",
  curve: "curve",
  compareSlider: "compare-slider",
  refocusCanvas: "refocus-canvas",
  refocusFocus: "refocus-focus",
  refocusFNumber: "refocus-f-number",
  sceneCanvas: "scene-canvas",
  sceneExaggeration: "scene-exaggeration",
  sceneRuler: "scene-ruler",
  sceneMeasure: "scene-measure",
  figures: "figures",
  /** Followed by Download.name. */
  download: "download-",
  downloadAll: "download-all",
} as const;

/** The tabs of the result. */
export const VIEWS = ["depth", "picture", "compare", "confidence", "refocus", "scene", "figures", "downloads"] as const;
export type View = (typeof VIEWS)[number];
