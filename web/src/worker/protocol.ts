import type { Finding } from "../../../src/check/finding.ts";
import type { ErrorReport } from "../../../src/errors.ts";
import type { Image } from "../../../src/image/image.ts";
import type { FocusSource, Unit } from "../../../src/stack/stackFormat.ts";
import type { Stage } from "../../../src/depth/progress.ts";
import type { EngineInfo, ViewResult } from "../contract.ts";

/** A user's file, with the path it was dropped with. */
export interface UserFile {
  readonly path: string;
  readonly file: File;
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
  readonly name: string;
  readonly planes: readonly OpenedPlane[];
  readonly unit: Unit;
  readonly width: number;
  readonly height: number;
  readonly notes: readonly string[];
}

/** Distances to use instead of the detected ones; `values` in the order of the file names. */
export interface FocusChoice {
  readonly unit: Unit;
  readonly values?: readonly number[];
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

/** The calls and their answers. One at a time, except `cancel`. */
export interface Calls {
  start: { ask: EngineWish & { readonly page: string }; answer: EngineInfo };
  open: { ask: { readonly name: string; readonly files: readonly UserFile[]; readonly focus?: FocusChoice }; answer: OpenedStack };
  focus: { ask: FocusChoice; answer: OpenedStack };
  check: { ask: { readonly align: boolean }; answer: readonly Finding[] };
  run: { ask: { readonly align: boolean }; answer: RunResult };
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
}

export type Event =
  | { readonly kind: "stage"; readonly stage: Stage | "open" | "weights" | "runtime" | "graph"; readonly done: number; readonly of: number }
  | { readonly kind: "thumbnail"; readonly frame: number; readonly picture: Blob };

export type Reply = { readonly id: number } & (
  | { readonly event: Event }
  | { readonly answer: Calls[CallName]["answer"] }
  | { readonly problem: ErrorReport }
  | { readonly cancelled: true }
);
