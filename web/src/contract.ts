import type { PlaneOrder } from "../../src/check/planeOrder.ts";
import type { Finding } from "../../src/check/finding.ts";
import type { Session } from "../../src/network/session.ts";
import type { FocusSource, Unit } from "../../src/stack/stackFormat.ts";
import type { DepthResult } from "../../src/output/result.ts";
import type { ResultSummary } from "../../src/output/resultJson.ts";

/** Where the network runs, and why. */
export interface EngineInfo {
  readonly device: Session["device"];
  readonly threads: number;
  /** The reason, as a sentence. */
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

/** Maps of every plane in the network's working size, [planes, height, width]. */
export interface PlaneMaps {
  readonly planes: number;
  readonly width: number;
  readonly height: number;
  readonly data: Float32Array;
}

/** The result of a run: the input of every view and download. */
export interface ViewResult {
  /** Name of the folder or example; downloads are named after it. */
  readonly name: string;
  /** In full size, as the library saves it: depth, unit, confidence, allInFocus, error, beyond, filled, planeIndex; probability in working size. */
  readonly result: DepthResult;
  readonly planes: readonly ResultPlane[];
  /** Metres, disparities or plane indices, as in the library's FocalStack. */
  readonly focusDistances: readonly number[];
  /** The modified Laplacian of the aligned images, in the size of `result.probability`. */
  readonly sharpness: PlaneMaps;
  /** The content of alignment.json; absent if the frames were not aligned. */
  readonly alignmentJson?: string;
  /** result.json without the two entries that depend on what is saved. */
  readonly summary: Omit<ResultSummary, "files" | "encoding"> & Readonly<Record<string, unknown>>;
  readonly findings: readonly Finding[];
  /** Whether the images show depth at all. */
  readonly focusChange: boolean;
  readonly engine: EngineInfo;
  /** What was said of the order before the user turned the result; absent if it is as it was computed. */
  readonly unturned?: { readonly order: PlaneOrder | undefined; readonly findings: readonly Finding[] } | undefined;
}

/** URLs relative to the page; the build puts the files there. */
export const PATHS = {
  weights: "models/small.safetensors",
  /** ONNX Runtime's .wasm and .mjs files. */
  runtime: "runtime/",
  /** examples/NAME/plane_00.png …, stack.json; web/src/examples.ts lists them. */
  examples: "examples/",
  /** Script and style of a self-contained result, .js and .css. */
  viewer: "viewer",
} as const;

/** Query parameters of the page: `?device=webgpu|wasm&threads=N`. By default the page chooses. */
export const QUERY = { device: "device", threads: "threads" } as const;

/** `data-testid` of the elements that tests, screenshots and benchmarks use. */
export const TEST_IDS = {
  /** Status of the network: `data-status` is loading, ready or failed; `data-device` is webgpu or wasm, `data-threads` a number. */
  engine: "engine",
  dropZone: "drop-zone",
  filesInput: "files-input",
  folderInput: "folder-input",
  /** The dialog of the device's camera, and its parts. */
  openCamera: "open-camera",
  camera: "camera",
  cameraNear: "camera-near",
  cameraFar: "camera-far",
  cameraShoot: "camera-shoot",
  /** Followed by the example's name: example-desk. */
  example: "example-",
  problem: "problem",
  planes: "planes",
  /** Reverses the order of the images, of the stack or of the result. */
  turn: "turn",
  /** Followed by the plane's index from 0. */
  handle: "handle-",
  leaveOut: "leave-out-",
  putBack: "put-back-",
  /** The result in the browser's storage: open and delete it. */
  stored: "stored",
  openStored: "open-stored",
  deleteStored: "delete-stored",
  firstLook: "first-look",
  checkProgress: "check-progress",
  /** Followed by the plane's index from 0. */
  distance: "distance-",
  unit: "unit",
  calibrate: "calibrate",
  findings: "findings",
  run: "run",
  cancel: "cancel",
  cancelOpening: "cancel-opening",
  startOver: "start-over",
  progress: "progress",
  result: "result",
  /** Followed by a name of VIEWS. */
  tab: "tab-",
  depthCanvas: "depth-canvas",
  pictureCanvas: "picture-canvas",
  readout: "readout",
  /** Followed by 0 for the first colour, 1 for the last. */
  legendHandle: "legend-handle-",
  colorMap: "color-map",
  trust: "trust",
  savePicture: "save-picture",
  copyPicture: "copy-picture",
  profileButton: "profile-button",
  profile: "profile",
  curve: "curve",
  compareSlider: "compare-slider",
  refocusCanvas: "refocus-canvas",
  refocusFocus: "refocus-focus",
  refocusFNumber: "refocus-f-number",
  refocusSave: "refocus-save",
  refocusSweep: "refocus-sweep",
  refocusGif: "refocus-gif",
  sceneCanvas: "scene-canvas",
  sceneExaggeration: "scene-exaggeration",
  sceneRuler: "scene-ruler",
  sceneMeasure: "scene-measure",
  sceneDrawing: "scene-drawing",
  sceneFront: "scene-front",
  sceneSide: "scene-side",
  sceneTurn: "scene-turn",
  sceneSave: "scene-save",
  sceneLeftOut: "scene-left-out",
  figures: "figures",
  /** Followed by Download.name. */
  download: "download-",
  downloadAll: "download-all",
} as const;

/** The tabs of the result. */
export const VIEWS = ["depth", "picture", "compare", "confidence", "refocus", "scene", "figures", "downloads"] as const;
export type View = (typeof VIEWS)[number];
