import type { PlaneOrder } from "../../../src/check/planeOrder.ts";
import type { Finding } from "../../../src/check/finding.ts";
import type { ErrorReport } from "../../../src/errors.ts";
import type { DepthMap } from "../../../src/image/depthMap.ts";
import type { Image, Size } from "../../../src/image/image.ts";
import type { FocalStack } from "../../../src/stack/focalStack.ts";
import type { FocusSource, Unit } from "../../../src/stack/stackFormat.ts";
import type { Stage } from "../../../src/depth/progress.ts";
import type { EngineInfo, ViewResult } from "../contract.ts";

/** A user's file, with the path it was dropped with. */
export interface UserFile {
  readonly path: string;
  readonly file: File;
}

/** The images of what was given, unpacked. */
export interface UnpackedFiles {
  readonly files: readonly UserFile[];
  /** What a person should know about how they were chosen. */
  readonly notes: readonly string[];
}

/** One plane of an opened stack, near to far. */
export interface OpenedPlane {
  readonly file: string;
  /** The picture's index in the order of the file names, which thumbnails and distances use. */
  readonly frame: number;
  readonly value: number;
  readonly source: FocusSource;
}

export interface OpenedStack {
  /** Counts the stacks opened since the page was loaded. */
  readonly id: number;
  readonly name: string;
  readonly planes: readonly OpenedPlane[];
  /** Images the user has taken out, in the order of the file names. */
  readonly leftOut: readonly Pick<OpenedPlane, "file" | "frame">[];
  readonly unit: Unit;
  readonly width: number;
  readonly height: number;
  readonly notes: readonly string[];
}

/** What the user says about the images; they are named by their index in the order of the file names. */
export interface FocusChoice {
  readonly unit: Unit;
  /** The distance of each image; without them, those that were detected. */
  readonly values?: Readonly<Record<number, number>>;
  /** Images from near to far, where their distances are unknown. */
  readonly order?: readonly number[];
  readonly leftOut?: readonly number[];
}

/** Depth from small copies of the images, to look at while the result is computed. */
export interface FirstLook {
  readonly depth: DepthMap;
  /** From the call to the depth. */
  readonly seconds: number;
}

/** The images of a result in working size, aligned, 8 bits per sample: what the page stores of them. */
export interface PackedImages extends Size {
  readonly channels: 1 | 3;
  readonly images: readonly Uint8Array[];
}

/** A stored result, for the worker: what it needs to show its images and to run again. */
export interface StoredJob {
  readonly stack: Pick<FocalStack, "focusDistances" | "space"> & PackedImages;
  /** Absent if the files were too large to store. */
  readonly files?: Calls["open"]["ask"];
}

/** Intermediate fields of the network, as in the paper's figures: [planes, grid, grid]. */
export interface Figures {
  /** The planes of the result that these are. */
  readonly planes: readonly number[];
  readonly grid: number;
  /** The mean over the channels of |Γ|. */
  readonly gradient: Float32Array;
  /** z*, the first channel. */
  readonly surface: Float32Array;
  /** |θ_grad(z*)|. */
  readonly surfaceGradient: Float32Array;
}

/** A result as sent by the worker; the page adds the thumbnails. */
export type RunResult = Omit<ViewResult, "planes"> & {
  readonly planes: readonly (Omit<ViewResult["planes"][number], "thumbnail"> & { readonly frame: number })[];
};

export interface EngineWish {
  readonly device?: "webgpu" | "wasm";
  readonly threads?: number;
}

export interface CheckAnswer {
  readonly findings: readonly Finding[];
  /** Which image is taken as the nearest, and why; its planes are indices into the planes of the stack. */
  readonly order: PlaneOrder;
}

/** The calls and their answers. One at a time, except `start`, `firstLook` and `cancel`. */
export interface Calls {
  start: { ask: EngineWish & { readonly page: string }; answer: EngineInfo };
  /** Files of archives and frames of a video. */
  unpack: { ask: { readonly files: readonly UserFile[] }; answer: UnpackedFiles };
  open: { ask: UnpackedFiles & { readonly name: string; readonly focus?: FocusChoice }; answer: OpenedStack };
  focus: { ask: FocusChoice; answer: OpenedStack };
  check: { ask: { readonly align: boolean }; answer: CheckAnswer };
  run: { ask: { readonly align: boolean }; answer: RunResult };
  /** Beside the others, as soon as the images have been read. */
  firstLook: { ask: Record<string, never>; answer: FirstLook };
  /** Reverses the order of the result's images, and of the open stack if the result is of it. */
  turn: { ask: Record<string, never>; answer: OpenedStack | undefined };
  /** The images of the result, to be stored. */
  pack: { ask: Record<string, never>; answer: PackedImages };
  restore: { ask: StoredJob; answer: OpenedStack | undefined };
  /** One plane in working size, aligned. */
  picture: { ask: { readonly plane: number }; answer: Image };
  figures: { ask: Record<string, never>; answer: Figures };
}
export type CallName = keyof Calls;

export type Request =
  { [N in CallName]: { readonly id: number; readonly call: N; readonly ask: Calls[N]["ask"] } }[CallName] | { readonly cancel: number };

/** What went wrong and what to do about it, in whole sentences. */
export interface Problem {
  readonly message: string;
  readonly remedy?: string;
  /** The file that is at fault, if it is one. */
  readonly file?: string;
}

export type Event =
  | { readonly kind: "stage"; readonly stage: Stage | "open" | "weights" | "runtime" | "graph"; readonly done: number; readonly of: number }
  | Thumbnail;

/** A small copy of an image of the stack with this id. */
export interface Thumbnail {
  readonly kind: "thumbnail";
  readonly stack: number;
  readonly frame: number;
  readonly picture: Blob;
}

export type Reply = { readonly id: number } & (
  | { readonly event: Event }
  | { readonly answer: Calls[CallName]["answer"] }
  | { readonly problem: ErrorReport }
  | { readonly cancelled: true }
);
